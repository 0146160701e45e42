/** A request whose node died is processed alone, and given up after three crashes. */
import { describe, expect, it } from 'vitest';
import {
  ALONE_MS,
  type CrashedRequest,
  MAX_CRASHES,
  MAX_CRASHES_AMONG_KILLS,
} from '../../src/frontier/frontier.js';
import { assessNow } from '../../src/frontier/telemetry/assess.js';
import { nodeFacts } from './telemetry-examples.js';
import { beat, type Crawl, commit, type Node, nameOf, request, take, takeOne, until } from './world.js';

const quick = { tunables: { nodeTimeoutMs: 300 } };

export function suspects(crawl: () => Crawl): void {
  describe('a suspect', () => {
    /** A node dies with `names` leased; `peer` recovers them. */
    const crashWith = async (peer: Node, count: number): Promise<void> => {
      const doomed = await crawl().node(quick);
      await take(doomed.frontier, count);
      expect(await crawl().recoverUntil(count, [peer])).toBe(count);
    };

    it('is leased alone, to a node that holds nothing, which gets nothing else until it is settled', async () => {
      const peer = await crawl().node(quick);
      await peer.frontier.push([request('poison')], 'links');
      await crashWith(peer, 1);
      await peer.frontier.push([request('good-1'), request('good-2')], 'links');
      expect(await peer.frontier.snapshot()).toMatchObject({ pending: 3, suspects: 1 });
      const lease = await takeOne(peer.frontier);
      expect(nameOf(lease)).toBe('poison');
      expect((await peer.frontier.lease(5, 1)).leases).toEqual([]);
      await commit(peer.frontier, lease);
      expect((await take(peer.frontier, 2)).map(nameOf)).toEqual(['good-1', 'good-2']);
    });

    it('waits until its volunteer holds nothing, while other nodes go on', async () => {
      const volunteer = await crawl().node(quick);
      const other = await crawl().node(quick);
      await volunteer.frontier.push([request('held'), request('poison')], 'links');
      const held = await takeOne(volunteer.frontier);
      const doomed = await crawl().node(quick);
      await takeOne(doomed.frontier);
      await crawl().recoverUntil(1, [volunteer, other]);
      await other.frontier.push([request('good')], 'links');
      expect((await volunteer.frontier.lease(5, 1)).leases).toEqual([]);
      expect(nameOf(await takeOne(other.frontier))).toBe('good');
      await commit(volunteer.frontier, held);
      expect(nameOf(await takeOne(volunteer.frontier))).toBe('poison');
    });

    it('is leased to a node whose other pages take long, and then it alone is blamed for the death of that node', async ({
      skip,
    }) => {
      const clock = crawl().clockOr(skip);
      const peer = await crawl().node(quick);
      const volunteer = await crawl().node(quick);
      await peer.frontier.push([request('slow-1'), request('slow-2'), request('poison')], 'links');
      await take(volunteer.frontier, 2);
      const doomed = await crawl().node(quick);
      await takeOne(doomed.frontier);
      await crawl().recoverUntil(1, [peer, volunteer]);
      expect((await volunteer.frontier.lease(5, 2)).leases).toEqual([]);
      await volunteer.frontier.telemetry.report(volunteer.joined.incarnation, {
        sequence: 1,
        domains: [],
        events: [],
        node: { ...nodeFacts, slotsUsed: 2 },
      });
      expect(await assessNow(peer.frontier.telemetry, 100)).toMatchObject({
        assessment: { limitedBy: 'suspect' },
      });
      clock.setForward(ALONE_MS);
      await Promise.all([peer, volunteer].map(beat));
      expect((await volunteer.frontier.lease(5, 2)).leases.map(nameOf)).toEqual(['poison']);
      await crawl().recoverUntil(3, [peer]);
      const crashesOf = async (name: string) => (await peer.frontier.inspect(request(name))).crashes;
      expect(await crashesOf('poison')).toBe(2);
      expect([await crashesOf('slow-1'), await crashesOf('slow-2')]).toEqual([0, 0]);
    });

    it('whose own page takes long keeps its node from other work only for a while, and from the next suspect', async ({
      skip,
    }) => {
      const clock = crawl().clockOr(skip);
      const peer = await crawl().node(quick);
      await peer.frontier.push([request('slow'), request('next')], 'links');
      await crashWith(peer, 2);
      await peer.frontier.push([request('good')], 'links');
      const slow = await takeOne(peer.frontier);
      expect((await peer.frontier.lease(5, 1)).leases).toEqual([]);
      clock.setForward(ALONE_MS);
      await beat(peer);
      const good = await takeOne(peer.frontier);
      expect([slow, good].map(nameOf)).toEqual(['slow', 'good']);
      await commit(peer.frontier, good);
      expect((await peer.frontier.lease(5, 1)).leases).toEqual([]);
      await commit(peer.frontier, slow);
      expect(nameOf(await takeOne(peer.frontier))).toBe('next');
    });

    it('counts as one request that may be leased, however many there are, and as none where its domain is full', async () => {
      const peer = await crawl().node({ tunables: { ...quick.tunables, concurrencyPerDomain: 2 } });
      const assessed = async () => (await assessNow(peer.frontier.telemetry, 100))!.assessment;
      const names = ['a', 'b', 'c', 'd'];
      const ofTwo = (name: string, n: number) => request(name, { domain: n < 2 ? 'a.example' : 'b.example' });
      await peer.frontier.push(names.map(ofTwo), 'links');
      await crashWith(peer, 4);
      const report = { sequence: 1, node: { ...nodeFacts, slots: 2, slotsUsed: 0 }, domains: [], events: [] };
      await peer.frontier.telemetry.report(peer.joined.incarnation, report);
      expect(await assessed()).toMatchObject({ leasable: 1, usableSlots: 1, wantedNodes: 1 });
      const suspect = await takeOne(peer.frontier);
      expect(await assessed()).toMatchObject({ limitedBy: 'suspect', leasable: 0, wantedNodes: 1 });
      await commit(peer.frontier, suspect);
      for (const domain of ['a.example', 'b.example'])
        await peer.frontier.throttle(domain, { forMs: 60_000, source: 'retry-after' });
      expect(await assessed()).toMatchObject({ leasable: 0, usableSlots: 0, wantedNodes: 1 });
    });

    it('is one at a time, the others waiting for their turn', async () => {
      const peer = await crawl().node(quick);
      await peer.frontier.push([request('a'), request('b'), request('c')], 'links');
      await crashWith(peer, 3);
      const names: string[] = [];
      for (let n = 0; n < 3; n += 1) {
        const { leases } = await until(
          () => peer.frontier.lease(5, 0),
          (answer) => answer.leases.length > 0,
        );
        expect(leases).toHaveLength(1);
        names.push(nameOf(leases[0]!));
        await commit(peer.frontier, leases[0]!);
      }
      expect(names).toEqual(['a', 'b', 'c']);
    });

    it('is followed by one that any node may take', async () => {
      const first = await crawl().node(quick);
      const other = await crawl().node(quick);
      await first.frontier.push([request('a'), request('b')], 'links');
      const doomed = await crawl().node(quick);
      await take(doomed.frontier, 2);
      await crawl().recoverUntil(2, [first, other]);
      await commit(first.frontier, await takeOne(first.frontier));
      expect((await other.frontier.lease(5, 0)).leases.map(nameOf)).toEqual(['b']);
    });

    it('with fewer crashes comes first', async () => {
      const peer = await crawl().node(quick);
      await peer.frontier.push([request('a'), request('b'), request('c')], 'links');
      await crashWith(peer, 3);
      await crashWith(peer, 1);
      const names: string[] = [];
      for (let n = 0; n < 3; n += 1) {
        const lease = await takeOne(peer.frontier);
        names.push(nameOf(lease));
        await commit(peer.frontier, lease);
      }
      expect(names).toEqual(['b', 'c', 'a']);
    });

    it('finds another volunteer when the first one dies or leaves', async () => {
      const first = await crawl().node(quick);
      const peer = await crawl().node(quick);
      await first.frontier.push([request('held'), request('poison')], 'links');
      await takeOne(first.frontier);
      const doomed = await crawl().node(quick);
      await takeOne(doomed.frontier);
      await crawl().recoverUntil(1, [first, peer]);
      expect((await first.frontier.lease(1, 1)).leases).toEqual([]);
      await first.frontier.leave('shutdown');
      const leases = [await takeOne(peer.frontier)];
      expect(nameOf(leases[0]!)).toBe('poison');
      await commit(peer.frontier, leases[0]!);
      expect(nameOf(await takeOne(peer.frontier))).toBe('held');
    });

    it('is failed as crashed after its last crash, and its good neighbours are not', async () => {
      const peer = await crawl().node(quick);
      const names = ['poison', ...Array.from({ length: 12 }, (_, n) => `good-${n}`)];
      await peer.frontier.push(
        names.map((name) => request(name)),
        'links',
      );
      await crashWith(peer, names.length);
      await crashWith(peer, 1);
      const worker = await crawl().node(quick);
      // The peer stays alive: its death would be a kill that no suspect explains.
      for (let n = 0; n < names.length - 1; n += 1) {
        await Promise.all([beat(peer), commit(worker.frontier, await takeOne(worker.frontier))]);
      }
      await Promise.all([beat(peer), worker.frontier.leave('shutdown')]);
      await crashWith(peer, 1);
      expect(await peer.frontier.snapshot()).toMatchObject({ done: 12, failed: 1, pending: 0, leased: 0 });
      const { requests } = await peer.frontier.failed.list(null, 10);
      expect(requests).toMatchObject([
        { reason: 'crashed', crashes: MAX_CRASHES, record: request('poison').record },
      ]);
    });

    it('is given up later while other nodes are killed too, and then named', async () => {
      const peer = await crawl().node(quick);
      await peer.frontier.push([request('unlucky')], 'links');
      const failed: CrashedRequest[] = [];
      const recover = (count: number) =>
        until(
          async () => {
            // Before, so that a node that falls silent in between is not taken for recovered.
            const live = (await peer.frontier.snapshot()).nodes.length;
            // Sent together, so that not even a busy machine puts the node timeout between them.
            await Promise.all([
              beat(peer),
              peer.frontier.recover(undefined, (request) => void failed.push(request)),
            ]);
            return live;
          },
          (live) => live === count,
        );
      // Nothing that these two process explains their deaths.
      await crawl().node(quick);
      await crawl().node(quick);
      await recover(1);
      for (let crash = 1; crash <= MAX_CRASHES_AMONG_KILLS; crash += 1) {
        expect(failed).toEqual([]);
        const doomed = await crawl().node(quick);
        await takeOne(doomed.frontier);
        await recover(1);
      }
      // It waits until the kills are over, and has one more chance.
      expect(failed).toEqual([]);
      expect(await peer.frontier.inspect(request('unlucky'))).toMatchObject({
        ...{ state: 'delayed', crashes: MAX_CRASHES_AMONG_KILLS },
      });
      expect((await peer.frontier.lease(1, 0)).leases).toEqual([]);
      expect(await (await crawl().outsider()).verify()).toEqual([]);
      await crawl().world.hand!.makeDue(request('unlucky'));
      const last = await crawl().node(quick);
      expect(await takeOne(last.frontier)).toMatchObject({ crashes: MAX_CRASHES_AMONG_KILLS });
      await recover(1);
      const { record } = request('unlucky');
      expect(failed).toMatchObject([{ record, crashes: MAX_CRASHES_AMONG_KILLS + 1 }]);
      expect(await peer.frontier.snapshot()).toMatchObject({ failed: 1, pending: 0, leased: 0 });
    });

    it('whose domain must wait keeps nobody from other work', async () => {
      const peer = await crawl().node(quick);
      await peer.frontier.push([request('poison')], 'links');
      await crashWith(peer, 1);
      await peer.frontier.throttle('a.example', { forMs: 60_000, source: 'retry-after' });
      const good = Array.from({ length: 4 }, (_, n) => request(`good-${n}`, { domain: 'b.example' }));
      await peer.frontier.push(good, 'links');
      // One after the other, with the one before still in progress: nobody empties itself for what cannot be had.
      for (let n = 0; n < good.length; n += 1) {
        expect((await peer.frontier.lease(1, n)).leases.map(nameOf)).toEqual([`good-${n}`]);
      }
      const { waitMs } = await peer.frontier.lease(1, good.length);
      expect(waitMs).toBeGreaterThan(0);
    });

    it('stays polite', async () => {
      const peer = await crawl().node({ tunables: { nodeTimeoutMs: 300, concurrencyPerDomain: 1 } });
      await peer.frontier.push([request('poison')], 'links');
      const doomed = await crawl().node({ tunables: { nodeTimeoutMs: 300, concurrencyPerDomain: 1 } });
      await takeOne(doomed.frontier);
      await crawl().recoverUntil(1, [peer]);
      await peer.frontier.throttle('a.example', { forMs: 200, source: 'retry-after' });
      expect((await peer.frontier.lease(1, 0)).leases).toEqual([]);
      expect(nameOf(await takeOne(peer.frontier))).toBe('poison');
    });
  });
}
