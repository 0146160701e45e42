/** Keys of a crawl that somebody puts back as they were earlier, under live nodes. */
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
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
import { redisOfFile } from '../../helpers/redis/redis-of-file.js';
import { redisWorld } from '../../helpers/redis/redis-world.js';

const { server } = await redisOfFile();
const readAny = (): RecordedRequest => ({ domain: 'a.example', priority: 0, acceptedAtMs: 0 });

/** @param body gets `keep`, which copies keys of the crawl, all by default, and returns what puts them back */
async function withCrawl(
  body: (crawl: Crawl, keep: (name?: string) => Promise<() => Promise<unknown>>) => Promise<void>,
): Promise<void> {
  const world = redisWorld(server.url);
  const crawl = new Crawl(world);
  const admin = new Redis(server.url);
  try {
    await body(crawl, async (name) => {
      const keys = name === undefined ? await admin.keys(`${world.spider}:*`) : [`${world.spider}:${name}`];
      for (const key of keys) await admin.copy(key, `kept:${key}`, 'REPLACE');
      return async () => {
        const now = name === undefined ? await admin.keys(`${world.spider}:*`) : keys;
        const change = admin.multi().del(...now);
        for (const key of keys) change.rename(`kept:${key}`, key);
        await change.exec();
      };
    });
  } finally {
    admin.disconnect();
    await crawl.end();
  }
}

it('makes a node join anew when all keys are put back, so that links it knows are sent again', () =>
  withCrawl(async (crawl, keep) => {
    const node = await crawl.node();
    const { frontier } = node;
    await frontier.push([request('a'), request('b')], 'links');
    const putBack = await keep();
    const { epoch } = await commit(frontier, await takeOne(frontier), done, { requests: [request('child')] });
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
    withCrawl(async (crawl, keep) => {
      const { frontier } = await crawl.node();
      await frontier.push(
        ['a', 'b', 'c'].map((name) => request(name)),
        'links',
      );
      const putBack = await keep('requests');
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
  withCrawl(async (crawl, keep) => {
    const { frontier } = await crawl.node();
    await frontier.push([request('a'), request('b')], 'links');
    const putBack = await keep('requests');
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
