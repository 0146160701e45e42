/** A few rows of `npm run chaos`, beside each other, so that the harness and what it proves stay true. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const harness = fileURLToPath(new URL('../../../scripts/chaos/chaos.mjs', import.meta.url));

it('nodes that are killed, a redis-server that is killed, items whose files are fetched by a node that is killed: nothing is lost, nothing comes twice', {
  timeout: 180_000,
}, async () => {
  // The seed chooses the embedded engine for R1, and Redis for R34.
  const args = ['--short', '--generated', '--only', 'R1,R7,R34', '--seed', '7'];
  const child = spawn(process.execPath, [harness, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
  const [code] = await once(child, 'close');
  expect(said).toContain('chaos: all 3 held');
  expect(code).toBe(0);
});
