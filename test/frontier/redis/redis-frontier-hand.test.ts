/** The frontier in Redis under hands and limits: full memory, deleted or foreign keys, lost replies, a flush. */
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import type { RecordedRequest } from '../../../src/frontier/frontier.js';
import {
  Crawl,
  commit,
  done,
  effects,
  nameOf,
  request,
  take,
  takeOne,
  until,
} from '../../frontier-contract/world.js';
import { startCuttingProxy } from '../../helpers/redis/cutting-proxy.js';
import { redisOfFile } from '../../helpers/redis/redis-of-file.js';
import { startRedis } from '../../helpers/redis/redis-server.js';
import { redisWorld, soonGivingUp } from '../../helpers/redis/redis-world.js';

const { server } = await redisOfFile();

const newWorld = (url = server.url) => redisWorld(url, soonGivingUp);

const readAny = (): RecordedRequest => ({ domain: 'a.example', priority: 0, acceptedAtMs: 0 });

/** Copy keys of a crawl, all by default. @returns puts them back as they were */
async function keep(admin: Redis, spider: string, name?: string): Promise<() => Promise<unknown>> {
  const keys = name === undefined ? await admin.keys(`${spider}:*`) : [`${spider}:${name}`];
  for (const key of keys) await admin.copy(key, `kept:${key}`, 'REPLACE');
  return async () => {
    const now = name === undefined ? await admin.keys(`${spider}:*`) : keys;
    const change = admin.multi().del(...now);
    for (const key of keys) change.rename(`kept:${key}`, key);
    await change.exec();
  };
}

