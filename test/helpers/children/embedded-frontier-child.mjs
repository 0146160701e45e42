/**
 * A node of the embedded engine in a process of its own, to be killed: it crawls an endless site of numbered pages,
 * each linking to a few others, until the crawl is finished. `embedded-frontier-child.mjs <JSON of a ChildTask>`
 * (`embedded-frontier.test.ts`). It runs from dist/, which starts in a fraction of the time that TypeScript takes.
 */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { noEffects, openEmbedded } from '../../../dist/internal.js';

const { open, dir, join, pages } = JSON.parse(process.argv[2]);
const SLOTS = 8;

const frontier = await openEmbedded(open, dir);
await frontier.join({ id: 'child', host: hostname(), pid: process.pid }, join);
process.stdout.write('joined\n');

/** The request of a page, as `request` of `test/frontier-contract/world.ts` makes it. */
function requestOf(number) {
  const fingerprint = createHash('sha1').update(`${number}`).digest('hex');
  return {
    ...{ id: fingerprint, fingerprint, record: JSON.stringify({ u: `${number}` }) },
    ...{ domain: `${number % 20}.example`, priority: 0, dontFilter: false },
  };
}

/** A page costs a moment and is committed with its item and its links. */
async function crawlPage(lease) {
  const number = Number(JSON.parse(lease.record).u);
  await new Promise((resolve) => setTimeout(resolve, 1 + (number % 7)));
  const links = Array.from({ length: 20 }, (_, n) => (number * 3 + n + 1) % pages);
  await frontier.settle(
    lease,
    { kind: 'done', reason: 'done', status: 200, attempts: 1 },
    { ...noEffects, items: [JSON.stringify({ page: number })], requests: links.map(requestOf) },
  );
}

const running = new Set();
for (let round = 0; ; round += 1) {
  if (round % 20 === 0) await frontier.recover();
  const answer = await frontier.lease(SLOTS - running.size, running.size);
  if (answer.crawl.finished) break;
  for (const lease of answer.leases) {
    const page = crawlPage(lease).finally(() => running.delete(page));
    running.add(page);
  }
  if (running.size > 0) await Promise.race(running);
  else await new Promise((resolve) => setTimeout(resolve, Math.min(50, answer.waitMs)));
}
await frontier.leave('finished');
await frontier.close();
