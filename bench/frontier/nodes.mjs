/** One to sixteen nodes, a process each, on one crawl, and sixteen with a crawl each: CPU of a page in node and server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { pushAll, requestOf } from './requests.mjs';

/** Of each node: some to warm up, and those that are measured. */
const WARM_UP = 1_000;
const PAGES = 2_000;
const DOMAINS = 100;

const COUNTS = [1, 2, 4, 8, 16];
const GOAL = 1.15;

export async function* nodes(stage) {
  const shared = await filledCrawl(
    stage,
    COUNTS.reduce((sum, count) => sum + count),
  );
  let alone = null;
  for (const count of COUNTS) {
    const together = await costOf(stage, Array(count).fill(shared));
    alone ??= together.us;
    const row = {
      what: `page, ${count} node${count === 1 ? '' : 's'}`,
      ...together,
      ratio: together.us / alone,
    };
    if (count < COUNTS.at(-1)) {
      yield { ...row, goals: { ratio: GOAL } };
      continue;
    }
    // Processes that share two cores slow each other down whatever they do: what sharing a crawl costs, these tell.
    const own = [];
    while (own.length < count) own.push(await filledCrawl(stage, 1));
    const apart = await costOf(stage, own);
    yield { ...row, ofSharing: together.us / apart.us, goals: { ratio: GOAL, ofSharing: GOAL } };
    yield { what: `page, ${count} nodes with a crawl each`, ...apart, ratio: apart.us / alone };
  }
}

/** @returns the options of a crawl in which so many nodes find their pages. */
async function filledCrawl(stage, nodes) {
  const options = stage.newCrawl();
  const frontier = await stage.join(options);
  await pushAll(frontier, 0, (nodes + 1) * (WARM_UP + PAGES), (n) => requestOf(n, DOMAINS));
  return options;
}

/** Nodes at the same time, one for each of these crawls: what a page of theirs costs. */
async function costOf(stage, crawls) {
  const serverUs = await stage.serverUs();
  const startedAt = performance.now();
  const runs = await Promise.all(crawls.map(runNode));
  const ms = performance.now() - startedAt;
  const pages = crawls.length * (WARM_UP + PAGES);
  const spentUs = ((await stage.serverUs()) - serverUs) / pages;
  const nodeUs = runs.reduce((sum, { cpuUs }) => sum + cpuUs, 0) / (crawls.length * PAGES);
  const hasServer = !Number.isNaN(spentUs);
  return {
    count: pages,
    perSecond: (pages / ms) * 1000,
    nodeUs,
    serverUs: hasServer ? spentUs : null,
    us: nodeUs + (hasServer ? spentUs : 0),
  };
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
