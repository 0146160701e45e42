/** Seeds, feeds, failed requests and backups of a crawl over several partitions. */
import { describe, expect, it } from 'vitest';
import { allParts, type Frontier } from '../../../src/frontier/frontier.js';
import { commit, done, failed, nameOf, take, takeOne } from '../../frontier-contract/world.js';
import { addressOf, openPartitioned } from '../../helpers/redis/partitioned-world.js';
import { openRedis } from '../../helpers/redis/redis-world.js';
import { at, domains, inAll, threePartitions } from '../../helpers/redis/three-partitions.js';

const stage = await threePartitions();

describe('seeds', () => {
  const seeded = async (frontier: Frontier, ...values: string[]) => {
    await frontier.appendSeeds(values);
    return frontier.peekSeeds(10);
  };

  it('go to the partitions of their domains, once, also when two nodes have converted them', async () => {
    const [one, two] = [await stage.crawl.node(), await stage.crawl.node()];
    const seeds = await seeded(one.frontier, 'a', 'b');
    const batch = seeds.map((seed, n) => ({ seed, requests: inAll(`seed-${n}`) }));
    expect(await one.frontier.intake(batch)).toEqual({ accepted: 6, duplicates: 0, bad: 0 });
    for (const lease of await take(one.frontier, 6)) await commit(one.frontier, lease);
    expect(await two.frontier.intake(batch)).toEqual({ accepted: 0, duplicates: 0, bad: 0 });
    expect(await one.frontier.snapshot()).toMatchObject({ pending: 0, done: 6, startUrls: 0 });
  });

  it('that left their key when their node died are pushed by another one, and hold the crawl open until then', async () => {
    const { frontier } = await stage.crawl.node();
    const [seed] = await seeded(frontier, 'a');
    await frontier.intake([{ seed: seed!, requests: [at(1, 'first')] }]);
    await commit(frontier, await takeOne(frontier));
    // As a node that died after the first step leaves it.
    await stage.admin.hset(
      `${stage.world.spider}:requests:~transfers`,
      '1:1',
      JSON.stringify([at(1, 'second')]),
    );
    await stage.admin.hset(`${stage.world.spider}:requests:~meta`, 'sent:1', '2');
    const lease = await takeOne(frontier);
    expect(nameOf(lease)).toBe('second');
    await commit(frontier, lease);
    expect((await frontier.lease(1, 0)).crawl.finished).toBe(true);
    expect(await stage.admin.exists(`${stage.world.spider}:requests:~transfers`)).toBe(0);
  });

  it('fetch a page again that was done, as in a crawl of one partition', async () => {
    const { frontier } = await stage.crawl.node();
    for (const round of [1, 2]) {
      const [seed] = await seeded(frontier, `round-${round}`);
      expect(await frontier.intake([{ seed: seed!, requests: [at(2, 'again')] }])).toMatchObject({
        accepted: 1,
      });
      await commit(frontier, await takeOne(frontier));
    }
    expect(await frontier.snapshot()).toMatchObject({ done: 2 });
  });
});

