/** The folders of src/ and test/: small enough to be read as a list, and the same in both. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const MAX_FILES = 15;

/** Folders of test/ that are about no folder of src/. */
const ofTestsAlone = /^test\/(docs|e2e|fixtures|frontier-contract|helpers)(\/|$)/;

const folders = ['src', 'test'].flatMap((top) => [
  top,
  ...readdirSync(path.join(root, top), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => path.relative(root, path.join(entry.parentPath ?? entry.path, entry.name))),
]);

it(`hold at most ${MAX_FILES} files each, or a README that says why not`, () => {
  const crowded = folders.filter((folder) => {
    const files = readdirSync(path.join(root, folder), { withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    return files.length > MAX_FILES && !files.some(({ name }) => name === 'README.md');
  });
  expect(crowded).toEqual([]);
});

it('have tests only under the name of what they test', () => {
  const inTest = folders.filter((folder) => folder.startsWith('test/') && !ofTestsAlone.test(folder));
  expect(inTest.filter((folder) => !existsSync(path.join(root, folder.replace(/^test/, 'src'))))).toEqual([]);
});
