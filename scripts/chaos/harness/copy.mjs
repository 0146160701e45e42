/** crawlnode in a folder of its own, built from sources that are changed: another version, or one without a guard. */
import { spawnSync } from 'node:child_process';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { tempDir } from './stage.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const parts = [
  ...[
    'src',
    'bin',
    'config',
    'package.json',
    'package-lock.json',
    'scripts/build.mjs',
    'scripts/build-state.mjs',
  ],
  ...['tsconfig.json', 'tsconfig.build.json'],
];

/**
 * @param edits { file, find, replace }: in this file of src/ the text or pattern `find`, which must be there exactly once
 * @returns its executable; it is removed with the stage
 * @throws Error when a text is not there once, or what comes out does not build
 */
export async function buildCopy(edits) {
  const dir = await tempDir('copy');
  for (const part of parts) await cp(path.join(root, part), path.join(dir, part), { recursive: true });
  for (const edit of edits) await editIn(path.join(dir, 'src'), edit);
  await symlink(path.join(root, 'node_modules'), path.join(dir, 'node_modules'));
  const build = [path.join(dir, 'scripts', 'build.mjs'), '--without-types'];
  const { status, stderr } = spawnSync(process.execPath, build, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the copy does not build: ${stderr}`);
  return path.join(dir, 'bin', 'crawlnode.js');
}

/** Make one change. @throws Error when its text is not there once */
export async function editIn(src, { file, find, replace }, write = writeFile) {
  const at = path.join(src, file);
  const text = await readFile(at, 'utf8').catch(() => '');
  const pieces = text.split(find);
  if (pieces.length !== 2) throw new Error(`src/${file} has ${pieces.length - 1} times: ${find}`);
  await write(at, pieces.join(replace));
}