describe('a feed', () => {
  const writer = (owner: string) => ({
    feed: 'feed-1',
    host: 'here',
    path: '/data/out.jsonl',
    pid: process.pid,
    owner,
  });
  const usual = { staleMs: 60_000 };

  it('has the items of all partitions once, also after a writer died while it moved them', async () => {
    const { frontier } = await stage.crawl.node({ feeds: ['feed-1'] });
    await frontier.push(inAll('a'), 'links');
    for (const lease of await take(frontier, 3))
      await commit(frontier, lease, done, { feedItems: [`"${nameOf(lease)}"`] });
    expect(await frontier.snapshot()).toMatchObject({ outbox: [{ feed: 'feed-1', waiting: 3 }] });
    await frontier.feeds.open(writer('w'), usual);
    expect([...(await frontier.feeds.read('feed-1', 0, 10))].sort()).toEqual(['"a-0"', '"a-1"', '"a-2"']);
    await frontier.feeds.checkpoint(writer('w'), { sequence: 2, lengthBytes: 12, header: '' });
    // What the writer had moved to partition 0 comes back in its partition, as if it had died before it was deleted there.
    await stage.admin.hset(`${stage.world.spider}:p1:requests:~outbox`, 'feed-1:1', '"a-1"');
    await stage.admin.hset(
      `${stage.world.spider}:p1:requests:~feeds`,
      'feed-1',
      JSON.stringify({ seenMs: 1, sequence: 0 }),
    );
    await frontier.feeds.release(writer('w'));
    expect(await frontier.feeds.open(writer('x'), usual)).toMatchObject({ sequence: 2 });
    expect(await frontier.feeds.read('feed-1', 2, 10)).toHaveLength(1);
    expect(await frontier.feeds.waiting('feed-1')).toBe(1);
    await frontier.feeds.checkpoint(writer('x'), { sequence: 3, lengthBytes: 18, header: '' }, 2);
    expect(await frontier.feeds.waiting('feed-1')).toBe(0);
  });

  it('takes the items lists of all partitions at an export', async () => {
    const { frontier } = await stage.crawl.node();
    await frontier.push(inAll('a'), 'links');
    for (const lease of await take(frontier, 3))
      await commit(frontier, lease, done, { items: [`"${nameOf(lease)}"`] });
    expect(await frontier.feeds.peek(10)).toHaveLength(3);
    await frontier.feeds.open(writer('w'), usual);
    expect(await frontier.feeds.take(writer('w'), 10)).toBe(3);
    expect([...(await frontier.feeds.read('feed-1', 0, 10))].sort()).toEqual(['"a-0"', '"a-1"', '"a-2"']);
    expect((await frontier.count()).items).toBe(0);
  });
});

describe('the failed list', () => {
  it('has those of all partitions, and retries and purges them', async () => {
    const { frontier } = await stage.crawl.node();
    await frontier.push(inAll('a'), 'links');
    for (const lease of await take(frontier, 3)) await commit(frontier, lease, failed());
    const names: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<Frontier['failed']['list']>> = await frontier.failed.list(cursor, 1);
      names.push(...page.requests.map(nameOf));
      cursor = page.cursor;
    } while (cursor !== null);
    expect(names.sort()).toEqual(['a-0', 'a-1', 'a-2']);
    expect(await frontier.failed.retry([at(1, 'a-1')])).toBe(1);
    expect(await frontier.failed.purge([at(2, 'a-2').id])).toBe(1);
    expect(await frontier.snapshot()).toMatchObject({ failed: 1, pending: 1, removed: 1 });
    expect(await frontier.inspect(at(1, 'a-1'))).toMatchObject({ state: 'pending' });
    expect(await frontier.inspect({ ...at(1, 'a-1'), domain: domains[0]! })).toMatchObject({
      state: 'pending',
    });
  });
});

describe('a backup', () => {
  const filled = async (): Promise<Frontier> => {
    const { frontier } = await stage.crawl.node();
    await frontier.push([...inAll('a'), ...inAll('b')], 'links');
    for (const lease of await take(frontier, 3)) await commit(frontier, lease, done, { items: ['{}'] });
    await frontier.leave('shutdown');
    return frontier;
  };
  const moved = async (from: Frontier, to: Frontier): Promise<void> => {
    const entries = [];
    for await (const entry of from.backups.read(allParts)) entries.push(entry);
    const ticket = { id: 'backup', parts: allParts, exclusive: [], force: false };
    expect(await to.backups.begin(ticket)).toBe(0);
    for (const [n, entry] of entries.entries()) await to.backups.apply('backup', n + 1, entry);
    await to.backups.end('backup');
  };

  it.each([1, 2, 3, 5])('of three partitions is restored into %i', async (count) => {
    const from = await filled();
    const spider = `${stage.world.spider}-restored-${count}`;
    const addresses = Array.from({ length: count }, () => addressOf(stage.server.url));
    const to =
      count === 1 ? await openRedis(stage.server.url, spider) : await openPartitioned(addresses, spider);
    try {
      await moved(from, to);
      const before = await from.snapshot();
      const { pending, done: pages, items } = await to.snapshot();
      expect({ pending, pages, items }).toEqual({
        pending: before.pending,
        pages: before.done,
        items: before.items,
      });
      expect(await to.verify()).toEqual([]);
      // Nothing that was seen is new, in whichever partition it is judged.
      expect(await to.push([...inAll('a'), ...inAll('b')], 'links')).toMatchObject({
        accepted: 0,
        duplicates: 6,
      });
    } finally {
      await to.close();
    }
  });
});