describe('the frontier in Redis', { timeout: 60_000 }, () => {
  const withCrawl = async (
    body: (crawl: Crawl, admin: Redis, spider: string) => Promise<void>,
    url = server.url,
  ): Promise<void> => {
    const world = newWorld(url);
    const crawl = new Crawl(world);
    const admin = new Redis(url);
    try {
      await body(crawl, admin, world.spider);
    } finally {
      admin.disconnect();
      await crawl.end();
    }
  };

  it('keeps no answers but the last ones, whatever verbs come between', () =>
    withCrawl(async (crawl, admin, spider) => {
      const { frontier } = await crawl.node({ feeds: ['feed'] });
      for (let n = 0; n < 20; n += 1) {
        await frontier.push([request(`${n}`)], 'links');
        await frontier.throttle('a.example', { forMs: 0, source: 'retry-after' });
        await commit(frontier, await takeOne(frontier));
        await frontier.control('running');
      }
      expect(await admin.hlen(`${spider}:requests:~answers`)).toBeLessThanOrEqual(3);
      await frontier.leave('finished');
      expect(await admin.hlen(`${spider}:requests:~answers`)).toBe(0);
      expect(await admin.hlen(`${spider}:requests:~node-info`)).toBe(0);
      expect(await admin.hlen(`${spider}:requests:~held`)).toBe(0);
    }));

  it('that lost items after they were written, and has others in their places, refuses the checkpoint: none is dropped unwritten', () =>
    withCrawl(async (crawl, admin, spider) => {
      const { frontier } = await crawl.node({ feeds: ['feed'] });
      await frontier.push([request('a')], 'links');
      await commit(frontier, await takeOne(frontier), done, { feedItems: ['{"n":1}', '{"é":2}'] });
      const writer = { feed: 'feed', host: 'here', path: '/items.jsonl', pid: 1, owner: 'w' };
      await frontier.feeds.open(writer, { staleMs: 30_000 });
      const written = await frontier.feeds.read('feed', 0, 10);
      // As after a failover to a replica that had not got the first commit, and another one since.
      await admin.hset(`${spider}:requests:~outbox`, 'feed:1', '{"n":3}');
      const checkpoint = { sequence: 2, lengthBytes: 16, header: '' };
      const confirm = (items: readonly string[]) => frontier.feeds.checkpoint(writer, checkpoint, 0, items);
      await expect(confirm(written)).rejects.toMatchObject({ code: 'feed_rolled_back' });
      const now = await frontier.feeds.read('feed', 0, 10);
      expect(now).toEqual(['{"n":3}', '{"é":2}']);
      await confirm(now);
      await confirm(now);
      expect(await frontier.feeds.waiting('feed')).toBe(0);
    }));

  it('gives no item the number of another where somebody deleted or overwrote the number of the last one', () =>
    withCrawl(async (crawl, admin, spider) => {
      const { frontier } = await crawl.node({ feeds: ['feed'] });
      await frontier.push([request('a'), request('b'), request('c')], 'links');
      const commitOne = async (item: string) =>
        commit(frontier, await takeOne(frontier), done, { feedItems: [item] });
      await commitOne('{"n":1}');
      await admin.hdel(`${spider}:requests:~feeds`, 'feed:tail');
      await commitOne('{"n":2}');
      await admin.hset(`${spider}:requests:~feeds`, 'feed:tail', 'x');
      await frontier.feeds.open(
        { feed: 'feed', host: 'here', path: '/items.jsonl', pid: 1, owner: 'w' },
        { staleMs: 30_000 },
      );
      await commitOne('{"n":3}');
      expect(await frontier.feeds.read('feed', 0, 10)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
    }));

  it('that may evict keys, by a policy set under the crawl, leases nothing until it is changed; pages under way are committed', async () => {
    const evicting = await startRedis();
    try {
      await withCrawl(async (crawl, admin) => {
        const { frontier } = await crawl.node();
        await frontier.push([request('a'), request('b')], 'links');
        const lease = await takeOne(frontier);
        await admin.config('SET', 'maxmemory', '100mb');
        await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
        const codeOf = () =>
          frontier.lease(0, 1).then(
            () => 'leased',
            ({ code }) => code as string,
          );
        await until(codeOf, (code) => code === 'eviction_policy', 20_000);
        await expect(frontier.lease(1, 1)).rejects.toThrow(/maxmemory-policy is allkeys-lru/);
        await commit(frontier, lease);
        await admin.config('SET', 'maxmemory-policy', 'noeviction');
        await until(codeOf, (code) => code === 'leased', 20_000);
        await commit(frontier, await takeOne(frontier));
        expect(await frontier.snapshot()).toMatchObject({ done: 2, pending: 0 });
      }, evicting.url);
    } finally {
      await evicting.stop();
    }
  });

  it('that is full lets settles, heartbeats and leaving through, and nothing that brings more', async () => {
    const full = await startRedis();
    try {
      await withCrawl(async (crawl, admin) => {
        const { frontier, joined } = await crawl.node();
        await frontier.push([request('a'), request('b'), request('c')], 'links');
        const [a, b] = await take(frontier, 2);
        await admin.config('SET', 'maxmemory', '1');
        await commit(frontier, a!, done, { items: ['{}'], requests: [request('d')] });
        await commit(frontier, b!);
        expect(await frontier.heartbeat(joined.incarnation, 1)).toBe('alive');
        expect(await frontier.reconcile([], 0)).toEqual({ lost: [], returned: 0 });
        expect(await frontier.recover()).toBe(0);
        const refused = await Promise.allSettled([
          frontier.lease(1, 0),
          frontier.push([request('e')], 'links'),
        ]);
        const message = expect.stringMatching(
          /^Redis refuses for now: OOM [^.]*'maxmemory'; raise its maxmemory/,
        );
        for (const answer of refused)
          expect(answer).toMatchObject({ reason: { code: 'frontier_unavailable', message } });
        await admin.config('SET', 'maxmemory', '0');
        const c = await takeOne(frontier);
        await admin.config('SET', 'maxmemory', '1');
        const [settled, leased] = await Promise.allSettled([commit(frontier, c), frontier.lease(1, 0)]);
        expect(settled).toMatchObject({ value: { committed: true } });
        expect(leased).toMatchObject({ reason: { code: 'frontier_unavailable' } });
        expect(await frontier.leave('shutdown')).toMatchObject({ last: true });
        await admin.config('SET', 'maxmemory', '0');
        expect(await frontier.snapshot()).toMatchObject({ done: 3, pending: 1, items: 1, nodes: [] });
      }, full.url);
    } finally {
      await full.stop();
    }
  });

  it('never loops over what somebody deleted by hand', () =>
    withCrawl(async (crawl, admin, spider) => {
      const { frontier } = await crawl.node();
      await frontier.push([request('a'), request('b', { domain: 'b.example' })], 'links');
      await frontier.throttle('c.example', { forMs: 1, source: 'retry-after' });
      await admin.del(`${spider}:requests:~domains`);
      const answers = [
        await frontier.lease(5, 0),
        await until(
          () => frontier.lease(5, 0),
          ({ waitMs }) => waitMs > 1,
        ),
      ];
      expect(await frontier.verify()).toHaveLength(2);
      await admin.del(`${spider}:requests:~queue`, `${spider}:requests`);
      expect((await frontier.lease(5, 0)).crawl.idleMs).toBeGreaterThanOrEqual(0);
      expect(await frontier.snapshot()).toMatchObject({ pending: 0, lost: 2, removed: 0 });
      expect(answers.map(({ leases }) => leases)).toEqual([[], []]);
      expect(answers[1]?.waitMs).toBeGreaterThan(1);
    }));

  it('skips any number of queue entries without a record, a bounded number a call', () =>
    withCrawl(async (crawl, admin, spider) => {
      const { frontier } = await crawl.node();
      for (const batch of [0, 1]) {
        await frontier.push(
          Array.from({ length: 2_000 }, (_, n) => request(`${batch}/${n}`)),
          'links',
        );
      }
      await admin.del(`${spider}:requests`);
      const first = await frontier.lease(1, 0);
      expect(first).toMatchObject({ leases: [], waitMs: 0 });
      expect((await frontier.snapshot()).pending).toBeGreaterThan(2_000);
      const left = () => frontier.lease(1, 0).then(() => frontier.snapshot());
      expect(await until(left, ({ pending }) => pending === 0)).toMatchObject({ pending: 0, lost: 4_000 });
    }));

  it('counts requests without a record as lost, and not those of a deleted queue, forgets fingerprints, and neither finishes nor clears the crawl', () =>
    withCrawl(async (crawl, admin, spider) => {
      const { frontier } = await crawl.node({ shape: { persist: false } });
      await frontier.push([request('a'), request('b'), request('late', { delayMs: 60_000 })], 'links');
      await commit(frontier, await takeOne(frontier));
      await admin.hdel(`${spider}:requests`, Buffer.from(request('b').id, 'hex'));
      expect((await frontier.lease(1, 0)).crawl).toMatchObject({ lost: 1, finished: false });
      await admin.del(`${spider}:requests:~delayed`);
      expect((await frontier.lease(1, 0)).crawl).toMatchObject({
        ...{ lost: 1, stall: 'suspected', finished: false },
      });
      expect(await frontier.verify()).toContain(
        `I1: the record of ${request('late').id} is in no queue: it would never be fetched`,
      );
      await frontier.repair(() => ({ domain: 'a.example', priority: 0, acceptedAtMs: 0 }), { force: true });
      const { frontier: next } = await crawl.node({ shape: { persist: false } });
      // Its record says until when it is delayed.
      expect(await next.snapshot()).toMatchObject({ lost: 1, pending: 0, delayed: 1 });
      // A link brings the request back whose record is gone, and the losses stay counted.
      expect(await next.push([request('a'), request('b')], 'links')).toEqual({ accepted: 1, duplicates: 1 });
      await commit(next, await takeOne(next));
      expect((await next.lease(1, 0)).crawl).toMatchObject({ lost: 1, finished: false });
      expect(await next.verify()).toEqual([]);
      expect(await next.leave('shutdown')).toMatchObject({ last: true, cleared: false });
      await next.clear(['dupefilter'], { force: false });
      expect(await next.snapshot()).toMatchObject({ lost: 0, removed: 1 });
    }));

  it('starts no delay for a request without a record', () =>
    withCrawl(async (crawl, admin, spider) => {
      const { frontier } = await crawl.node({ tunables: { delayMs: 60_000 } });
      await frontier.push(
        Array.from({ length: 20 }, (_, n) => request(`${n}`)),
        'links',
      );
      const gone = Array.from({ length: 19 }, (_, n) => Buffer.from(request(`${n}`).id, 'hex'));
      await admin.hdel(`${spider}:requests`, ...gone);
      const { leases } = await frontier.lease(1, 0);
      expect(leases.map(({ id }) => id)).toEqual([request('19').id]);
      expect(await frontier.snapshot()).toMatchObject({ pending: 0, leased: 1, lost: 19 });
    }));

  it('forgets the crashes of a suspect without a record, and goes on at once', () =>
    withCrawl(async (crawl, admin, spider) => {
      const tunables = { nodeTimeoutMs: 300 };
      const peer = await crawl.node({ tunables });
      await peer.frontier.push([request('gone')], 'links');
      await takeOne((await crawl.node({ tunables })).frontier);
      await crawl.recoverUntil(1, [peer]);
      await peer.frontier.push([request('good')], 'links');
      await admin.hdel(`${spider}:requests`, Buffer.from(request('gone').id, 'hex'));
      expect(await peer.frontier.lease(1, 0)).toMatchObject({ leases: [], waitMs: 0 });
      expect(await admin.exists(`${spider}:requests:~crashes`)).toBe(0);
      expect((await peer.frontier.lease(1, 0)).leases).toHaveLength(1);
    }));

  it('commits a page all the same when a counter holds text, and nothing of it when the items key is foreign', () =>
    withCrawl(async (crawl, admin, spider) => {
      const { frontier } = await crawl.node();
      await admin.hset(`${spider}:stats`, 'item_scraped_count', 'many', 'scheduler/enqueued', 'x');
      await frontier.push([request('a'), request('b')], 'links');
      const [a, b] = await take(frontier, 2);
      await commit(frontier, a!, done, { items: ['{}'], stats: { item_scraped_count: 1, other: 2 } });
      expect((await frontier.snapshot()).counters).toMatchObject({ other: 2 });
      await admin.rename(`${spider}:items`, `${spider}:elsewhere`);
      await admin.set(`${spider}:items`, 'text');
      await expect(frontier.settle(b!, done, effects({ items: ['{}'] }))).rejects.toMatchObject({
        code: 'foreign_key',
      });
      await admin.del(`${spider}:items`, `${spider}:elsewhere`);
      await commit(frontier, b!);
    }));

  it('tells a live node that the crawl is gone, even when another of its name has begun', () =>
    withCrawl(async (crawl, admin, spider) => {
      const { frontier, joined } = await crawl.node();
      await frontier.push([request('a')], 'links');
      await admin.del(...(await admin.keys(`${spider}:*`)));
      await expect(frontier.push([request('b')], 'links')).rejects.toMatchObject({ code: 'frontier_gone' });
      const next = await crawl.node();
      await expect(frontier.lease(1, 0)).rejects.toMatchObject({ code: 'frontier_gone' });
      expect(await frontier.heartbeat(joined.incarnation, 0)).toBe('dead');
      await expect(crawl.join(frontier)).rejects.toMatchObject({ code: 'frontier_gone' });
      expect((await next.frontier.snapshot()).nodes).toHaveLength(1);
    }));

  it('answers a leave whose reply was lost as the first time, also when it cleared the crawl', async () => {
    const proxy = await startCuttingProxy(server.port);
    try {
      await withCrawl(async (crawl) => {
        const { frontier } = await crawl.node({ shape: { persist: false } });
        await frontier.push([request('a')], 'links');
        await commit(frontier, await takeOne(frontier));
        proxy.cutNextReply();
        expect(await frontier.leave('finished')).toEqual({ last: true, cleared: true });
        expect(proxy.cuts()).toBe(1);
      }, `redis://127.0.0.1:${proxy.port}`);
    } finally {
      await proxy.close();
    }
  });

  it('pages through the failed list while it shrinks, and through entries of one instant', () =>
    withCrawl(async (crawl, admin, spider) => {
      const { frontier } = await crawl.node();
      const names = Array.from({ length: 9 }, (_, n) => `page-${n}`);
      await frontier.push(
        names.map((name) => request(name)),
        'links',
      );
      for (const lease of await take(frontier, 9)) {
        await commit(frontier, lease, { kind: 'failed', reason: 'timeout', attempts: 1 });
        await admin.zadd(`${spider}:requests:~failed`, 1_000, Buffer.from(lease.id, 'hex'));
      }
      const met: string[] = [];
      for (let cursor: string | null = null; ; ) {
        const page = await frontier.failed.list(cursor, 2);
        met.push(...page.requests.map(({ id }) => id));
        await frontier.failed.purge([...page.requests.map(({ id }) => id), 'zz', '']);
        cursor = page.cursor;
        if (cursor === null) break;
      }
      expect(met.sort()).toEqual(names.map((name) => request(name).id).sort());
    }));

  it('makes a node join anew when all keys are put back, so that links it knows are sent again', () =>
    withCrawl(async (crawl, admin, spider) => {
      const node = await crawl.node();
      const { frontier } = node;
      await frontier.push([request('a'), request('b')], 'links');
      const putBack = await keep(admin, spider);
      const { epoch } = await commit(frontier, await takeOne(frontier), done, {
        requests: [request('child')],
      });
      const held = await takeOne(frontier);
      await putBack();
      const late = frontier.settle(held, done, effects({ requests: [request('late')] }));
      await expect(late).rejects.toMatchObject({ code: 'store_replaced' });
      await expect(frontier.lease(1, 0)).rejects.toMatchObject({ code: 'store_replaced' });
      await crawl.join(frontier);
      const again = await take(frontier, 2);
      expect(again.map(nameOf).sort()).toEqual(['a', 'b']);
      expect((await commit(frontier, again[0]!)).epoch).not.toBe(epoch);
    }));

  it.each([
    ['fewer', 0, 1],
    ['as many', 2, 3],
  ])(
    'crawls nothing again when the requests alone are put back with more done ones than lost ones, or %s',
    (_, more, lost) =>
      withCrawl(async (crawl, admin, spider) => {
        const { frontier } = await crawl.node();
        await frontier.push(
          ['a', 'b', 'c'].map((name) => request(name)),
          'links',
        );
        const putBack = await keep(admin, spider, 'requests');
        for (const lease of await take(frontier, 2)) await commit(frontier, lease);
        await frontier.push(
          ['d', ...Array.from({ length: more }, (_, n) => `${n}`)].map((name) => request(name)),
          'links',
        );
        await putBack();
        await frontier.reconcile([], 60_000);
        await commit(frontier, await takeOne(frontier));
        const { crawl: state } = await until(
          () => frontier.lease(5, 0),
          (answer) => answer.crawl.lost === lost,
        );
        expect(state).toMatchObject({ lost, stall: null });
        const outsider = await crawl.outsider();
        if (more === 0) {
          // Those are gone, so a repair brings none back.
          await outsider.repair(readAny, { force: true });
          expect(await outsider.snapshot()).toMatchObject({ done: 3, lost, pending: 0 });
        } else {
          expect((await frontier.lease(1, 0)).crawl).toMatchObject({ cameBack: 2, stall: null });
          expect(await outsider.acceptLosses()).toBe(lost);
          expect((await frontier.lease(1, 0)).crawl).toMatchObject({ lost: 0, finished: true });
        }
      }),
  );

  it('keeps what was lost and has come back for a repair, which says that it may be done', () =>
    withCrawl(async (crawl, admin, spider) => {
      const { frontier } = await crawl.node();
      await frontier.push([request('a'), request('b')], 'links');
      const putBack = await keep(admin, spider, 'requests');
      await crawl.world.hand?.deleteRecord(request('a'));
      await crawl.world.hand?.deleteRecord(request('b'));
      expect((await frontier.lease(1, 0)).crawl.lost).toBe(2);
      await putBack();
      expect((await frontier.lease(1, 0)).crawl).toMatchObject({ lost: 2, cameBack: 2 });
      const outsider = await crawl.outsider();
      const { losses, pending } = await outsider.repair(readAny, { force: true });
      expect(losses).toEqual([expect.stringContaining('2 requests of it may be done')]);
      expect(pending).toBe(2);
      await outsider.acceptLosses();
    }));
});
