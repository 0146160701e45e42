/** The stats of the user's own code, and a page that closes the run. */
import { describe, expect, it } from 'vitest';
import type { StatChange } from '../../src/frontier/frontier.js';
import { MAX_STAT_NAME_CHARS, MAX_STAT_TEXT_CHARS } from '../../src/stats/stat-change.js';
import { type Crawl, commit, effects, failed, released, request, retry, take, takeOne } from './world.js';

const inc = (name: string, value = 1): StatChange => ({ name, op: 'inc', value });

export function customStats(crawl: () => Crawl): void {
  describe("stats of the user's own", () => {
    const stats = async () => (await (await crawl().outsider()).snapshot()).custom;

    it('are changed together with the page, in order, over pages and nodes', async () => {
      const one = await crawl().node();
      const two = await crawl().node();
      await one.frontier.push([request('a'), request('b')], 'links');
      const changes: StatChange[] = [
        inc('authors', 3),
        inc('price', 0.1),
        { name: 'longest', op: 'max', value: 17 },
        { name: 'cheapest', op: 'min', value: 2.5 },
        { name: 'last', op: 'set', value: 'Zoë "Z"' },
        inc('both'),
        { name: 'both', op: 'max', value: 10 },
      ];
      await commit(one.frontier, await takeOne(one.frontier), undefined, { custom: changes });
      await commit(two.frontier, await takeOne(two.frontier), undefined, {
        custom: [
          inc('authors', 2),
          inc('price', 0.2),
          { name: 'longest', op: 'max', value: 4 },
          { name: 'cheapest', op: 'min', value: -1e21 },
          { name: 'last', op: 'set', value: '12' },
          inc('both'),
        ],
      });
      const after = { authors: 5, price: 0.1 + 0.2, longest: 17, cheapest: -1e21, last: '12', both: 11 };
      expect(await stats()).toEqual(after);
      expect((await one.frontier.snapshot()).counters).not.toHaveProperty('custom/authors');
    });

    it('are changed once by a settle that is sent again, and not by one whose lease was lost', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a')], 'links');
      const lease = await takeOne(frontier);
      const some = effects({ custom: [inc('pages')] });
      await frontier.settle(lease, failed(), some);
      await frontier.settle(lease, failed(), some);
      await frontier.settle({ ...lease, token: 'another' }, failed(), some);
      expect(await stats()).toEqual({ pages: 1 });
    });

    it('have nothing to do with the counters and budgets of the crawl, whatever their names', async () => {
      const { frontier } = await crawl().node({ budgets: { maxItems: 1 } });
      await frontier.push([request('a')], 'links');
      const custom = [inc('item_scraped_count', 5), inc('__proto__', 2)];
      await commit(frontier, await takeOne(frontier), undefined, { custom });
      const snapshot = await frontier.snapshot();
      expect(snapshot.counters.item_scraped_count).toBeUndefined();
      expect(Object.entries(snapshot.custom).sort()).toEqual([
        ['__proto__', 2],
        ['item_scraped_count', 5],
      ]);
      expect((await frontier.lease(0, 0)).crawl.closing).toBeNull();
    });

    it('begin anew as a number after a text, and take no number that is none', async () => {
      const outsider = await crawl().outsider();
      await outsider.push([request('a')], 'links');
      await outsider.addStats([
        { name: 'a', op: 'set', value: 'text' },
        inc('a', 4),
        { name: 'b', op: 'inc', value: Number.NaN },
        { name: 'c', op: 'max', value: 'text' },
        { name: 'd', op: 'set', value: 1e308 },
        inc('d', 1e308),
        { name: 'x'.repeat(1_000), op: 'set', value: 'y'.repeat(100_000) },
      ]);
      expect(await stats()).toEqual({
        a: 4,
        d: 1e308,
        ['x'.repeat(MAX_STAT_NAME_CHARS)]: 'y'.repeat(MAX_STAT_TEXT_CHARS),
      });
    });

    it('change outside of pages too, but make no crawl', async () => {
      const outsider = await crawl().outsider();
      await outsider.addStats([inc('opened')]);
      expect(await stats()).toEqual({});
      await outsider.push([request('a')], 'links');
      await outsider.addStats([inc('opened')]);
      await outsider.addStats([inc('opened')]);
      expect(await stats()).toEqual({ opened: 2 });
    });

    it('are reset with the counters', async () => {
      const outsider = await crawl().outsider();
      await outsider.push([request('a')], 'links');
      await outsider.addStats([inc('opened')]);
      await outsider.clear(['stats'], { force: false });
      expect(await outsider.snapshot()).toMatchObject({ custom: {}, counters: {} });
    });
  });

  describe('a page that closes the run', () => {
    const closing = async () => (await (await crawl().outsider()).snapshot()).run?.closed;

    it('is committed, and no node leases any more', async () => {
      const one = await crawl().node();
      const two = await crawl().node();
      await one.frontier.push([request('a'), request('b'), request('c')], 'links');
      const [first, second] = await take(one.frontier, 2);
      await commit(one.frontier, first!, undefined, { items: ['{}'], closing: 'bandwidth_exceeded' });
      const answer = await two.frontier.lease(5, 0);
      expect(answer).toMatchObject({ leases: [], crawl: { closing: 'bandwidth_exceeded' } });
      await commit(one.frontier, second!, undefined, { closing: 'another' });
      await one.frontier.leave('bandwidth_exceeded');
      await two.frontier.leave('bandwidth_exceeded');
      expect(await closing()).toBe('bandwidth_exceeded');
      const next = await crawl().node();
      expect(next.joined).toMatchObject({ justClosed: null, found: { pending: 1 } });
    });

    it('closes nothing when its lease was lost', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a')], 'links');
      const lease = await takeOne(frontier);
      await commit(frontier, lease, released);
      await frontier.settle(lease, retry(lease, 1), effects({ closing: 'too late' }));
      expect(await closing()).toBeNull();
    });
  });
}
