/** The outbox of an item pipeline: committed items with ids, for the one node that calls the pipeline. */
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { RefusedError } from '../../src/errors.js';
import { type FeedWriter, pipelineOutboxId } from '../../src/feed-outbox.js';
import { allParts } from '../../src/frontier/frontier.js';
import { type Crawl, commit, request, take, takeOne } from './world.js';

const store = pipelineOutboxId('pipelines/store.ts');
const mail = pipelineOutboxId('pipelines/mail.ts');
const usual = { staleMs: 30_000 };

const caller = (owner: string, pid = process.pid): FeedWriter => ({
  ...{ feed: store, host: hostname(), path: './pipelines/store.ts', pid, owner },
});
const reached = (sequence: number) => ({ sequence, lengthBytes: 0, header: '' });

export function pipelineOutboxes(crawl: () => Crawl): void {
  describe('the outbox of a pipeline', () => {
    /** A node that has committed two items of each of so many pages. */
    const committed = async (pages: number, feeds: readonly string[] = [store]) => {
      const { frontier } = await crawl().node({ feeds });
      const requests = Array.from({ length: pages }, (_, n) => request(`page-${n}`));
      await frontier.push(requests, 'links');
      const leases = await take(frontier, pages);
      for (const [n, lease] of leases.entries()) {
        const feedItems = [`{"page":${n},"part":"a"}`, `{"page":${n},"part":"b"}`];
        await commit(frontier, lease, undefined, { feedItems });
      }
      return { frontier, ids: leases.map(({ id }) => id) };
    };

    it('has each committed item once, in the order of the commits, under an id of its request and its number', async () => {
      const { frontier, ids } = await committed(2, [store, mail, 'feed-1']);
      const expected = ids.flatMap((id, page) => [
        { id: `${id}-1`, item: { page, part: 'a' } },
        { id: `${id}-2`, item: { page, part: 'b' } },
      ]);
      for (const outbox of [store, mail]) {
        const texts = await frontier.feeds.read(outbox, 0, 10);
        expect(texts.map((text) => JSON.parse(text))).toEqual(expected);
      }
      const asTheyAre = await frontier.feeds.read('feed-1', 0, 10);
      expect(asTheyAre.map((text) => JSON.parse(text))).toEqual(expected.map(({ item }) => item));
    });

    it('has an item under the id that its settle gives it', async () => {
      const { frontier } = await crawl().node({ feeds: [store] });
      await frontier.push([request('file')], 'links');
      const itemIds = [`${'ab'.repeat(20)}-7`, `${'cd'.repeat(20)}-12`];
      await commit(frontier, await takeOne(frontier), undefined, {
        feedItems: ['{"a":1}', '{"b":2}'],
        itemIds,
      });
      const texts = await frontier.feeds.read(store, 0, 10);
      expect(texts.map((text) => JSON.parse(text))).toEqual([
        { id: itemIds[0], item: { a: 1 } },
        { id: itemIds[1], item: { b: 2 } },
      ]);
    });

    it('gets nothing of a page whose lease was lost', async () => {
      const { frontier } = await crawl().node({ feeds: [store] });
      await frontier.push([request('a')], 'links');
      const lease = await takeOne(frontier);
      const effects = { items: [], feedItems: ['{}'], requests: [], stats: {} };
      const stale = { ...lease, token: `${lease.token}0` };
      const answer = await frontier.settle(stale, { kind: 'done', reason: 'done', attempts: 1 }, effects);
      expect(answer).toEqual({ committed: false });
      expect(await frontier.feeds.waiting(store)).toBe(0);
    });

    it('says how many items wait, before a node calls the pipeline and while one does', async () => {
      const { frontier } = await committed(2);
      expect(await frontier.feeds.waiting(store)).toBe(4);
      expect(await frontier.feeds.waiting(mail)).toBe(0);
      await frontier.feeds.open(caller('one'), usual);
      await frontier.feeds.checkpoint(caller('one'), reached(3), 0);
      expect(await frontier.feeds.waiting(store)).toBe(1);
    });

    it('is called by one node, and by another one from the checkpoint on when that node is gone', async () => {
      const { frontier } = await committed(2);
      await frontier.feeds.open(caller('dead', 2 ** 22 + 1), usual);
      await frontier.feeds.checkpoint(caller('dead', 2 ** 22 + 1), reached(3), 0);
      const other = await crawl().world.client();
      expect(await other.feeds.open(caller('two'), usual)).toMatchObject({ sequence: 3 });
      expect(await other.feeds.read(store, 3, 10)).toHaveLength(1);
      await expect(frontier.feeds.open(caller('three'), usual)).rejects.toThrow(RefusedError);
      await expect(frontier.feeds.checkpoint(caller('dead'), reached(4), 3)).rejects.toThrow(RefusedError);
    });

    it('keeps a crawl from being finished until its items are accepted', async () => {
      const { frontier } = await committed(1);
      const finished = async () => (await frontier.lease(0, 0)).crawl.finished;
      expect(await finished()).toBe(false);
      await frontier.feeds.open(caller('one'), usual);
      await frontier.feeds.checkpoint(caller('one'), reached(1), 0);
      expect(await finished()).toBe(false);
      await frontier.feeds.checkpoint(caller('one'), reached(2), 1);
      expect(await finished()).toBe(true);
    });

    it('does not concern a node without the pipeline', async () => {
      const { frontier } = await committed(1);
      const other = await crawl().node({ id: 'two' });
      expect((await other.frontier.lease(0, 0)).crawl.finished).toBe(true);
      expect((await frontier.lease(0, 0)).crawl.finished).toBe(false);
    });

    it('keeps a crawl that does not persist from being cleared by a node that left too early', async () => {
      const { frontier } = await crawl().node({ feeds: [store], shape: { persist: false } });
      await frontier.push([request('a')], 'links');
      await commit(frontier, await takeOne(frontier), undefined, { feedItems: ['{"n":1}'] });
      expect(await frontier.leave('finished')).toEqual({ last: true, cleared: false });
      const outsider = await crawl().outsider();
      expect(await outsider.snapshot()).toMatchObject({ done: 1, outbox: [{ feed: store, waiting: 1 }] });
    });

    it('survives a reset that keeps the items, and ends with one that does not', async () => {
      const { frontier, ids } = await committed(1);
      await frontier.leave('shutdown');
      const outsider = await crawl().outsider();
      const parts = allParts.filter((part) => part !== 'items');
      await outsider.clear(parts, { force: false });
      expect(await outsider.feeds.open(caller('one'), usual)).toBeNull();
      const texts = await outsider.feeds.read(store, 0, 10);
      expect(texts.map((text) => JSON.parse(text).id)).toEqual([`${ids[0]}-1`, `${ids[0]}-2`]);
      await outsider.clear(allParts, { force: false });
      expect(await outsider.feeds.waiting(store)).toBe(0);
    });
  });
}
