/** A crawl over several partitions: what concerns more than one of them. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { allParts, type Frontier, type FrontierRequest, type Lease } from '../../../src/frontier/frontier.js';
import { partitionOf } from '../../../src/frontier/partitions/partition-of.js';
import {
  Crawl,
  commit,
  done,
  effects,
  failed,
  nameOf,
  request,
  take,
  takeOne,
  until,
  type World,
} from '../../frontier-contract/world.js';
import {
  addressOf,
  domainIn,
  openPartitioned,
  partitionedWorld,
} from '../../helpers/redis/partitioned-world.js';
import { redisOfFile } from '../../helpers/redis/redis-of-file.js';
import { openRedis } from '../../helpers/redis/redis-world.js';

const { server, admin } = await redisOfFile();
const COUNT = 3;

/** A domain of each partition. */
const domains = Array.from({ length: COUNT }, (_, partition) => domainIn(partition, COUNT));
/** A request in a partition. */
const at = (partition: number, name: string): FrontierRequest =>
  request(name, { domain: domains[partition]! });
const inAll = (name: string): FrontierRequest[] =>
  domains.map((_, partition) => at(partition, `${name}-${partition}`));

let world: World & { readonly spider: string };
let crawl: Crawl;
beforeEach(() => {
  world = partitionedWorld(server.url, COUNT);
  crawl = new Crawl(world);
});
afterEach(() => crawl.end());

const perPartition = async (frontier: Frontier, field: 'pending' | 'done' | 'items'): Promise<number[]> =>
  (await frontier.snapshot()).partitions!.map((partition) => partition[field]);

describe('the partition of a domain', () => {
  it('is stable, since it is stored', () => {
    expect(
      ['a.example', 'b.example', 'xn--bcher-kva.example:8080', ''].map((name) => partitionOf(name, 64)),
    ).toEqual([30, 60, 2, 11]);
  });

  it('spreads domains evenly', () => {
    const counts = new Array<number>(8).fill(0);
    for (let n = 0; n < 8_000; n++) counts[partitionOf(`host-${n}.example`, 8)]! += 1;
    expect(Math.min(...counts)).toBeGreaterThan(850);
    expect(Math.max(...counts)).toBeLessThan(1_150);
  });
});

