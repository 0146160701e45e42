/** One to eight nodes, a process each, on one crawl: CPU of a page in node and server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { pushAll, requestOf } from './requests.mjs';

const PAGES = 8_000;
const DOMAINS = 100;

export async function* nodes(stage) {
  const options = stage.newCrawl();
  const frontier = await stage.join(options);
  const counts = [1, 2, 4, 8];
  await pushAll(frontier, 0, counts.length * PAGES + 1_000, (n) => requestOf(n, DOMAINS));
  let alone = null;
  for (const count of counts) {
    const serverUs = await stage.serverUs();
    const startedAt = performance.now();
    const runs = await Promise.all(Array.from({ length: count }, () => runNode(options, PAGES / count)));
    const ms = performance.now() - startedAt;
    const spentUs = ((await stage.serverUs()) - serverUs) / PAGES;
    const nodeUs = runs.reduce((sum, { cpuUs }) => sum + cpuUs, 0) / PAGES;
    const us = nodeUs + (Number.isNaN(spentUs) ? 0 : spentUs);
    alone ??= us;
    yield {
      what: `page, ${count} node${count === 1 ? '' : 's'}`,
      count: PAGES,
      perSecond: (PAGES / ms) * 1000,
      nodeUs,
      serverUs: Number.isNaN(spentUs) ? null : spentUs,
      ratio: us / alone,
      goals: { ratio: 1.15 },
    };
  }
}

/** @returns what it spent from joining to leaving. */
async function runNode(options, pages) {
  const script = fileURLToPath(new URL('./node.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify({ options, pages })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`a node ended with ${code}`);
  return JSON.parse(output);
}
