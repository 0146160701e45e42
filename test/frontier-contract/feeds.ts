/** The outbox of a feed: committed items, in order, until the file is known to have them. */
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { RefusedError } from '../../src/errors.js';
import { type FeedWriter, newOwner } from '../../src/feed-outbox.js';
import { type Crawl, commit, effects, request, take, takeOne } from './world.js';

const writer = (owner: string, pid = process.pid): FeedWriter => ({
  feed: 'feed-1',
  host: hostname(),
  path: '/data/out.jsonl',
  pid,
  owner,
  format: 'csv',
});
const usual = { staleMs: 30_000 };

export function feeds(crawl: () => Crawl): void {
  describe('a feed', () => {
    const settleWith = async (count: number): Promise<Awaited<ReturnType<Crawl['node']>>> => {
      const node = await crawl().node({ feeds: ['feed-1'] });
      await node.frontier.push(
        Array.from({ length: count }, (_, n) => request(`page-${n}`)),
        'links',
      );
      for (const [n, lease] of (await take(node.frontier, count)).entries()) {
        await commit(node.frontier, lease, undefined, { feedItems: [`${n}a`, `${n}b`] });
      }
      return node;
    };

    it('receives the items of every settle of a node that joined with it, in order', async () => {
      const { frontier } = await settleWith(3);
      expect(await frontier.feeds.open(writer('w'), usual)).toBeNull();
      expect(await frontier.feeds.read('feed-1', 0, 4)).toEqual(['0a', '0b', '1a', '1b']);
      expect(await frontier.feeds.read('feed-1', 0, 10)).toEqual(['0a', '0b', '1a', '1b', '2a', '2b']);
      expect((await frontier.snapshot()).outbox).toEqual([
        {
          feed: 'feed-1',
          host: hostname(),
          path: '/data/out.jsonl',
          waiting: 6,
          writerPid: expect.any(Number),
          format: 'csv',
          seenAtMs: expect.any(Number),
          checkpoint: null,
          change: null,
        },
      ]);
    });

    it('counts items that its writer could not read as lost, once, until somebody accepts that', async () => {
      const { frontier } = await settleWith(2);
      await frontier.feeds.open(writer('w'), usual);
      const first = await frontier.feeds.read('feed-1', 0, 3);
      const checkpoint = { sequence: 3, lengthBytes: 9, header: '' };
      await frontier.feeds.checkpoint(writer('w'), checkpoint, 0, first, 2);
      await frontier.feeds.checkpoint(writer('w'), checkpoint, 0, first, 2);
      expect((await frontier.lease(1, 0)).crawl).toMatchObject({ finished: true, lost: 2 });
      expect(await frontier.verify()).toEqual([]);
      expect(await frontier.acceptLosses()).toBe(2);
      expect((await frontier.lease(1, 0)).crawl).toMatchObject({ lost: 0 });
      expect(await frontier.verify()).toEqual([]);
    });

    it('receives nothing of a settle that was refused', async () => {
      const { frontier } = await crawl().node({ feeds: ['feed-1'] });
      await frontier.push([request('a')], 'links');
      const lease = await takeOne(frontier);
      const stale = { ...lease, token: `${lease.token}0` };
      await frontier.settle(
        stale,
        { kind: 'done', reason: 'done', attempts: 1 },
        effects({ feedItems: ['{}'] }),
      );
      expect(await frontier.feeds.read('feed-1', 0, 10)).toEqual([]);
    });

    it('drops what is written at each checkpoint and goes on from there', async () => {
      const { frontier } = await settleWith(2);
      await frontier.feeds.open(writer('w'), usual);
      const checkpoint = { sequence: 3, lengthBytes: 120, header: 'a,b' };
      await frontier.feeds.checkpoint(writer('w'), checkpoint);
      expect(await frontier.feeds.read('feed-1', 3, 10)).toEqual(['1b']);
      expect((await frontier.snapshot()).outbox[0]?.waiting).toBe(1);
      await frontier.feeds.release(writer('w'));
      expect(await frontier.feeds.open(writer('next'), usual)).toEqual(checkpoint);
    });

    it('has one writer: a second is refused while the first lives', async () => {
      const { frontier } = await settleWith(1);
      await frontier.feeds.open(writer('w'), usual);
      const other = await crawl().world.client();
      const refused = other.feeds.open(writer('x'), usual);
      await expect(refused).rejects.toMatchObject({ code: 'feed_held', isBrief: false });
      await frontier.feeds.release(writer('w'));
      expect(await other.feeds.open(writer('x'), usual)).toBeNull();
    });

    it('says of a writer of what a dead node left that it has the feed only briefly', async () => {
      const { frontier } = await settleWith(1);
      const brief = writer(newOwner({ restOnly: true }));
      await frontier.feeds.open(brief, usual);
      const refused = frontier.feeds.open(writer(newOwner()), usual);
      await expect(refused).rejects.toMatchObject({ code: 'feed_held', isBrief: true });
    });

    it('is written in one format: another one is refused until the file is begun anew', async () => {
      const { frontier } = await settleWith(1);
      const other = { ...writer('x'), format: 'json' };
      const { format: _, ...silent } = writer('z');
      await frontier.feeds.open(writer('w'), usual);
      await frontier.feeds.checkpoint(writer('w'), { sequence: 2, lengthBytes: 9, header: '' });
      await frontier.feeds.release(writer('w'));
      await expect(frontier.feeds.open(other, usual)).rejects.toMatchObject({
        ...{ name: 'RefusedError', code: 'feed_format' },
        message: expect.stringContaining('as csv, and json'),
      });
      expect(await frontier.feeds.open(writer('y'), usual)).toMatchObject({ sequence: 2 });
      await frontier.feeds.release(writer('y'));
      expect(await frontier.feeds.open(other, { ...usual, anew: true })).toBeNull();
      await frontier.feeds.release(other);
      expect(await frontier.feeds.open(silent, usual)).toBeNull();
    });

    it('takes over from a writer that was not seen for a while, or whose process is gone', async () => {
      const { frontier } = await settleWith(1);
      await frontier.feeds.open(writer('w', 2 ** 22 + 1), usual);
      expect(await frontier.feeds.open(writer('x'), usual)).toBeNull();
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(await frontier.feeds.open(writer('y'), { staleMs: 1 })).toBeNull();
    });

    const withItems = async (count: number): Promise<Awaited<ReturnType<Crawl['node']>>['frontier']> => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a')], 'links');
      const items = Array.from({ length: count }, (_, n) => `{"n":${n}}`);
      await commit(frontier, await takeOne(frontier), undefined, { items });
      return frontier;
    };

    it('shows the head of the items list, in order, and takes nothing', async () => {
      const frontier = await withItems(5);
      const { feeds } = await crawl().outsider();
      expect(await feeds.peek(0, 3)).toEqual(['{"n":0}', '{"n":1}', '{"n":2}']);
      expect(await feeds.peek(3, 1)).toEqual(['{"n":3}']);
      expect(await feeds.peek(0, 9)).toHaveLength(5);
      expect((await frontier.count()).items).toBe(5);
    });

    it('takes items from the head of the items list, in order, for the writer that holds it', async () => {
      const frontier = await withItems(5);
      const { feeds } = await crawl().outsider();
      await expect(feeds.take(writer('w'), 3)).rejects.toThrow(RefusedError);
      await feeds.open(writer('w'), usual);
      expect(await feeds.take(writer('w'), 3)).toBe(3);
      await expect(feeds.take(writer('x'), 3)).rejects.toThrow(RefusedError);
      expect((await frontier.count()).items).toBe(2);
      expect(await feeds.read('feed-1', 0, 10)).toEqual(['{"n":0}', '{"n":1}', '{"n":2}']);
      expect(await feeds.take(writer('w'), 3)).toBe(2);
      expect(await feeds.take(writer('w'), 3)).toBe(0);
      await feeds.checkpoint(writer('w'), { sequence: 3, lengthBytes: 24, header: '' });
      expect(await feeds.read('feed-1', 3, 10)).toEqual(['{"n":3}', '{"n":4}']);
      expect((await frontier.snapshot()).outbox[0]?.waiting).toBe(2);
    });

    it('is begun anew when that is asked for, but not before an export to it has ended', async () => {
      await withItems(2);
      const { feeds } = await crawl().outsider();
      const anew = { ...usual, anew: true };
      const written = { sequence: 1, lengthBytes: 8, header: '' };
      await feeds.open(writer('w'), anew);
      await feeds.take(writer('w'), 1);
      await feeds.checkpoint(writer('w'), written);
      await feeds.release(writer('w'));
      expect(await feeds.open(writer('x'), anew)).toEqual(written);
      await feeds.release(writer('x'), { exported: true });
      expect(await feeds.open(writer('y'), usual)).toEqual(written);
      await feeds.release(writer('y'));
      expect(await feeds.open(writer('z'), anew)).toBeNull();
      await feeds.take(writer('z'), 1);
      expect(await feeds.read('feed-1', 0, 10)).toEqual(['{"n":1}']);
    });

    it('is not begun anew while committed items wait for it', async () => {
      const { frontier } = await settleWith(1);
      await frontier.feeds.open(writer('w'), usual);
      const written = { sequence: 1, lengthBytes: 3, header: '' };
      await frontier.feeds.checkpoint(writer('w'), written);
      await frontier.feeds.release(writer('w'));
      expect(await frontier.feeds.open(writer('x'), { ...usual, anew: true })).toEqual(written);
      expect(await frontier.feeds.read('feed-1', 1, 10)).toEqual(['0b']);
    });

    it('is forgotten with a crawl that is cleared, once all of it is written, and its writer may end in peace', async () => {
      const node = await crawl().node({ feeds: ['feed-1'], shape: { persist: false } });
      await node.frontier.push([request('a')], 'links');
      await commit(node.frontier, await takeOne(node.frontier), undefined, { feedItems: ['one'] });
      const drain = await crawl().outsider();
      await drain.feeds.open(writer('w'), usual);
      const written = { sequence: 1, lengthBytes: 4, header: '' };
      await drain.feeds.checkpoint(writer('w'), written);
      expect(await node.frontier.leave('finished')).toEqual({ last: true, cleared: true });
      await drain.feeds.checkpoint(writer('w'), written);
      expect(await drain.feeds.read('feed-1', 1, 10)).toEqual([]);
      await drain.feeds.release(writer('w'));
      expect(await drain.feeds.open(writer('next'), usual)).toBeNull();
    });

    it.each([0, 1])(
      'goes on under a writer that lives while its crawl is cleared, and so into the next run: after %i items',
      async (items) => {
        const own = await crawl().outsider();
        expect(await own.feeds.open(writer('w'), usual)).toBeNull();
        const first = await crawl().node({ feeds: ['feed-1'], shape: { persist: false } });
        await first.frontier.push([request('a')], 'links');
        const feedItems = Array.from({ length: items }, () => 'one');
        await commit(first.frontier, await takeOne(first.frontier), undefined, { feedItems });
        await own.feeds.checkpoint(writer('w'), { sequence: items, lengthBytes: 4, header: '' });
        expect(await first.frontier.leave('finished')).toEqual({ last: true, cleared: true });

        const next = await crawl().node({ feeds: ['feed-1'], shape: { persist: false } });
        await next.frontier.push([request('a')], 'links');
        await commit(next.frontier, await takeOne(next.frontier), undefined, { feedItems: ['two'] });
        expect(await own.feeds.read('feed-1', items, 10)).toEqual(['two']);
        const written = { sequence: items + 1, lengthBytes: 8, header: '' };
        await own.feeds.checkpoint(writer('w'), written, items);
        await own.feeds.release(writer('w'));
        expect(await own.feeds.open(writer('later'), usual)).toEqual(written);
      },
    );

    describe('whose file a writer overwrites, when the crawl is flushed at its start', () => {
      const overwriting = { ...usual, overwrites: true };
      const earlier = { sequence: 2, lengthBytes: 8, header: 'h' };

      /** An earlier run, all written or but for one item, and the claim of the run that is to flush. */
      const claimed = async (options: typeof usual, written = earlier) => {
        const before = await settleWith(1);
        const own = (await crawl().outsider()).feeds;
        await own.open(writer('before'), options);
        await own.checkpoint(writer('before'), written);
        await own.release(writer('before'));
        await before.frontier.leave('finished');
        expect(await own.open(writer('w'), options)).toEqual(written);
        return own;
      };
      const flushWith = async (feedItems: string[]) => {
        const { frontier } = await crawl().node({ feeds: ['feed-1'], flushOnStart: true });
        await frontier.push([request('a')], 'links');
        await commit(frontier, await takeOne(frontier), undefined, { feedItems });
        return frontier;
      };

      it('has no checkpoint any more: its writer is told, and begins with what comes', async () => {
        const own = await claimed(overwriting);
        await flushWith(['new']);
        await expect(own.read('feed-1', 2, 10)).rejects.toMatchObject({ code: 'feed_rolled_back' });
        await expect(own.checkpoint(writer('w'), earlier, 2)).rejects.toMatchObject({
          code: 'feed_rolled_back',
        });
        expect(await own.open(writer('w'), overwriting)).toBeNull();
        expect(await own.read('feed-1', 0, 10)).toEqual(['new']);
        const written = { sequence: 1, lengthBytes: 4, header: '' };
        await own.checkpoint(writer('w'), written, 0);
        await own.release(writer('w'));
        expect(await own.open(writer('next'), overwriting)).toEqual(written);
      });

      it('has none for whoever follows a writer that died meanwhile', async () => {
        const own = await claimed(overwriting);
        await flushWith(['new']);
        await new Promise((resolve) => setTimeout(resolve, 5));
        expect(await own.open(writer('next', 2 ** 22 + 1), { ...overwriting, staleMs: 1 })).toBeNull();
        expect(await own.read('feed-1', 0, 10)).toEqual(['new']);
      });

      it('keeps it where an item waits, or was written since it was opened', async () => {
        const waits = { ...earlier, sequence: 1 };
        const own = await claimed(overwriting, waits);
        const frontier = await flushWith(['new']);
        expect(await own.read('feed-1', 1, 10)).toEqual(['0b', 'new']);
        await own.checkpoint(writer('w'), { ...earlier, sequence: 3 }, 1);
        await frontier.leave('finished');
        await flushWith(['newer']);
        expect(await own.read('feed-1', 3, 10)).toEqual(['newer']);
      });

      it('keeps it under a writer that appends', async () => {
        const own = await claimed(usual);
        await flushWith(['new']);
        expect(await own.read('feed-1', 2, 10)).toEqual(['new']);
        await own.checkpoint(writer('w'), { sequence: 3, lengthBytes: 12, header: 'h' }, 2);
      });
    });

    it.each(['its writer', 'the next'])(
      'is forgotten with a crawl that is cleared before all is written, once %s has written it',
      async (who) => {
        const { frontier } = await crawl().node({ feeds: ['feed-1'], shape: { persist: false } });
        const own = (await crawl().outsider()).feeds;
        await own.open(writer('w'), usual);
        await own.checkpoint(writer('w'), { sequence: 0, lengthBytes: 4, header: '' });
        await frontier.push([request('a')], 'links');
        await commit(frontier, await takeOne(frontier), undefined, { feedItems: ['one', 'two'] });
        expect(await frontier.leave('finished')).toEqual({ last: true, cleared: true });
        await own.checkpoint(writer('w'), { sequence: 1, lengthBytes: 8, header: '' }, 0);
        if (who === 'the next') {
          await own.release(writer('w'));
          expect(await own.open(writer('w'), usual)).toMatchObject({ sequence: 1 });
        }
        expect(await own.read('feed-1', 1, 10)).toEqual(['two']);
        await own.checkpoint(writer('w'), { sequence: 2, lengthBytes: 12, header: '' }, 1);
        await own.release(writer('w'));
        expect(await own.open(writer('later'), usual)).toBeNull();
      },
    );

    it('is forgotten with a crawl that is cleared when its writer gives it back, or has died', async () => {
      const { frontier } = await crawl().node({ shape: { persist: false } });
      const own = await crawl().outsider();
      const written = { sequence: 0, lengthBytes: 4, header: '' };
      await own.feeds.open(writer('w'), usual);
      await own.feeds.checkpoint(writer('w'), written);
      const dead = { ...writer('dead'), feed: 'feed-2' };
      await own.feeds.open(dead, { staleMs: 1 });
      await own.feeds.checkpoint(dead, written);
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(await frontier.leave('finished')).toEqual({ last: true, cleared: true });
      expect((await own.snapshot()).outbox.map(({ feed }) => feed)).toEqual(['feed-1']);
      await own.feeds.release(writer('w'));
      expect((await own.snapshot()).outbox).toEqual([]);
    });

    it('is nothing any more after a reset: a writer that counted as dead meanwhile has nothing to record', async () => {
      const { frontier } = await crawl().node();
      const written = { sequence: 0, lengthBytes: 4, header: '' };
      await frontier.feeds.open(writer('slow'), { staleMs: 1 });
      await frontier.feeds.checkpoint(writer('slow'), written);
      await new Promise((resolve) => setTimeout(resolve, 5));
      await frontier.clear(['queue', 'failed', 'dupefilter'], { force: true });
      await frontier.feeds.checkpoint(writer('slow'), written, 0);
      expect((await frontier.snapshot()).outbox).toEqual([]);
    });

    it('is begun anew by whoever follows a writer that died after its crawl was cleared', async () => {
      const { frontier } = await crawl().node({ shape: { persist: false } });
      const own = await crawl().outsider();
      const gone = writer('gone', 2 ** 22 + 1);
      await own.feeds.open({ ...gone, host: 'elsewhere' }, { staleMs: 500 });
      await own.feeds.checkpoint(gone, { sequence: 0, lengthBytes: 4, header: '' });
      expect(await frontier.leave('finished')).toEqual({ last: true, cleared: true });
      expect(await own.feeds.open(writer('next'), { staleMs: 0 })).toBeNull();
    });
  });
}