describe('a page', () => {
  it('puts its links into the partitions of their domains, and its items and counters beside itself', async () => {
    const { frontier } = await crawl.node();
    await frontier.push([at(1, 'page')], 'links');
    const answer = await commit(frontier, await takeOne(frontier), done, {
      ...{
        requests: [...inAll('link'), at(1, 'page')],
        items: ['{"n":1}'],
        stats: { item_scraped_count: 1 },
      },
    });
    expect(answer).toMatchObject({ accepted: 3, duplicates: 1, allSeen: true });
    expect(await perPartition(frontier, 'pending')).toEqual([1, 1, 1]);
    expect(await perPartition(frontier, 'items')).toEqual([0, 1, 0]);
    expect(await frontier.snapshot()).toMatchObject({ counters: { item_scraped_count: 1 }, accepted: 4 });
  });

  it('that is fetched again after its node died between its pushes and its settle gives each link once', async () => {
    const { frontier } = await crawl.node();
    await frontier.push([at(0, 'page')], 'links');
    const lease = await takeOne(frontier);
    // What a settle does first; then the node dies.
    await frontier.push([at(1, 'link'), at(2, 'link')], 'links');
    await frontier.reconcile([], 0);
    const again = (await take(frontier, 3)).find(({ id }) => id === lease.id)!;
    const links = { requests: [at(1, 'link'), at(2, 'link'), at(0, 'own')] };
    expect(await commit(frontier, again, done, links)).toMatchObject({ accepted: 1, duplicates: 2 });
    expect((await frontier.settle(lease, done, effects(links))).committed).toBe(false);
    expect(await frontier.snapshot()).toMatchObject({ accepted: 4, pending: 1, leased: 2 });
  });

  it('that ends in the turn of a lease is settled before that lease finds nothing', async () => {
    const { frontier } = await crawl.node();
    await frontier.push([at(0, 'page')], 'links');
    const page = await takeOne(frontier);
    const links = { requests: [at(0, 'next'), at(2, 'seen')] };
    await frontier.push([at(2, 'seen')], 'links');
    // From now on it is the turn of partition 0, so the lease comes there before the link came to partition 2.
    await commit(frontier, await takeOne(frontier));
    const settled = frontier.settle(page, done, effects(links));
    const { leases } = await frontier.lease(1, 0);
    expect(leases.map(nameOf)).toEqual(['next']);
    expect(await settled).toMatchObject({ committed: true, accepted: 1, duplicates: 1 });
  });

  it('is told of its own links only, when those of several pages go in one call', async () => {
    const { frontier } = await crawl.node();
    await frontier.push([at(0, 'one'), at(0, 'two'), at(0, 'three')], 'links');
    const leases = await take(frontier, 3);
    const answers = await Promise.all(
      leases.map((lease, n) =>
        frontier.settle(
          lease,
          done,
          effects({ requests: [at(1, 'same'), at(1, `a-${n}`), at(2, `b-${n}`), at(0, `c-${n}`)] }),
        ),
      ),
    );
    expect(answers).toMatchObject([
      { committed: true, accepted: 4, duplicates: 0, allSeen: true },
      { committed: true, accepted: 3, duplicates: 1, allSeen: true },
      { committed: true, accepted: 3, duplicates: 1, allSeen: true },
    ]);
    expect(await perPartition(frontier, 'pending')).toEqual([3, 4, 3]);
  });

  it('whose links were withheld is asked for all of them when a fingerprint was forgotten in any partition', async () => {
    const { frontier } = await crawl.node();
    await frontier.push([at(0, 'one'), at(0, 'two')], 'links');
    const [one, two] = (await take(frontier, 2)) as [Lease, Lease];
    const { epoch } = await commit(frontier, one, done, { requests: [at(2, 'seen')] });
    await (await crawl.outsider()).forget(at(2, 'seen').fingerprint);
    const withheld = effects({ withheld: { count: 1, epoch } });
    expect(await frontier.settle(two, done, withheld)).toMatchObject({ committed: false, resend: true });
    await commit(frontier, two, done, { requests: [at(2, 'seen')] });
  });
});

describe('leases', () => {
  it('come from all partitions in turn, and fill the free slots from several', async () => {
    const { frontier } = await crawl.node();
    await frontier.push([...inAll('a'), ...inAll('b')], 'links');
    const first = await take(frontier, 1);
    const second = await take(frontier, 1);
    const third = await take(frontier, 1);
    const partitions = [...first, ...second, ...third].map(({ token }) => token.split('/')[0]);
    expect(new Set(partitions).size).toBe(3);
    expect((await frontier.lease(10, 3)).leases).toHaveLength(3);
    expect(await frontier.snapshot()).toMatchObject({ leased: 6, nodes: [{ leased: 6 }] });
  });

  it('of a suspect wait until its node holds nothing in any partition', async () => {
    const { frontier: dead } = await crawl.node({ tunables: { nodeTimeoutMs: 200 } });
    await dead.push([at(1, 'poison')], 'links');
    await takeOne(dead);
    const survivor = await crawl.node({ tunables: { nodeTimeoutMs: 200 } });
    await survivor.frontier.push([at(0, 'good'), at(2, 'other')], 'links');
    const held = await takeOne(survivor.frontier);
    await crawl.recoverUntil(1, [survivor]);
    const none = await survivor.frontier.lease(5, 1);
    expect(none.leases.every(({ crashes }) => crashes === 0)).toBe(true);
    for (const lease of [held, ...none.leases]) await commit(survivor.frontier, lease);
    const rest: Lease[] = [];
    await until(
      async () => {
        const { leases } = await survivor.frontier.lease(5, 0);
        if (leases.some(({ crashes }) => crashes > 0)) expect(leases).toHaveLength(1);
        for (const lease of leases) await commit(survivor.frontier, lease);
        return rest.push(...leases);
      },
      () => rest.some(({ crashes }) => crashes === 1),
    );
    expect(rest.some(({ crashes }) => crashes === 1)).toBe(true);
  });
});

