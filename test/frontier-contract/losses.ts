/** Requests whose records vanished: they stay lost until somebody accepts that, and the counters add up all the while. */
import { describe, expect, it } from 'vitest';
import type { JoinChoice } from '../helpers/joining.js';
import { type Crawl, commit, request, take, until } from './world.js';

export function losses(crawl: () => Crawl): void {
  describe('lost requests', () => {
    /** A crawl with one page done and one lost, in a run that has ended. */
    const endedWithLoss = async (choice: JoinChoice = {}) => {
      const { frontier } = await crawl().node(choice);
      await frontier.push([request('good'), request('gone')], 'links');
      await crawl().world.hand!.deleteRecord(request('gone'));
      for (const lease of await take(frontier, 1)) await commit(frontier, lease);
      const { crawl: state } = await until(
        () => frontier.lease(1, 0),
        ({ crawl: { lost } }) => lost === 1,
      );
      expect(state).toMatchObject({ finished: true, lost: 1 });
      expect(await frontier.leave('requests_lost')).toMatchObject({ last: true, cleared: false });
      return crawl().world.client(choice.shape);
    };

    it('are counted as removed once somebody accepts them, once, and every request stays accounted for', async () => {
      const frontier = await endedWithLoss();
      expect(await frontier.acceptLosses()).toBe(1);
      expect(await frontier.acceptLosses()).toBe(0);
      expect(await frontier.snapshot()).toMatchObject({ accepted: 2, done: 1, removed: 1, lost: 0 });
      expect(await frontier.verify()).toEqual([]);
    });

    it('are still there for the next node, which is told so, until then', async () => {
      const frontier = await endedWithLoss();
      const next = await crawl().node();
      expect(next.joined.found).toMatchObject({ lost: 1 });
      await frontier.acceptLosses();
      expect((await next.frontier.lease(1, 0)).crawl).toMatchObject({ finished: true, lost: 0 });
    });

    it('stay lost through a repair, also where the number of accepted requests was lost too', async () => {
      const frontier = await endedWithLoss();
      await crawl().world.hand!.setAccepted(0);
      await frontier.repair(() => ({ domain: 'a.example', priority: 0, acceptedAtMs: 0 }), { force: false });
      expect(await frontier.snapshot()).toMatchObject({ accepted: 2, done: 1, lost: 1 });
      expect(await frontier.verify()).toEqual([]);
    });

    it('keep a crawl that does not persist, which is cleared when they are accepted', async () => {
      const frontier = await endedWithLoss({ shape: { persist: false } });
      expect(await frontier.snapshot()).toMatchObject({ accepted: 2, lost: 1 });
      expect(await frontier.acceptLosses()).toBe(1);
      expect(await frontier.snapshot()).toMatchObject({ accepted: 0, seen: 0, lost: 0 });
      expect(await frontier.verify()).toEqual([]);
    });

    it('of a crawl that does not persist are only counted as removed while a node lives', async () => {
      const frontier = await endedWithLoss({ shape: { persist: false } });
      const next = await crawl().node({ shape: { persist: false } });
      expect(await frontier.acceptLosses()).toBe(1);
      expect(await frontier.snapshot()).toMatchObject({ accepted: 2, removed: 1, lost: 0 });
      expect(await next.frontier.leave('finished')).toMatchObject({ cleared: true });
    });

    it('of a crawl that never was are none', async () => {
      expect(await (await crawl().outsider()).acceptLosses()).toBe(0);
    });
  });
}
