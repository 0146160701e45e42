/** A small run of the proof that kills nodes while they fetch the files of items; the feeds are read by Python. */
import { execFileSync, spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { root } from '../../docs/pages.js';

const hasPython = spawnSync('python3', ['--version']).status === 0;

it.skipIf(!hasPython)(
  'items with files survive a kill: each item once in every format, each file once and whole',
  () => {
    const args = ['scripts/proof/item-files.mjs', '40', '1', 'embedded'];
    const said = execFileSync(process.execPath, args, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    expect(said).toMatch(/^embedded: 1 kills .* 40 items counted, .*: held\n$/);
  },
  120_000,
);