describe('a crawl', () => {
  it('is not complete while a page in one partition may still give links to another', async () => {
    const { frontier } = await crawl.node();
    const other = await crawl.node();
    await frontier.push([at(0, 'page')], 'links');
    const lease = await takeOne(frontier);
    expect((await other.frontier.lease(1, 0)).crawl.finished).toBe(false);
    await commit(frontier, lease, done, { requests: [at(2, 'link')] });
    const link = await takeOne(other.frontier);
    expect((await frontier.lease(1, 0)).crawl.finished).toBe(false);
    await commit(other.frontier, link);
    expect((await frontier.lease(1, 0)).crawl.finished).toBe(true);
    expect((await other.frontier.lease(1, 0)).crawl.finished).toBe(true);
  });

  it('that does not persist is cleared by the last node once all partitions are complete, and leaves no key', async () => {
    const transient = new Crawl(world, { persist: false });
    const [one, two] = [await transient.node(), await transient.node()];
    await one.frontier.push(inAll('a'), 'links');
    for (const lease of await take(one.frontier, 3)) await commit(one.frontier, lease);
    expect(await one.frontier.leave('finished')).toMatchObject({ last: false, cleared: false });
    expect(await two.frontier.leave('finished')).toMatchObject({ last: true, cleared: true });
    const left = (await admin.keys(`${world.spider}:*`)).filter((key) => !key.endsWith(':stats'));
    expect(left).toEqual([]);
  });

  it('that does not persist is kept when a request waits in any partition', async () => {
    const transient = new Crawl(world, { persist: false });
    const { frontier } = await transient.node();
    await frontier.push([at(2, 'a')], 'links');
    expect(await frontier.leave('finished')).toMatchObject({ last: true, cleared: false });
    expect(await (await transient.outsider()).snapshot()).toMatchObject({ pending: 1 });
  });

  it('with another number of partitions is refused, naming both, whoever asks', async () => {
    const { frontier } = await crawl.node();
    await frontier.push([at(0, 'a')], 'links');
    const addresses = [addressOf(server.url), addressOf(server.url)];
    await expect(openPartitioned(addresses, world.spider)).rejects.toMatchObject({
      ...{ name: 'RefusedError', code: 'shape' },
      message: expect.stringContaining('SCHEDULER_PARTITIONS is 3 there and 2 here'),
    });
    await expect(openRedis(server.url, world.spider)).rejects.toMatchObject({
      message: expect.stringContaining('SCHEDULER_PARTITIONS is 3 there and 1 here'),
    });
  });

  it('that a seed has begun has the number of partitions of that seed', async () => {
    await (await crawl.outsider()).push([at(2, 'a')], 'seeds');
    await expect(openRedis(server.url, world.spider)).rejects.toMatchObject({ code: 'shape' });
  });

  it('is paused, resumed and closed in all partitions', async () => {
    const { frontier } = await crawl.node();
    await frontier.push(inAll('a'), 'links');
    const outsider = await crawl.outsider();
    await outsider.control('paused');
    expect(await frontier.lease(9, 0)).toMatchObject({ leases: [], crawl: { control: 'paused' } });
    await outsider.control('running');
    expect(await take(frontier, 2)).toHaveLength(2);
    await outsider.closeRun('enough');
    expect(await frontier.lease(9, 2)).toMatchObject({ leases: [], crawl: { closing: 'enough' } });
  });

  it('begins its next run in all partitions, also after its only node died while it left', async () => {
    const first = await crawl.node();
    await first.frontier.push(inAll('a'), 'links');
    for (const lease of await take(first.frontier, 3))
      await commit(first.frontier, lease, done, { stats: {} });
    expect((await first.frontier.snapshot()).run).toMatchObject({ pages: 3 });
    await first.frontier.leave('finished');
    const second = await crawl.node();
    expect((await second.frontier.snapshot()).run).toMatchObject({ pages: 0, id: second.joined.run });
  });

  it('loses nothing of a partition that is gone: its nodes are told', async () => {
    const { frontier } = await crawl.node();
    await frontier.push([at(0, 'a')], 'links');
    await admin.del(...(await admin.keys(`${world.spider}:p1:*`)));
    // What another partition gave comes first.
    await frontier.lease(5, 0);
    await expect(frontier.lease(5, 0)).rejects.toMatchObject({ code: 'frontier_gone' });
    await (await crawl.outsider()).clear(allParts, { force: true });
  });

  it('refuses hooks for an idle crawl by name', async () => {
    await expect(crawl.node({ hasIdle: true })).rejects.toMatchObject({ code: 'partitions' });
  });
});

