/** Feed files that are not as the crawl has left them: the store knows of it until that is mended or accepted. */
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { FeedWriter } from '../../src/feed-outbox.js';
import { type Crawl, commit, request, takeOne } from './world.js';

const writer = (owner: string): FeedWriter => ({
  ...{ feed: 'feed-1', host: hostname(), path: '/data/out.jsonl', pid: process.pid, owner, format: 'jsonl' },
});
const usual = { staleMs: 30_000 };
const gone = { what: 'was removed', items: 2 };

export function changedFeeds(crawl: () => Crawl): void {
  describe('a feed file that has lost items', () => {
    /** A crawl that is finished, with three items of which two are written, and a writer that has left. */
    const lost = async (written = 2, shape = {}) => {
      const node = await crawl().node({ feeds: ['feed-1'], shape });
      await node.frontier.push([request('a')], 'links');
      await commit(node.frontier, await takeOne(node.frontier), undefined, { feedItems: ['1', '2', '3'] });
      const { feeds } = await crawl().outsider();
      await feeds.open(writer('w'), usual);
      const checkpoint = { sequence: written, lengthBytes: written * 2, header: 'h', end: 'digest' };
      await feeds.checkpoint(writer('w'), checkpoint, 0);
      await feeds.noteChange('feed-1', gone);
      return { frontier: node.frontier, feeds, checkpoint };
    };
    const change = async () => (await (await crawl().outsider()).snapshot()).outbox[0]?.change;

    it('is known as such to every client, also after its writer has left, and the greater loss is kept', async () => {
      const { feeds } = await lost();
      await feeds.release(writer('w'));
      expect(await change()).toEqual(gone);
      await feeds.noteChange('feed-1', { what: 'was cut', items: 1 });
      expect(await change()).toEqual(gone);
      await feeds.noteChange('feed-1', { what: 'was replaced', items: 3 });
      expect(await change()).toEqual({ what: 'was replaced', items: 3 });
    });

    it('is sound again once a writer sends a checkpoint, and not when it only opens and releases it', async () => {
      const { feeds, checkpoint } = await lost();
      await feeds.release(writer('w'));
      expect(await feeds.open(writer('next'), usual)).toEqual(checkpoint);
      await feeds.release(writer('next'));
      expect(await change()).toEqual(gone);
      await feeds.open(writer('next'), usual);
      await feeds.checkpoint(writer('next'), checkpoint, checkpoint.sequence);
      expect(await change()).toBeNull();
    });

    it('is begun anew behind the items that it had, once somebody accepts the loss, and gets those that wait', async () => {
      const { frontier, feeds, checkpoint } = await lost();
      await feeds.release(writer('w'));
      await frontier.acceptLosses();
      expect(await change()).toBeNull();
      expect((await frontier.snapshot()).outbox).toMatchObject([{ waiting: 1 }]);
      expect(await feeds.open(writer('next'), usual)).toEqual({ ...checkpoint, isGivenUp: true });
      expect(await feeds.read('feed-1', 2, 10)).toEqual(['3']);
      await feeds.checkpoint(writer('next'), { sequence: 2, lengthBytes: 0, header: '' }, 2);
      await feeds.release(writer('next'));
      expect(await feeds.open(writer('later'), usual)).toEqual({ sequence: 2, lengthBytes: 0, header: '' });
    });

    it('is forgotten once somebody accepts the loss, where nothing waits for it', async () => {
      const { frontier, feeds } = await lost(3);
      await feeds.release(writer('w'));
      await frontier.acceptLosses();
      expect((await frontier.snapshot()).outbox).toEqual([]);
      expect(await feeds.open(writer('next'), usual)).toBeNull();
    });

    it('outlives a crawl that is cleared when it is finished, also under a node of the next one', async () => {
      const { frontier, feeds, checkpoint } = await lost(3, { persist: false });
      await feeds.release(writer('w'));
      expect(await frontier.leave('finished')).toMatchObject({ cleared: true });
      expect(await change()).toEqual(gone);
      expect(await feeds.open(writer('next'), usual)).toEqual(checkpoint);
      await feeds.release(writer('next'));
      expect(await change()).toEqual(gone);
      await frontier.acceptLosses();
      expect((await frontier.snapshot()).outbox).toEqual([]);
    });

    it.each([['queue'], ['dupefilter'], ['items']] as const)(
      'is forgotten with a reset of: %s',
      async (part) => {
        const { frontier, feeds } = await lost(3);
        await feeds.release(writer('w'));
        await frontier.clear([part], { force: true });
        expect((await frontier.snapshot()).outbox).toEqual([]);
      },
    );

    it('is accepted with a reset, and what waits for it stays', async () => {
      const { frontier, feeds } = await lost();
      await feeds.release(writer('w'));
      await frontier.clear(['queue', 'failed', 'dupefilter'], { force: true });
      expect((await frontier.snapshot()).outbox).toMatchObject([{ waiting: 1, change: null }]);
      expect(await feeds.open(writer('next'), usual)).toMatchObject({ sequence: 2, isGivenUp: true });
    });

    it('of which the store knows nothing is not recorded', async () => {
      const { feeds, snapshot } = await crawl().outsider();
      await feeds.noteChange('feed-1', gone);
      expect((await snapshot()).outbox).toEqual([]);
    });
  });

  describe('a feed file whose writer has left', () => {
    it('is its user’s once the crawl is finished, and part of the crawl before', async () => {
      const { frontier } = await crawl().node({ feeds: ['feed-1'] });
      await frontier.push([request('a')], 'links');
      const { feeds } = await crawl().outsider();
      const seenAtMs = async () => (await frontier.snapshot()).outbox[0]?.seenAtMs;
      await feeds.open(writer('w'), usual);
      await feeds.checkpoint(writer('w'), { sequence: 0, lengthBytes: 0, header: '' });
      await feeds.release(writer('w'));
      expect(await seenAtMs()).toBeGreaterThan(0);
      await commit(frontier, await takeOne(frontier));
      await feeds.open(writer('w'), usual);
      await feeds.release(writer('w'));
      expect(await seenAtMs()).toBe(0);
    });
  });
}
