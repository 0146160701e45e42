/** The dupefilter that follows each request's life. */
import { describe, expect, it } from 'vitest';
import type { Dupefilter, Frontier, Outcome } from '../../src/frontier/frontier.js';
import type { InCrawl } from './dupefilters.js';
import { commit, failed, type Node, released, request, retry, takeOne } from './world.js';

const doneAfter = (attempts: number): Outcome => ({ kind: 'done', reason: 'done', status: 200, attempts });

export function state(crawlWith: (dupefilter: Dupefilter) => InCrawl): void {
  const inCrawl = crawlWith({ class: 'StateDupeFilter' });

  describe('a state dupefilter', () => {
    const lifeOf = async (frontier: Frontier, name = 'a') => (await frontier.inspect(request(name))).life;
    const is = (state: string, status: number | null, attempts: number) => ({
      state,
      status,
      attempts,
      atMs: expect.any(Number),
    });

    it(
      'tells state, time, HTTP status and attempts from acceptance to the end',
      inCrawl(async (crawl) => {
        const { frontier } = await crawl.node();
        expect(await lifeOf(frontier)).toBeNull();
        await frontier.push([request('a'), request('late', { delayMs: 60_000 })], 'links');
        const first = await lifeOf(frontier);
        expect(first).toEqual(is('pending', null, 0));
        expect(await lifeOf(frontier, 'late')).toEqual(is('delayed', null, 0));
        const lease = await takeOne(frontier);
        expect(await lifeOf(frontier)).toEqual(is('leased', null, 0));
        await commit(frontier, lease, retry(lease, 1));
        expect(await lifeOf(frontier)).toEqual(is('delayed', 503, 1));
        const second = await takeOne(frontier);
        expect(await lifeOf(frontier)).toEqual(is('leased', 503, 1));
        await commit(frontier, second, released);
        expect(await lifeOf(frontier)).toEqual(is('pending', 503, 1));
        await commit(frontier, await takeOne(frontier), doneAfter(2));
        const last = await lifeOf(frontier);
        expect(last).toEqual(is('done', 200, 2));
        expect(last!.atMs).toBeGreaterThanOrEqual(first!.atMs);
        expect(Math.abs(last!.atMs - Date.now())).toBeLessThan(60_000);
      }),
    );

    it(
      'begins anew when a seed brings the request back, or the failed list does',
      inCrawl(async (crawl) => {
        const { frontier } = await crawl.node();
        await frontier.push([request('a')], 'links');
        await commit(frontier, await takeOne(frontier), doneAfter(1));
        await frontier.push([request('a')], 'seeds');
        expect(await lifeOf(frontier)).toEqual(is('pending', null, 0));
        await commit(frontier, await takeOne(frontier), failed());
        expect(await lifeOf(frontier)).toEqual(is('failed', null, 3));
        expect(await frontier.failed.retry([request('a')])).toBe(1);
        expect(await lifeOf(frontier)).toEqual(is('pending', null, 0));
        await commit(frontier, await takeOne(frontier), { ...failed('404'), status: 404 } as Outcome);
        expect(await lifeOf(frontier)).toEqual(is('failed', 404, 3));
        await frontier.push([request('a')], 'seeds');
        expect(await lifeOf(frontier)).toEqual(is('pending', null, 0));
      }),
    );

    it(
      'has a request whose node died pending again, and failed after the last crash',
      inCrawl(async (crawl) => {
        const quick = { tunables: { nodeTimeoutMs: 300 } };
        const survivor = await crawl.node(quick);
        await survivor.frontier.push([request('a')], 'links');
        for (const expected of ['pending', 'pending', 'failed']) {
          const doomed: Node = await crawl.node(quick);
          await takeOne(doomed.frontier);
          expect(await crawl.recoverUntil(1, [survivor])).toBe(1);
          expect(await lifeOf(survivor.frontier)).toMatchObject({ state: expected, status: null });
        }
      }),
    );

    it(
      'has what a leaving node held pending again, and what a node never got',
      inCrawl(async (crawl) => {
        const leaving = await crawl.node();
        await leaving.frontier.push([request('a')], 'links');
        await takeOne(leaving.frontier);
        await leaving.frontier.leave('shutdown');
        expect(await lifeOf(await crawl.outsider())).toEqual(is('pending', null, 0));
        const { frontier } = await crawl.node();
        await takeOne(frontier);
        expect(await lifeOf(frontier)).toEqual(is('leased', null, 0));
        expect(await frontier.reconcile([], 0)).toEqual({ lost: [], returned: 1 });
        expect(await lifeOf(frontier)).toEqual(is('pending', null, 0));
      }),
    );

    it(
      'knows nothing of requests with dontFilter, and no more of what was forgotten',
      inCrawl(async (crawl) => {
        const { frontier } = await crawl.node();
        const dontFilter = request('a', { dontFilter: true });
        await frontier.push([dontFilter], 'links');
        await commit(frontier, await takeOne(frontier), doneAfter(1));
        expect((await frontier.inspect(dontFilter)).life).toBeNull();
        await frontier.push([request('a')], 'links');
        expect((await frontier.inspect(dontFilter)).life).toBeNull();
        const lease = await takeOne(frontier);
        expect(await frontier.forget(request('a').fingerprint)).toBe(true);
        await commit(frontier, lease, doneAfter(1));
        expect(await lifeOf(frontier)).toBeNull();
        expect((await frontier.snapshot()).seen).toBe(0);
      }),
    );
  });
}