describe('the page budget', () => {
  it('is exact over partitions and nodes, wherever the requests are', async () => {
    const budgets = { maxPages: 20 };
    const nodes = [await crawl.node({ budgets }), await crawl.node({ budgets })];
    const pages = Array.from({ length: 60 }, (_, n) => at(n % 10 === 0 ? n % COUNT : 1, `page-${n}`));
    await nodes[0]!.frontier.push(pages, 'links');
    let leased = 0;
    const closed = await until(
      async () => {
        let closing: string | null = null;
        for (const { frontier } of nodes) {
          const answer = await frontier.lease(3, 0);
          leased += answer.leases.length;
          for (const [n, lease] of answer.leases.entries()) {
            // Every fourth is given back unstarted.
            const isReleased = n === 1 && leased % 4 === 0;
            if (isReleased) leased -= 1;
            await frontier.settle(
              lease,
              isReleased ? { kind: 'released', reason: 'shutdown', unstarted: true } : done,
              effects({}),
            );
          }
          closing = answer.crawl.closing;
        }
        return closing;
      },
      (closing) => closing !== null,
    );
    expect(closed).toBe('closespider_pagecount');
    expect(leased).toBe(20);
    expect(await (await crawl.outsider()).snapshot()).toMatchObject({
      ...{ done: 20, pending: 40, run: { pages: 20, closed: 'closespider_pagecount' } },
    });
    for (const { frontier } of nodes) await frontier.leave('closespider_pagecount');
    expect((await (await world.client()).snapshot()).run).toMatchObject({ pages: 20 });
  });

  it('of items closes the run in all partitions', async () => {
    const { frontier } = await crawl.node({ budgets: { maxItems: 2 } });
    await frontier.push([...inAll('a'), ...inAll('b')], 'links');
    const leases = await take(frontier, 2);
    for (const lease of leases) {
      await commit(frontier, lease, done, { items: ['{}'], stats: { item_scraped_count: 1 } });
    }
    const answer = await until(
      () => frontier.lease(0, 0),
      ({ crawl: { closing } }) => closing !== null,
    );
    expect(answer.crawl.closing).toBe('closespider_itemcount');
    expect(await frontier.lease(5, 0)).toMatchObject({ leases: [] });
  });
});

