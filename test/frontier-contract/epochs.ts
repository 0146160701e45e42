/** What a node may keep to itself about links it knows to be seen, and how it hears that it knows no more. */
import { describe, expect, it } from 'vitest';
import { type Crawl, commit, done, effects, request, take, takeOne } from './world.js';

export function epochs(crawl: () => Crawl): void {
  describe('withheld links', () => {
    it('are counted as filtered while nothing has been forgotten', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a'), request('b')], 'links');
      const links = [request('x'), request('a')];
      const first = await commit(frontier, await takeOne(frontier), done, { requests: links });
      expect(first).toMatchObject({ accepted: 1, duplicates: 1, allSeen: true });
      const withheld = { count: 2, epoch: first.epoch };
      const second = await commit(frontier, await takeOne(frontier), done, { withheld });
      expect(second).toMatchObject({ accepted: 0, duplicates: 0, epoch: first.epoch });
      expect((await frontier.snapshot()).counters['dupefilter/filtered']).toBe(3);
    });

    it('are refused once a fingerprint was forgotten, with nothing written, and the page is settled with all of them', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a'), request('b')], 'links');
      const { epoch } = await commit(frontier, await takeOne(frontier), done, { requests: [] });
      const lease = await takeOne(frontier);
      const outsider = await crawl().outsider();
      expect(await outsider.forget(request('a').fingerprint)).toBe(true);

      const page = effects({ items: ['{}'], stats: { x: 1 } });
      const refused = await frontier.settle(lease, done, { ...page, withheld: { count: 1, epoch } });
      expect(refused).toEqual({ committed: false, resend: true });
      expect(await frontier.snapshot()).toMatchObject({ leased: 1, done: 1, items: 0 });
      const whole = await commit(frontier, lease, done, { ...page, requests: [request('a')] });
      expect(whole).toMatchObject({ accepted: 1, allSeen: true });
      expect(whole.epoch).not.toBe(epoch);
      const snapshot = await frontier.snapshot();
      expect(snapshot).toMatchObject({ leased: 0, done: 2, items: 1, pending: 1 });
      expect(snapshot.counters).toMatchObject({ x: 1 });
      expect(snapshot.counters['dupefilter/filtered']).toBeUndefined();
    });

    it('are refused for each page that is settled after a forgetting, whatever was asked in the same turn', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a'), request('b'), request('c')], 'links');
      const { epoch } = await commit(frontier, await takeOne(frontier));
      const [one, two] = await take(frontier, 2);
      const page = effects({ withheld: { count: 1, epoch } });
      const [first, , second] = await Promise.all([
        frontier.settle(one!, done, page),
        frontier.forget(request('a').fingerprint),
        frontier.settle(two!, done, page),
      ]);
      let accepted = 0;
      for (const [lease, answer] of [[one!, first] as const, [two!, second] as const]) {
        if (answer.committed) expect(answer.epoch).toBe(epoch);
        else {
          expect(answer.resend).toBe(true);
          accepted += (await commit(frontier, lease, done, { requests: [request('a')] })).accepted;
        }
      }
      expect(await frontier.snapshot()).toMatchObject({ done: 3, pending: accepted });
      expect(accepted).toBeLessThanOrEqual(1);
    });

    it('are refused for the page that withheld them, not for one that is settled at the same time', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a'), request('b'), request('c')], 'links');
      const { epoch } = await commit(frontier, await takeOne(frontier));
      const [b, c] = await take(frontier, 2);
      await (await crawl().outsider()).forget(request('a').fingerprint);
      const [refused, committed] = await Promise.all([
        frontier.settle(b!, done, effects({ withheld: { count: 1, epoch } })),
        frontier.settle(c!, done, effects({ requests: [request('a')] })),
      ]);
      expect(refused).toEqual({ committed: false, resend: true });
      expect(committed).toMatchObject({ committed: true, accepted: 1 });
      const again = await commit(frontier, b!, done, { requests: [request('a')] });
      expect(again).toMatchObject({ accepted: 0, duplicates: 1 });
    });

    it('are refused once the dupefilter was reset', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a'), request('b')], 'links');
      const { epoch } = await commit(frontier, await takeOne(frontier));
      const lease = await takeOne(frontier);
      await (await crawl().outsider()).clear(['dupefilter'], { force: true });
      const withheld = { count: 1, epoch };
      expect(await frontier.settle(lease, done, effects({ withheld }))).toMatchObject({ resend: true });
      expect(await commit(frontier, lease, done, { requests: [request('a')] })).toMatchObject({
        accepted: 1,
      });
    });

    it('are refused in a crawl that began anew, as its epoch is another', async () => {
      const one = await crawl().node();
      await one.frontier.push([request('a')], 'links');
      const { epoch } = await commit(one.frontier, await takeOne(one.frontier));
      await one.frontier.leave('finished');
      const parts = ['queue', 'dupefilter', 'failed'] as const;
      await (await crawl().outsider()).clear(parts, { force: false });

      const two = await crawl().node();
      await two.frontier.push([request('b')], 'links');
      const lease = await takeOne(two.frontier);
      const withheld = { count: 1, epoch };
      expect(await two.frontier.settle(lease, done, effects({ withheld }))).toMatchObject({ resend: true });
      await commit(two.frontier, lease);
    });

    it('are not refused for a lease that is lost: nothing is sent again for it', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a')], 'links');
      const lease = await takeOne(frontier);
      await commit(frontier, lease);
      const stranger = { ...lease, token: `${lease.token}0` };
      const withheld = { count: 1, epoch: 'another' };
      expect(await frontier.settle(stranger, done, effects({ withheld }))).toEqual({ committed: false });
    });
  });

  describe('the answer to a settle', () => {
    it('says when a link is live but not seen, which no node may take for seen', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a'), request('b')], 'links');
      const lease = await takeOne(frontier);
      await frontier.forget(request('b').fingerprint);
      const links = [request('b'), request('c'), request('c')];
      const answer = await commit(frontier, lease, done, { requests: links });
      expect(answer).toMatchObject({ accepted: 1, duplicates: 2, allSeen: false });
    });

    it('takes links with dontFilter for what they are: never seen, and no reason to distrust the others', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a')], 'links');
      const links = [request('u', { dontFilter: true }), request('u', { dontFilter: true }), request('c')];
      const answer = await commit(frontier, await takeOne(frontier), done, { requests: links });
      expect(answer).toMatchObject({ accepted: 2, duplicates: 1, allSeen: true });
    });
  });
}
