/** One robots.txt for an origin and all nodes: who fetches it, who waits, and how long what came of it holds. */
import { describe, expect, it } from 'vitest';
import type { Frontier } from '../../src/frontier/frontier.js';
import type { RobotsAnswer, RobotsClaim, RobotsResult } from '../../src/frontier/robots/robots-state.js';
import { type Crawl, commit, type Node, request, takeOne, until } from './world.js';

const origin = 'https://a.example';
const domain = 'a.example';
const aDay = 24 * 60 * 60 * 1000;
const rules = (text: string, some: Partial<Extract<RobotsResult, { kind: 'rules' }>> = {}): RobotsResult => ({
  ...{ kind: 'rules', text, forMs: aDay, delayMs: 0 },
  ...some,
});

/** Ask as a node does that fetches nothing. */
const ask = (frontier: Frontier, of = origin): Promise<RobotsAnswer> => frontier.robots(of, domain, false);

async function claim(frontier: Frontier, of = origin): Promise<RobotsClaim> {
  const answer = await ask(frontier, of);
  if (answer.kind !== 'fetch') throw new Error(`${of} is not to be fetched: ${JSON.stringify(answer)}`);
  return answer.claim;
}

export function robots(crawl: () => Crawl): void {
  describe('robots.txt', () => {
    const twoNodes = async (): Promise<[Node, Node]> => [await crawl().node(), await crawl().node()];

    it('has one of all nodes fetch it, and tells the others its rules', async () => {
      const [one, two] = await twoNodes();
      const claimed = await claim(one.frontier);
      expect(claimed).toMatchObject({ origin, domain, url: null, hops: 0, failures: 0, delayMs: 0 });
      expect(await ask(two.frontier)).toMatchObject({ kind: 'wait' });
      expect(await one.frontier.storeRobots(claimed, rules('User-agent: *\nDisallow: /x'), {})).toBe(true);
      for (const { frontier } of [one, two]) {
        const answer = await ask(frontier);
        expect(answer).toMatchObject({ kind: 'rules', text: 'User-agent: *\nDisallow: /x' });
        expect('forMs' in answer && answer.forMs).toBeGreaterThan(aDay - 60_000);
        expect('forMs' in answer && answer.forMs).toBeLessThanOrEqual(aDay);
      }
    });

    it('knows each origin by itself', async () => {
      const { frontier } = await crawl().node();
      await frontier.storeRobots(await claim(frontier), rules(''), {});
      expect(await ask(frontier, 'http://a.example')).toMatchObject({ kind: 'fetch' });
      expect(await ask(frontier, 'https://a.example:8443')).toMatchObject({ kind: 'fetch' });
      expect(await ask(frontier)).toMatchObject({ kind: 'rules', text: '' });
    });

    it('leaves the domain alone while the rules are fetched, and no longer', async () => {
      const [one, two] = await twoNodes();
      await one.frontier.push([request('a', { domain }), request('b', { domain: 'b.example' })], 'links');
      const claimed = await claim(one.frontier);
      const waited = await ask(two.frontier);
      expect(waited).toMatchObject({ kind: 'wait' });
      expect('forMs' in waited && waited.forMs).toBeGreaterThanOrEqual(25);
      // The rest grows with the age of the fetch: one of half a second leaves a slow machine time for the next calls.
      const rested = await until(
        () => ask(two.frontier),
        (answer) => 'forMs' in answer && answer.forMs >= 500,
      );
      expect('forMs' in rested && rested.forMs).toBeLessThanOrEqual(1_000);
      await two.frontier.throttle('c.example', { forMs: 60_000, source: 'retry-after' });
      expect((await two.frontier.lease(1, 0)).leases.map((lease) => lease.domain)).toEqual(['b.example']);
      await one.frontier.storeRobots(claimed, rules(''), {});
      expect((await two.frontier.lease(1, 1)).leases.map((lease) => lease.domain)).toEqual([domain]);
    });

    it('shortens no pause that the site has asked for', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a', { domain })], 'links');
      await frontier.throttle(domain, { forMs: 60_000, source: 'retry-after' });
      await frontier.storeRobots(await claim(frontier), rules(''), {});
      expect((await frontier.lease(1, 0)).leases).toEqual([]);
    });

    it('has another node fetch it once more when the first one died', async () => {
      const tunables = { nodeTimeoutMs: 300 };
      const [dies, lives] = [await crawl().node({ tunables }), await crawl().node({ tunables })];
      const lost = await claim(dies.frontier);
      await crawl().recoverUntil(0, [lives]);
      const answer = await until(
        async () => {
          await lives.frontier.heartbeat(lives.joined.incarnation, 0);
          await lives.frontier.recover();
          return ask(lives.frontier);
        },
        ({ kind }) => kind === 'fetch',
      );
      if (answer.kind !== 'fetch') throw new Error(`${answer.kind} after the death of the fetching node`);
      await expect(dies.frontier.storeRobots(lost, rules('late'), {})).rejects.toMatchObject({
        name: 'IncarnationDeadError',
      });
      expect(await lives.frontier.storeRobots(answer.claim, rules('in time'), {})).toBe(true);
      expect(await ask(lives.frontier)).toMatchObject({ text: 'in time' });
    });

    it('takes the place of a node that has left', async () => {
      const [leaves, stays] = await twoNodes();
      await claim(leaves.frontier);
      await leaves.frontier.leave('shutdown');
      expect(await ask(stays.frontier)).toMatchObject({ kind: 'fetch' });
    });

    it('claims anew for a node that does not know of its claim, and refuses the first one', async () => {
      const { frontier } = await crawl().node();
      const lost = await claim(frontier);
      expect(await frontier.robots(origin, domain, true)).toMatchObject({ kind: 'wait' });
      const found = await claim(frontier);
      expect(await frontier.storeRobots(lost, rules('lost'), { 'robotstxt/response_count': 1 })).toBe(false);
      expect(await frontier.storeRobots(found, rules('found'), { 'robotstxt/response_count': 1 })).toBe(true);
      expect((await frontier.snapshot()).counters).toEqual({ 'robotstxt/response_count': 1 });
    });

    it('fetches it again after a failed fetch, not before its time, and counts the failures', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a', { domain }), request('b', { domain: 'b.example' })], 'links');
      await frontier.storeRobots(await claim(frontier), { kind: 'failed', afterMs: 250 }, {});
      expect((await frontier.lease(2, 0)).leases.map((lease) => lease.domain)).toEqual(['b.example']);
      const answer = await ask(frontier);
      expect(answer).toMatchObject({ kind: 'wait' });
      expect('forMs' in answer && answer.forMs).toBeLessThanOrEqual(250);
      expect((await takeOne(frontier)).domain).toBe(domain);
      const again = await claim(frontier);
      expect(again.failures).toBe(1);
      await frontier.storeRobots(again, { kind: 'failed', afterMs: 0 }, {});
      expect((await claim(frontier)).failures).toBe(2);
    });

    it('keeps a give-up for a time, then begins anew', async () => {
      const { frontier } = await crawl().node();
      await frontier.storeRobots(await claim(frontier), { kind: 'failed', afterMs: 0 }, {});
      const gone = { kind: 'unreachable', reason: 'dns_not_found', why: 'no such host', forMs: 200 } as const;
      await frontier.storeRobots(await claim(frontier), gone, {});
      expect(await ask(frontier)).toMatchObject({
        kind: 'unreachable',
        reason: 'dns_not_found',
        why: 'no such host',
      });
      const answer = await until(
        () => ask(frontier),
        ({ kind }) => kind === 'fetch',
      );
      expect(answer).toMatchObject({ claim: { failures: 0, url: null } });
    });

    it('goes on with a redirect where the fetch before has stopped', async () => {
      const [one, two] = await twoNodes();
      const url = 'https://www.a.example/robots.txt';
      await one.frontier.storeRobots(
        await claim(one.frontier),
        { kind: 'later', url, hops: 1, afterMs: 0 },
        {},
      );
      expect(await claim(two.frontier)).toMatchObject({ url, hops: 1, failures: 0 });
    });

    it('forgets rules at their time, and remembers their Crawl-delay', async () => {
      const { frontier } = await crawl().node();
      const claimed = await claim(frontier);
      await frontier.storeRobots(claimed, rules('Disallow: /', { forMs: 100, delayMs: 2_000 }), {});
      const answer = await until(
        () => ask(frontier),
        ({ kind }) => kind === 'fetch',
      );
      expect(answer).toMatchObject({ claim: { delayMs: 2_000 } });
    });

    it('holds rules for a day at most, and a long text unchanged', async () => {
      const { frontier } = await crawl().node();
      const text = `User-agent: *\nDisallow: /ä\n${'# long\n'.repeat(70_000)}`;
      await frontier.storeRobots(await claim(frontier), rules(text, { forMs: 9 * aDay }), {});
      const answer = await ask(frontier);
      expect(answer).toMatchObject({ kind: 'rules', text });
      expect('forMs' in answer && answer.forMs).toBeLessThanOrEqual(aDay);
    });

    it('is forgotten with the queue', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a', { domain })], 'links');
      await frontier.storeRobots(await claim(frontier), rules('Disallow: /'), {});
      await frontier.clear(['queue'], { force: true });
      const anew = await crawl().node();
      expect(await ask(anew.frontier)).toMatchObject({ kind: 'fetch' });
    });

    it('has requests without a lease take the next instant of their domain', async () => {
      const { frontier } = await crawl().node({ tunables: { delayMs: 400 } });
      await frontier.push([request('a', { domain })], 'links');
      expect(await frontier.takeInstant(domain, 1_000)).toBe(0);
      expect((await frontier.lease(1, 0)).leases).toEqual([]);
      const inMs = await frontier.takeInstant(domain, 1_000);
      expect(inMs).toBeGreaterThan(0);
      expect(inMs).toBeLessThanOrEqual(400);
      expect(await frontier.takeInstant(domain, 300)).toBe(null);
      const { waitMs } = await frontier.lease(1, 0);
      expect(waitMs).toBeGreaterThan(400);
      expect(await frontier.takeInstant('b.example', 0)).toBe(0);
    });

    it('gives such a request no instant of a domain that is full', async () => {
      const { frontier } = await crawl().node({ tunables: { concurrencyPerDomain: 1 } });
      await frontier.push([request('a', { domain })], 'links');
      const lease = await takeOne(frontier);
      expect(await frontier.takeInstant(domain, 1_000)).toBe(null);
      await commit(frontier, lease);
      expect(await frontier.takeInstant(domain, 1_000)).toBe(0);
    });
  });
}
