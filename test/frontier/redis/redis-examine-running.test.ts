/** `verify` examines a crawl in steps while its nodes go on: what moves meanwhile is no breach, and what is broken is one. */
import { afterAll, describe, expect, it } from 'vitest';
import type { Frontier, FrontierRequest, Lease } from '../../../src/frontier/frontier.js';
import { Crawl, done, effects, failed, released, request, retry } from '../../frontier-contract/world.js';
import { readMember } from '../../helpers/redis/queue-entry.js';
import { redisOfFile } from '../../helpers/redis/redis-of-file.js';
import { redisWorld } from '../../helpers/redis/redis-world.js';

const { server, admin } = await redisOfFile();
const EXAMINATIONS = 3;

const some = (from: number, count: number): FrontierRequest[] =>
  Array.from({ length: count }, (_, n) =>
    request(`page-${from + n}`, { domain: `host-${(from + n) % 40}.example`, priority: n % 5 }),
  );

/** Crawls until told to stop, with pages of every outcome. Each is replaced by a link, so the crawl does not end. */
async function crawlOn(frontier: Frontier, name: number, isOver: () => boolean): Promise<number> {
  let pages = name * 1_000_000;
  while (!isOver()) {
    // A few at a time: enough move between two steps of an examination, and each step is answered soon.
    const { leases } = await frontier.lease(4, 0);
    await frontier.push(some(pages, leases.length), 'links');
    await Promise.all(leases.map((lease) => settle(frontier, lease, pages++)));
  }
  return pages - name * 1_000_000;
}

async function settle(frontier: Frontier, lease: Lease, page: number): Promise<void> {
  const cookie = {
    ...{ jar: `jar-${page % 3}`, domain: 'a.example', path: '/', name: `c${page % 7}` },
    text: `h=${page}`,
  };
  const outcome = [done, retry(lease, 1), failed(), retry(lease, 20), released][page % 5]!;
  await frontier.settle(lease, outcome, effects({ cookies: [cookie] }));
}

describe('in Redis', { timeout: 60_000 }, () => {
  const worlds: ReturnType<typeof redisWorld>[] = [];
  afterAll(async () => {
    for (const world of worlds) await world.dispose();
  });

  it('a running crawl has no breach, and one that was broken has no other', async () => {
    const world = redisWorld(server.url);
    worlds.push(world);
    const crawl = new Crawl(world);
    const tunables = { concurrencyPerDomain: 4, nodeTimeoutMs: 60_000 };
    const nodes = [await crawl.node({ tunables }), await crawl.node({ tunables })];
    const outsider = await crawl.outsider();
    // Several steps of an examination, which are of at most 500.
    await outsider.push(some(0, 1_200), 'links');
    let isOver = false;
    const crawling = nodes.map(({ frontier }, n) => crawlOn(frontier, n + 1, () => isOver));
    const queue = `${world.spider}:requests:~queue`;
    let last: Buffer | undefined;
    const found: (readonly string[])[] = [];
    try {
      for (let n = 0; n < EXAMINATIONS; n += 1) found.push(await outsider.verify());
      // The last request of a domain is neither its best nor leased soon: only its entry is missing afterwards.
      [last] = await admin.zrevrangeBuffer(queue, 0, 0);
      expect(await admin.zrem(queue, last!)).toBe(1);
      found.push(await outsider.verify());
    } finally {
      isOver = true;
    }
    expect(Math.min(...(await Promise.all(crawling)))).toBeGreaterThan(0);
    const id = readMember(last!).id.toString('hex');
    expect(found.slice(0, -1).flat()).toEqual([]);
    expect(found.at(-1)).toEqual([
      `I1: the record of ${id} is in no queue: it would never be fetched`,
      expect.stringMatching(/^I4: \d+ accepted, but /),
    ]);
  });
});
