/** Pages as the engine has them: leased, and settled with an item, counters, and links that are seen. */

const done = { kind: 'done', reason: 'done', status: 200, attempts: 1 };
const stats = {
  'downloader/request_count': 1,
  'downloader/request_method_count/GET': 1,
  'downloader/response_count': 1,
  'downloader/response_status_count/200': 1,
  'downloader/response_bytes': 12_345,
  response_received_count: 1,
  item_scraped_count: 1,
};
const items = ['{"title":"A page of the bench"}'];

const settle = (frontier, lease, requests) =>
  frontier.settle(lease, done, { items, feedItems: [], requests, stats });

/** Lease `concurrency` pages, settle them at once, and again. */
export async function crawlInTurns(frontier, pages, concurrency, links = []) {
  for (let left = pages; left > 0; ) {
    const { leases } = await frontier.lease(Math.min(left, concurrency), 0);
    if (leases.length === 0) throw new Error(`nothing to lease with ${left} pages to go`);
    await Promise.all(leases.map((lease) => settle(frontier, lease, links)));
    left -= leases.length;
  }
}

/** As the engine does: each page ends by itself, and its slot is filled as soon as the loop comes round. */
export async function crawlBySlots(frontier, pages, concurrency, links = []) {
  const inWork = new Set();
  const settling = new Set();
  let begun = 0;
  while (begun < pages || inWork.size > 0) {
    const free = Math.min(concurrency - inWork.size, pages - begun);
    if (free > 0) {
      const { leases } = await frontier.lease(free, inWork.size);
      begun += leases.length;
      for (const lease of leases) {
        const page = turnsOfOthers().then(() => {
          inWork.delete(page);
          const settled = settle(frontier, lease, links).finally(() => settling.delete(settled));
          settling.add(settled);
        });
        inWork.add(page);
      }
    }
    if (inWork.size > 0) await Promise.race(inWork);
  }
  await Promise.all(settling);
}

/** Some turns of the event loop, as downloads and callbacks of other pages take. */
async function turnsOfOthers() {
  for (let turns = 1 + Math.floor(Math.random() * 16); turns > 0; turns--) await new Promise(setImmediate);
}
