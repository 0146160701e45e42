/**
 * A node of the embedded engine in a process of its own, to be killed: it crawls an endless site of numbered pages,
 * each linking to a few others, until the crawl is finished. `embedded-frontier-child.ts <JSON of ChildTask>`
 */
import { openEmbedded } from '../../../src/frontier/embedded/embedded-frontier.js';
import type { Lease } from '../../../src/frontier/frontier.js';
import type { OpenOptions } from '../../../src/frontier/open-options.js';
import { effects, nameOf, request } from '../../frontier-contract/world.js';
import { joinAs } from '../../helpers/joining.js';

/** What the parent says. */
export interface ChildTask {
  readonly open: OpenOptions;
  readonly dir: string;
  /** Pages are numbered from 0 up to this. */
  readonly pages: number;
}

const { open, dir, pages } = JSON.parse(process.argv[2]!) as ChildTask;
const SLOTS = 8;

const frontier = await openEmbedded(open, dir);
await joinAs(frontier, {
  id: 'child',
  shape: open.shape,
  tunables: { concurrencyPerDomain: 16, failedLimit: 1000 },
});
process.stdout.write('joined\n');

/** A page costs a moment and is committed with its item and its links. */
async function crawlPage(lease: Lease): Promise<void> {
  const number = Number(nameOf(lease));
  await new Promise((resolve) => setTimeout(resolve, 1 + (number % 7)));
  const links = Array.from({ length: 20 }, (_, n) => (number * 3 + n + 1) % pages);
  await frontier.settle(
    lease,
    { kind: 'done', reason: 'done', status: 200, attempts: 1 },
    effects({
      items: [JSON.stringify({ page: number })],
      requests: links.map((link) => request(String(link), { domain: `${link % 20}.example` })),
    }),
  );
}

const running = new Set<Promise<void>>();
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
