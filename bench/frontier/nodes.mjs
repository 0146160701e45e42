/** One to eight nodes, a process each, on one crawl: CPU of a page in node and server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { pushAll, requestOf } from './requests.mjs';

/** Of each node: some to warm up, and those that are measured. */
const WARM_UP = 1_000;
const PAGES = 2_000;
const DOMAINS = 100;

export async function* nodes(stage) {
  const options = stage.newCrawl();
  const frontier = await stage.join(options);
  const counts = [1, 2, 4, 8];
  const nodesInAll = counts.reduce((sum, count) => sum + count);
  await pushAll(frontier, 0, (nodesInAll + 1) * (WARM_UP + PAGES), (n) => requestOf(n, DOMAINS));
  let alone = null;
  for (const count of counts) {
    const serverUs = await stage.serverUs();
    const startedAt = performance.now();
    const runs = await Promise.all(Array.from({ length: count }, () => runNode(options)));
    const ms = performance.now() - startedAt;
    const pages = count * (WARM_UP + PAGES);
    const spentUs = ((await stage.serverUs()) - serverUs) / pages;
    const nodeUs = runs.reduce((sum, { cpuUs }) => sum + cpuUs, 0) / (count * PAGES);
    const us = nodeUs + (Number.isNaN(spentUs) ? 0 : spentUs);
    alone ??= us;
    yield {
      what: `page, ${count} node${count === 1 ? '' : 's'}`,
      count: pages,
      perSecond: (pages / ms) * 1000,
      nodeUs,
      serverUs: Number.isNaN(spentUs) ? null : spentUs,
      ratio: us / alone,
      goals: { ratio: 1.15 },
    };
  }
}

/** @returns the CPU of its measured pages. */
async function runNode(options) {
  const script = fileURLToPath(new URL('./node.mjs', import.meta.url));
  const child = spawn(
    process.execPath,
    [script, JSON.stringify({ options, warmUp: WARM_UP, pages: PAGES })],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`a node ended with ${code}`);
  return JSON.parse(output);
}
