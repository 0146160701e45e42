/** How a lease ends: all of its effects once, or nothing. */
import { describe, expect, it } from 'vitest';
import { type Lease, MAX_SETTLE_ITEMS, MAX_SETTLE_REQUESTS } from '../../src/frontier/frontier.js';
import {
  type Crawl,
  commit,
  done,
  effects,
  failed,
  nameOf,
  released,
  request,
  retry,
  take,
  takeOne,
} from './world.js';

export function settling(crawl: () => Crawl): void {
  describe('settle', () => {
    it('commits items, requests and counters together with the page', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a')], 'links');
      const answer = await commit(frontier, await takeOne(frontier), undefined, {
        items: ['{"n":1}', '{"n":2}'],
        requests: [request('b'), request('a'), request('c', { domain: 'b.example' }), request('b')],
        stats: { item_scraped_count: 2, 'downloader/response_status_count/200': 1 },
      });
      expect(answer).toMatchObject({ accepted: 2, duplicates: 2 });
      const snapshot = await frontier.snapshot();
      expect(snapshot).toMatchObject({ pending: 2, leased: 0, done: 1, items: 2, accepted: 3, domains: 2 });
      expect(snapshot.counters).toMatchObject({
        item_scraped_count: 2,
        'downloader/response_status_count/200': 1,
      });
      expect(snapshot.nodes[0]).toMatchObject({ leased: 0, pages: 1 });
    });

    it("takes a page's link to itself for a duplicate, also when its fingerprint was forgotten meanwhile", async () => {
      const { frontier } = await crawl().node();
      const page = request('a');
      await frontier.push([page], 'links');
      const lease = await takeOne(frontier);
      await frontier.forget(page.fingerprint);
      const answer = await commit(frontier, lease, undefined, { requests: [page] });
      expect(answer).toMatchObject({ accepted: 0, duplicates: 1, allSeen: false });
      expect(await frontier.snapshot()).toMatchObject({ pending: 0, done: 1 });
    });

    it('adds counters up over pages and nodes', async () => {
      const one = await crawl().node();
      const two = await crawl().node();
      await one.frontier.push([request('a'), request('b')], 'links');
      for (const { frontier } of [one, two]) {
        await commit(frontier, await takeOne(frontier), undefined, { stats: { item_scraped_count: 3 } });
      }
      expect((await one.frontier.snapshot()).counters.item_scraped_count).toBe(6);
    });

    it.each(['items', 'feedItems'] as const)(
      'takes all %s of many pages that end at once, as many as a page may have each',
      async (kind) => {
        const { frontier } = await crawl().node({ feeds: ['feed'] });
        const names = Array.from({ length: 16 }, (_, n) => `page ${n}`);
        await frontier.push(
          names.map((name) => request(name)),
          'links',
        );
        const items = Array.from({ length: MAX_SETTLE_ITEMS }, (_, n) => `${n % 10}`);
        const all = (await take(frontier, names.length)).map((lease) =>
          frontier.settle(lease, done, effects({ items: ['one'], feedItems: ['one'], [kind]: items })),
        );
        for (const answer of await Promise.all(all)) expect(answer).toMatchObject({ committed: true });
        expect(await frontier.snapshot()).toMatchObject({
          items: names.length * (kind === 'items' ? MAX_SETTLE_ITEMS : 1),
          done: names.length,
        });
      },
    );

    it('judges each of the pages that end at once by itself', async () => {
      const { frontier } = await crawl().node({ feeds: ['feed'] });
      await frontier.push(
        ['a', 'b', 'c', 'd', 'e'].map((name) => request(name)),
        'links',
      );
      const [a, b, c, d, e] = (await take(frontier, 5)) as [Lease, Lease, Lease, Lease, Lease];
      const page = (name: string) =>
        effects({
          items: [`"${name}"`],
          feedItems: [`"${name}"`],
          requests: [request(`${name}/1`), request('of all')],
          stats: { item_scraped_count: 1, [`of/${name}`]: 2 },
        });
      const malformed = { ...request('x'), id: 'zz', fingerprint: 'zz' };
      const answers = await Promise.allSettled([
        frontier.settle(a, done, page('a')),
        frontier.settle({ ...b, token: `${b.token}9` }, done, page('b')),
        frontier.settle(c, failed(), page('c')),
        frontier.settle(d, done, effects({ requests: [malformed] })),
        frontier.settle(e, retry(e, 60_000), page('e')),
        frontier.settle(a, done, page('a')),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([
        ...['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
      ]);
      const [ofA, ofB, ofC, , ofE, again] = answers.map((answer) => 'value' in answer && answer.value);
      expect([ofA, ofC, ofE]).toMatchObject([
        { committed: true, accepted: 2, duplicates: 0 },
        { committed: true, accepted: 1, duplicates: 1 },
        { committed: true, accepted: 1, duplicates: 1 },
      ]);
      expect(ofB).toEqual({ committed: false });
      // Whether it is known as the first one sent again, or as one too many, is the engine's; it has no second effect.
      expect([ofA, { committed: false }]).toContainEqual(again);
      const snapshot = await frontier.snapshot();
      expect(snapshot).toMatchObject({ done: 1, failed: 1, delayed: 1, leased: 2, pending: 4, items: 3 });
      expect(snapshot.counters).toMatchObject({ item_scraped_count: 3, 'of/a': 2, 'of/c': 2, 'of/e': 2 });
      expect(snapshot.counters).not.toHaveProperty('of/b');
      expect(await frontier.feeds.read('feed', 0, 10)).toEqual(['"a"', '"c"', '"e"']);
      await Promise.all([b, d].map((lease) => commit(frontier, lease)));
    });

    it('commits pages that end at once as if one by one, also where one links to another that was forgotten', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a'), request('b')], 'links');
      const [a, b] = (await take(frontier, 2)) as [Lease, Lease];
      for (const { fingerprint } of [request('a'), request('b')]) await frontier.forget(fingerprint);
      const answers = await Promise.all([
        commit(frontier, a, done, { requests: [request('b')] }),
        commit(frontier, b, done, { requests: [request('a')] }),
      ]);
      // b was leased when a linked to it; a was done when b did.
      expect(answers.map(({ accepted }) => accepted)).toEqual([0, 1]);
      expect(nameOf(await takeOne(frontier))).toBe('a');
    });

    it('is seen by the lease that is asked for in the same turn', async () => {
      const { frontier } = await crawl().node({ tunables: { concurrencyPerDomain: 1 } });
      await frontier.push([request('a'), request('b', { priority: -1 })], 'links');
      const a = await takeOne(frontier);
      const committed = commit(frontier, a, done, { items: ['{}'], requests: [request('c')] });
      const { leases, crawl: state } = await frontier.lease(5, 0);
      expect(leases.map(nameOf)).toEqual(['c']);
      expect(state.acceptedInRun).toBe(3);
      expect(await committed).toMatchObject({ accepted: 1 });
      expect(await frontier.snapshot()).toMatchObject({ done: 1, leased: 1, pending: 1, items: 1 });
    });

    it('gives each request to one node only', async () => {
      const one = await crawl().node();
      const two = await crawl().node();
      await one.frontier.push(
        Array.from({ length: 40 }, (_, n) => request(`page-${n}`)),
        'links',
      );
      const answers = await Promise.all([one.frontier.lease(30, 0), two.frontier.lease(30, 0)]);
      const ids = answers.flatMap((answer) => answer.leases.map((lease) => lease.id));
      expect(ids).toHaveLength(40);
      expect(new Set(ids).size).toBe(40);
    });

    it('writes nothing for a lease that has ended, or with a token that never was', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a'), request('b')], 'links');
      const [a, b] = await take(frontier, 2);
      await commit(frontier, a!, released);
      const again = await takeOne(frontier);
      expect(again.id).toBe(a!.id);
      expect(again.token).not.toBe(a!.token);
      const late = effects({ items: ['{}'], requests: [request('c')], stats: { x: 1 } });
      const stranger = { ...b!, token: a!.token };
      expect(await frontier.settle(stranger, { kind: 'done', reason: 'done', attempts: 1 }, late)).toEqual({
        committed: false,
      });
      const snapshot = await frontier.snapshot();
      expect(snapshot).toMatchObject({ items: 0, pending: 0, leased: 2, done: 0, seen: 2 });
      expect(snapshot.counters.x).toBeUndefined();
    });

    it('delays a retry and gives it the new record and priority', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a')], 'links');
      const lease = await takeOne(frontier);
      const outcome = { ...retry(lease, 200, -1), record: JSON.stringify({ u: 'a', at: 1 }) };
      await commit(frontier, lease, outcome, { stats: { 'retry/count': 1 } });
      expect(await frontier.snapshot()).toMatchObject({
        pending: 0,
        delayed: 1,
        leased: 0,
        accepted: 1,
        done: 0,
      });
      const inspected = await frontier.inspect(request('a'));
      expect(inspected).toMatchObject({ state: 'delayed', seen: true, record: outcome.record });
      expect(inspected.dueAtMs).toBeGreaterThan(0);
      expect((await takeOne(frontier)).record).toBe(outcome.record);
      expect((await frontier.snapshot()).counters['retry/count']).toBe(1);
    });

    it('keeps failed requests with their reason, oldest first, page by page', async () => {
      const { frontier } = await crawl().node({ id: 'labelled' });
      const names = ['a', 'b', 'c', 'd', 'e'];
      await frontier.push(
        names.map((name) => request(name)),
        'links',
      );
      for (const lease of await take(frontier, 5)) {
        const reason = `reason-${nameOf(lease)}`;
        await commit(frontier, lease, { kind: 'failed', reason, status: 503, attempts: 3, detail: 'why' });
      }
      const first = await frontier.failed.list(null, 3);
      expect(first.requests.map(nameOf)).toEqual(['a', 'b', 'c']);
      expect(first.requests[0]).toMatchObject({
        reason: 'reason-a',
        status: 503,
        attempts: 3,
        crashes: 0,
        detail: 'why',
      });
      expect(first.requests[0]?.node).toContain('labelled');
      expect(first.cursor).not.toBeNull();
      const second = await frontier.failed.list(first.cursor, 3);
      expect(second.requests.map(nameOf)).toEqual(['d', 'e']);
      expect(second.cursor).toBeNull();
    });

    it('keeps the records of failed requests up to the limit, the ids of all', async () => {
      const { frontier } = await crawl().node({ tunables: { failedLimit: 2 } });
      await frontier.push([request('a'), request('b'), request('c')], 'links');
      for (const lease of await take(frontier, 3)) await commit(frontier, lease, failed());
      const { requests } = await frontier.failed.list(null, 10);
      expect(requests).toHaveLength(3);
      expect(requests.filter((entry) => entry.record === null)).toHaveLength(1);
      expect((await frontier.snapshot()).failed).toBe(3);
      expect(await frontier.push([request('c')], 'links')).toEqual({ accepted: 0, duplicates: 1 });
      expect(await frontier.push([request('c')], 'seeds')).toEqual({ accepted: 1, duplicates: 0 });
    });

    it('takes a failed request whose record was dropped for a live one', async () => {
      const { frontier } = await crawl().node({ tunables: { failedLimit: 0 } });
      const odd = request('a', { dontFilter: true });
      await frontier.push([odd, request('b')], 'links');
      for (const lease of await take(frontier, 2)) await commit(frontier, lease, failed());
      await frontier.forget(request('b').fingerprint);
      expect(await frontier.push([odd, request('b')], 'links')).toEqual({ accepted: 0, duplicates: 2 });
      expect(await frontier.count()).toMatchObject({ queue: 0, failed: 2 });
      expect(await frontier.push([odd], 'seeds')).toEqual({ accepted: 1, duplicates: 0 });
      expect(await frontier.count()).toMatchObject({ queue: 1, failed: 1 });
    });

    it('moves failed requests back or out', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a'), request('b'), request('c')], 'links');
      for (const lease of await take(frontier, 3)) await commit(frontier, lease, failed());
      expect(await frontier.failed.retry([request('a'), request('unknown')])).toBe(1);
      expect(await frontier.failed.purge([request('b').id, request('a').id])).toBe(1);
      expect(await frontier.snapshot()).toMatchObject({ pending: 1, failed: 1, removed: 1, accepted: 3 });
      expect(nameOf(await takeOne(frontier))).toBe('a');
    });

    it('takes the largest settle it promises', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a')], 'links');
      const requests = Array.from({ length: MAX_SETTLE_REQUESTS }, (_, n) =>
        request(`page-${n}`, { domain: `${n % 50}.example` }),
      );
      const answer = await commit(frontier, await takeOne(frontier), undefined, { requests });
      expect(answer.accepted).toBe(MAX_SETTLE_REQUESTS);
    });
  });
}
