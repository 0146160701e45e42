/** A few rows of `npm run chaos`, with a seed of their own, so that the harness and what it proves stay true. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const harness = fileURLToPath(new URL('../../../scripts/chaos/chaos.mjs', import.meta.url));

it.each([
  ['nodes that are killed', 'R1', 'embedded'],
  ['a redis-server that is killed', 'R7', 'redis'],
  ['items that wait for files, whose node is killed', 'R34', 'embedded'],
])(
  '%s: nothing is lost, nothing comes twice (npm run chaos -- --only %s)',
  { timeout: 180_000 },
  async (_, row, engine) => {
    const args = ['--short', '--generated', '--only', row, '--engine', engine];
    const child = spawn(process.execPath, [harness, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        said += text;
      });
    const [code] = await once(child, 'close');
    expect(said).toContain('chaos: all 1 held');
    expect(code).toBe(0);
  },
);
