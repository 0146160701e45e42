/** Nodes fall silent, wake up too late, lose replies. */
import { describe, expect, it } from 'vitest';
import { IncarnationDeadError } from '../../src/errors.js';
import { type Crawl, commit, done, effects, nameOf, request, take, takeOne, until } from './world.js';

const HOUR_MS = 3_600_000;
const quick = { tunables: { nodeTimeoutMs: 300 } };

export function recovery(crawl: () => Crawl): void {
  describe('recovery', () => {
    it('hands the lease of a node that fell silent to another', async () => {
      const silent = await crawl().node(quick);
      const peer = await crawl().node(quick);
      await peer.frontier.push([request('a')], 'links');
      const lost = await takeOne(silent.frontier);
      expect(await crawl().recoverUntil(1, [peer])).toBe(1);
      const lease = await takeOne(peer.frontier);
      expect(lease).toMatchObject({ id: lost.id, crashes: 1, record: lost.record, domain: lost.domain });
      expect(lease.token).not.toBe(lost.token);
      await commit(peer.frontier, lease);
      expect(await peer.frontier.snapshot()).toMatchObject({ done: 1, leased: 0, pending: 0 });
    });

    it('takes no node for dead when the clock of the store is set forward', async ({ skip }) => {
      const clock = crawl().clockOr(skip);
      const busy = await crawl().node();
      const peer = await crawl().node();
      await peer.frontier.push([request('a')], 'links');
      const lease = await takeOne(busy.frontier);
      clock.setForward(HOUR_MS);
      await peer.frontier.lease(0, 0);
      expect(await peer.frontier.recover()).toBe(0);
      await commit(busy.frontier, lease);
      expect(await peer.frontier.snapshot()).toMatchObject({ done: 1, silent: [] });
    });

    it('says which node died, and how many of its requests went back', async () => {
      const silent = await crawl().node({ ...quick, id: 'silent' });
      await crawl().node({ ...quick, id: 'idle' });
      const peer = await crawl().node(quick);
      await peer.frontier.push([request('a'), request('b'), request('c')], 'links');
      await take(silent.frontier, 2);
      const died: [string, number][] = [];
      await until(
        async () => {
          await peer.frontier.heartbeat(peer.joined.incarnation, 0);
          await peer.frontier.recover((node, requests) => void died.push([node, requests]));
          return died.length;
        },
        (count) => count === 2,
      );
      expect(died.sort()).toEqual([
        ['idle', 0],
        ['silent', 2],
      ]);
    });

    it('gives a node that was declared dead nothing more, and takes nothing from it', async () => {
      const silent = await crawl().node(quick);
      const peer = await crawl().node(quick);
      await peer.frontier.push([request('a')], 'links');
      const lost = await takeOne(silent.frontier);
      await crawl().recoverUntil(1, [peer]);
      const late = await silent.frontier.settle(
        lost,
        done,
        effects({ items: ['{}'], requests: [request('b')] }),
      );
      expect(late).toEqual({ committed: false });
      await expect(silent.frontier.lease(1, 0)).rejects.toThrow(IncarnationDeadError);
      const [settled, leased] = await Promise.allSettled([
        silent.frontier.settle(lost, done, effects({ items: ['{}'] })),
        silent.frontier.lease(1, 0),
      ]);
      expect(settled).toMatchObject({ value: { committed: false } });
      expect(leased).toMatchObject({ reason: expect.any(IncarnationDeadError) });
      const beat = await peer.frontier.heartbeat(silent.joined.incarnation, 0);
      expect(beat).toBe('dead');
      expect(await peer.frontier.snapshot()).toMatchObject({ items: 0, pending: 1, done: 0, accepted: 1 });
      expect((await peer.frontier.snapshot()).nodes.map((node) => node.id)).toEqual([
        peerId(peer.joined.incarnation),
      ]);
    });

    it('lets a node that was declared dead join anew', async () => {
      const silent = await crawl().node(quick);
      const peer = await crawl().node(quick);
      await peer.frontier.push([request('a')], 'links');
      await takeOne(silent.frontier);
      await crawl().recoverUntil(1, [peer]);
      const again = await crawl().join(silent.frontier, quick);
      expect(again.incarnation).not.toBe(silent.joined.incarnation);
      await commit(silent.frontier, await takeOne(silent.frontier));
    });

    it('leaves nodes that beat alone', async () => {
      const node = await crawl().node(quick);
      await node.frontier.push([request('a')], 'links');
      const lease = await takeOne(node.frontier);
      expect(await node.frontier.heartbeat(node.joined.incarnation, 2)).toBe('alive');
      expect(await node.frontier.recover()).toBe(0);
      await commit(node.frontier, lease);
      expect((await node.frontier.snapshot()).nodes[0]).toMatchObject({ pagesPerSecond: 2 });
    });

    it('moves many leases in bounded steps until none is left', async () => {
      const silent = await crawl().node(quick);
      const peer = await crawl().node(quick);
      await peer.frontier.push(
        Array.from({ length: 250 }, (_, n) => request(`page-${n}`, { domain: `${n % 5}.example` })),
        'links',
      );
      await take(silent.frontier, 250);
      expect(await crawl().recoverUntil(250, [peer])).toBe(250);
      expect(await peer.frontier.snapshot()).toMatchObject({ leased: 0, pending: 250, suspects: 250 });
    });

    it('returns the leases of a node that leaves, uncounted and in their old place', async () => {
      const leaver = await crawl().node();
      const peer = await crawl().node();
      await peer.frontier.push([request('a'), request('b')], 'links');
      await takeOne(leaver.frontier);
      expect(await leaver.frontier.leave('shutdown')).toEqual({ last: false, cleared: false });
      const leases = await take(peer.frontier, 2);
      expect(leases.map(nameOf)).toEqual(['a', 'b']);
      expect(leases.map((lease) => lease.crashes)).toEqual([0, 0]);
    });
  });

  describe('reconcile', () => {
    it('puts the best request of a domain back before the others', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('low'), request('high', { priority: 5 })], 'links');
      expect(nameOf(await takeOne(frontier))).toBe('high');
      expect(await frontier.reconcile([], 0)).toEqual({ lost: [], returned: 1 });
      expect(await frontier.verify()).toEqual([]);
      expect(nameOf(await takeOne(frontier))).toBe('high');
    });

    it('returns leases the node does not hold, and names those the store does not know', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a'), request('b'), request('c')], 'links');
      const [a, b, c] = await take(frontier, 3);
      await commit(frontier, c!);
      expect(await frontier.reconcile([a!, b!], 0)).toEqual({ lost: [], returned: 0 });
      expect(await frontier.reconcile([a!, c!], 0)).toEqual({ lost: [c!.id], returned: 1 });
      const again = await takeOne(frontier);
      expect(again).toMatchObject({ id: b!.id, crashes: 0 });
      expect(await frontier.settle(b!, done, effects({}))).toEqual({ committed: false });
    });

    it('leaves leases alone that are younger than the grace time', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a')], 'links');
      const lease = await takeOne(frontier);
      expect(await frontier.reconcile([], 60_000)).toEqual({ lost: [], returned: 0 });
      await commit(frontier, lease);
    });
  });
}

/** An incarnation is the node's id and something random; nodes of the contract are named node-1, node-2 … */
const peerId = (incarnation: string): string => /^node-\d+/.exec(incarnation)?.[0] ?? incarnation;