describe('seeds', () => {
  const seeded = async (frontier: Frontier, ...values: string[]) => {
    await frontier.appendSeeds(values);
    return frontier.peekSeeds(10);
  };

  it('go to the partitions of their domains, once, also when two nodes have converted them', async () => {
    const [one, two] = [await crawl.node(), await crawl.node()];
    const seeds = await seeded(one.frontier, 'a', 'b');
    const batch = seeds.map((seed, n) => ({ seed, requests: inAll(`seed-${n}`) }));
    expect(await one.frontier.intake(batch)).toEqual({ accepted: 6, duplicates: 0, bad: 0 });
    for (const lease of await take(one.frontier, 6)) await commit(one.frontier, lease);
    expect(await two.frontier.intake(batch)).toEqual({ accepted: 0, duplicates: 0, bad: 0 });
    expect(await one.frontier.snapshot()).toMatchObject({ pending: 0, done: 6, startUrls: 0 });
  });

  it('that left their key when their node died are pushed by another one, and hold the crawl open until then', async () => {
    const { frontier } = await crawl.node();
    const [seed] = await seeded(frontier, 'a');
    await frontier.intake([{ seed: seed!, requests: [at(1, 'first')] }]);
    await commit(frontier, await takeOne(frontier));
    // As a node that died after the first step leaves it.
    await admin.hset(`${world.spider}:requests:~transfers`, '1:1', JSON.stringify([at(1, 'second')]));
    await admin.hset(`${world.spider}:requests:~meta`, 'sent:1', '2');
    const lease = await takeOne(frontier);
    expect(nameOf(lease)).toBe('second');
    await commit(frontier, lease);
    expect((await frontier.lease(1, 0)).crawl.finished).toBe(true);
    expect(await admin.exists(`${world.spider}:requests:~transfers`)).toBe(0);
  });

  it('fetch a page again that was done, as in a crawl of one partition', async () => {
    const { frontier } = await crawl.node();
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

describe('start requests', () => {
  it('in parts are accepted once, in all partitions, by whichever node', async () => {
    const nodes = [await crawl.node({ hasStart: true }), await crawl.node({ hasStart: true })];
    const [a, b] = [inAll('a'), [at(1, 'b'), at(1, 'c')]];
    expect(await nodes[0]!.frontier.push(a, 'start', { from: 0, total: 5 })).toMatchObject({ accepted: 3 });
    expect(await nodes[1]!.frontier.push(a, 'start', { from: 0, total: 5 })).toMatchObject({
      accepted: 0,
      duplicates: 3,
    });
    expect((await nodes[1]!.frontier.lease(0, 0)).crawl.finished).toBe(false);
    expect(await nodes[1]!.frontier.push(b, 'start', { from: 3, total: 5 })).toMatchObject({ accepted: 2 });
    expect(await nodes[0]!.frontier.push(b, 'start', { from: 3, total: 5 })).toMatchObject({
      accepted: 0,
      duplicates: 2,
    });
    expect(await perPartition(nodes[0]!.frontier, 'pending')).toEqual([1, 3, 1]);
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
    const { frontier } = await crawl.node({ feeds: ['feed-1'] });
    await frontier.push(inAll('a'), 'links');
    for (const lease of await take(frontier, 3))
      await commit(frontier, lease, done, { feedItems: [`"${nameOf(lease)}"`] });
    expect(await frontier.snapshot()).toMatchObject({ outbox: [{ feed: 'feed-1', waiting: 3 }] });
    await frontier.feeds.open(writer('w'), usual);
    expect([...(await frontier.feeds.read('feed-1', 0, 10))].sort()).toEqual(['"a-0"', '"a-1"', '"a-2"']);
    await frontier.feeds.checkpoint(writer('w'), { sequence: 2, lengthBytes: 12, header: '' });
    // What the writer had moved to partition 0 comes back in its partition, as if it had died before it was deleted there.
    await admin.hset(`${world.spider}:p1:requests:~outbox`, 'feed-1:1', '"a-1"');
    await admin.hset(
      `${world.spider}:p1:requests:~feeds`,
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
    const { frontier } = await crawl.node();
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

describe('cookies', () => {
  const change = { jar: '', domain: 'site.example', path: '/', name: 'session', text: 'h=1' };

  it('of a page are known to whichever node leases a link of it, in whichever partition', async () => {
    const [one, two] = [await crawl.node(), await crawl.node()];
    await one.frontier.push([at(1, 'login')], 'links');
    const login = await takeOne(one.frontier);
    await commit(one.frontier, login, done, { requests: [at(2, 'inside')], cookies: [change] });
    const answer = await until(
      () => two.frontier.lease(1, 0, 0),
      ({ leases }) => leases.length > 0,
    );
    expect(answer.cookies?.sets).toMatchObject([{ domain: 'site.example', cookies: [{ name: 'session' }] }]);
  });
});

describe("stats of the user's own", () => {
  it('add up over partitions', async () => {
    const { frontier } = await crawl.node();
    await frontier.push(inAll('a'), 'links');
    for (const [n, lease] of (await take(frontier, 3)).entries()) {
      const custom = [
        { name: 'sum', op: 'inc', value: n + 1 },
        { name: 'most', op: 'max', value: n },
        { name: 'least', op: 'min', value: n },
        { name: 'last', op: 'set', value: 'text' },
      ] as const;
      await commit(frontier, lease, done, { custom });
    }
    expect((await frontier.snapshot()).custom).toEqual({ sum: 6, most: 2, least: 0, last: 'text' });
  });
});

describe('the failed list', () => {
  it('has those of all partitions, and retries and purges them', async () => {
    const { frontier } = await crawl.node();
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
    const { frontier } = await crawl.node();
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
    const spider = `${world.spider}-restored-${count}`;
    const addresses = Array.from({ length: count }, () => addressOf(server.url));
    const to = count === 1 ? await openRedis(server.url, spider) : await openPartitioned(addresses, spider);
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
