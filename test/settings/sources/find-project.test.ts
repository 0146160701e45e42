/** A command finds its project from any folder of it. */
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSettings } from '../../../src/settings/sources/load-settings.js';
import { tempDir } from '../../helpers/temp-dir.js';

let root: string;
let remove: () => Promise<void>;
beforeEach(() => {
  ({ dir: root, remove } = tempDir('find-project'));
});
afterEach(() => remove());

const at = (...parts: string[]) => path.join(root, ...parts);
const folder = (...parts: string[]) => {
  mkdirSync(at(...parts), { recursive: true });
  return at(...parts);
};
const file = (text: string, ...parts: string[]) => {
  mkdirSync(path.dirname(at(...parts)), { recursive: true });
  writeFileSync(at(...parts), text);
};
const load = (cwd: string, configFile?: string) => loadSettings({ cwd, configFile, env: {}, cli: {} });

describe('the project of a command', () => {
  it('is refused with a settings file under a name that is not read, since its REDIS_URL would have no effect', () => {
    file('REDIS_URL: redis://127.0.0.1\n', 'shop', 'crawlnode.yml');
    folder('shop', 'spiders');
    const renamed =
      'crawlnode.yml is not read: rename it to crawlnode.yaml, or name it with -c crawlnode.yml';
    expect(() => load(at('shop'))).toThrow(renamed);
    expect(load(at('shop'), 'crawlnode.yml').settings.REDIS_URL).toBe('redis://127.0.0.1');
    file('RETRY_TIMES: 7\n', 'shop', 'crawlnode.yaml');
    expect(load(at('shop')).settings.RETRY_TIMES).toBe(7);
  });

  it('is the nearest parent folder with a settings file; paths count from it, and a warning names it', () => {
    file('RETRY_TIMES: 7\n', 'shop', 'crawlnode.yaml');
    const cwd = folder('shop', 'spiders', 'deep');
    const { settings, projectDir, warnings } = load(cwd);
    expect(settings).toMatchObject({
      RETRY_TIMES: 7,
      JOBDIR: at('shop', '.crawlnode'),
      SPIDER_MODULES: [at('shop', 'spiders')],
    });
    expect(projectDir).toBe(at('shop'));
    expect(warnings).toEqual([`the project is ${at('shop')}, a parent of this folder`]);
    expect(load(at('shop')).warnings).toEqual([]);
  });

  it('may keep its settings file in config/', () => {
    file('RETRY_TIMES: 7\n', 'shop', 'config', 'crawlnode.yaml');
    for (const cwd of [folder('shop', 'spiders'), at('shop', 'config')]) {
      expect(load(cwd)).toMatchObject({ projectDir: at('shop'), settings: { RETRY_TIMES: 7 } });
    }
    file('RETRY_TIMES: 8\n', 'shop', 'crawlnode.yaml');
    expect(load(at('shop'))).toMatchObject({
      settings: { RETRY_TIMES: 8 },
      warnings: [
        'config/crawlnode.yaml is not read, since there is crawlnode.yaml; "-c config/crawlnode.yaml" uses it instead',
      ],
    });
  });

  it('is the working folder where that has spiders of its own, or no parent has a settings file', () => {
    file('RETRY_TIMES: 7\n', 'shop', 'crawlnode.yaml');
    folder('shop', 'inner', 'spiders');
    expect(load(at('shop', 'inner'))).toMatchObject({ projectDir: at('shop', 'inner'), file: null });
    expect(load(folder('empty'))).toMatchObject({ projectDir: at('empty'), file: null, warnings: [] });
  });

  it('is what -c says, wherever it is called', () => {
    file('RETRY_TIMES: 7\n', 'shop', 'crawlnode.yaml');
    file('RETRY_TIMES: 8\n', 'shop', 'other', 'mine.yaml');
    const { settings, projectDir, warnings } = load(folder('shop', 'spiders'), '../other/mine.yaml');
    expect([settings.RETRY_TIMES, projectDir, warnings]).toEqual([8, at('shop', 'other'), []]);
  });

  it.runIf(process.getuid?.() === 0)('is never a parent folder whose file belongs to another user', () => {
    file('RETRY_TIMES: 7\n', 'crawlnode.yaml');
    chownSync(at('crawlnode.yaml'), 65_534, 65_534);
    const { file: found, warnings } = load(folder('mine'));
    expect(found).toBeNull();
    expect(warnings).toEqual([expect.stringContaining('belongs to another user and is not used')]);
  });
});
