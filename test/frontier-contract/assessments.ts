/** What limits a crawl, how long it takes and how many nodes it wants, in situations that are made in a real store. */
import { describe, expect, it } from 'vitest';
import type { Assessment, HistoryPoint, NodeFacts } from '../../src/frontier/frontier.js';
import { assess, assessNow } from '../../src/frontier/telemetry/assess.js';
import type { JoinChoice } from '../helpers/joining.js';
import { historyPoint, nodeFacts } from './telemetry-examples.js';
import { type Crawl, commit, type Node, request, retry, take, takeOne } from './world.js';

const SCALE_MAX = 100;

/** Links of so many domains, as many of each. */
const links = (domains: number, each: number) =>
  Array.from({ length: domains * each }, (_, n) => request(`${n}`, { domain: `${n % domains}.example` }));

interface Situation {
  readonly name: string;
  readonly join?: JoinChoice;
  /** @returns what its only node reports, beside the slots that it uses */
  make(node: Node): Promise<Partial<NodeFacts> & { slotsUsed: number }>;
  readonly expected: Partial<Assessment>;
  readonly sentence: RegExp;
}

const eight = { tunables: { concurrencyPerDomain: 8 } };

const situations: readonly Situation[] = [
  {
    name: 'all slots of the nodes in use, and more domains ready',
    join: eight,
    async make({ frontier }) {
      await frontier.push(links(10, 10), 'links');
      return { slotsUsed: (await take(frontier, 16)).length };
    },
    // Each of ten domains could have eight requests in progress.
    expected: { limitedBy: 'nodes', leasable: 64, usableSlots: 16, wantedNodes: 5 },
    sentence: /^16 of 16 slots in use, and 64 more requests could be leased/,
  },
  {
    name: 'one domain that has as many requests in progress as it may',
    join: eight,
    async make({ frontier }) {
      await frontier.push(links(1, 100), 'links');
      return { slotsUsed: (await take(frontier, 8)).length };
    },
    expected: { limitedBy: 'domain_concurrency', leasable: 0, usableSlots: 8, wantedNodes: 1 },
    sentence: /^8 of 16 slots in use; 92 requests wait: a domain may have 8 requests at a time$/,
  },
  {
    name: 'domains with a delay of the settings',
    join: { tunables: { delayMs: 60_000 } },
    async make({ frontier }) {
      await frontier.push(links(3, 5), 'links');
      return { slotsUsed: (await take(frontier, 3)).length };
    },
    expected: { limitedBy: 'domain_delay', leasable: 0, wantedNodes: 1 },
    sentence:
      /^3 of 16 slots in use; 12 requests wait, .*: the settings ask for 60 s between two of its pages$/,
  },
  {
    name: 'a domain whose robots.txt asks for a delay',
    async make({ frontier }) {
      await frontier.push(links(1, 5), 'links');
      await frontier.throttle('0.example', { delayMs: 30_000, source: 'robots' });
      return { slotsUsed: (await take(frontier, 1)).length };
    },
    expected: { limitedBy: 'robots', leasable: 0, wantedNodes: 1 },
    sentence: /its robots.txt asks for 30 s between two pages$/,
  },
  {
    name: 'a site that asked for a pause',
    async make({ frontier }) {
      await frontier.push(links(1, 5), 'links');
      await frontier.throttle('0.example', { forMs: 60_000, source: 'retry-after' });
      return { slotsUsed: 0 };
    },
    expected: { limitedBy: 'domain_delay', leasable: 0, wantedNodes: 1 },
    sentence: /the site asked for a pause of (59|60) s$/,
  },
  {
    name: 'a site that does not answer',
    async make({ frontier }) {
      await frontier.push(links(1, 1), 'links');
      await frontier.throttle('0.example', { forMs: 60_000, source: 'autothrottle' });
      return { slotsUsed: 0 };
    },
    expected: { limitedBy: 'domain_delay', leasable: 0, wantedNodes: 1 },
    sentence: /; 1 request waits: the site does not answer, and is asked again in (59|60) s$/,
  },
  {
    name: 'retries that are due later, and nothing else',
    async make({ frontier }) {
      await frontier.push(links(1, 1), 'links');
      const lease = await takeOne(frontier);
      await commit(frontier, lease, retry(lease, 60_000));
      return { slotsUsed: 0 };
    },
    expected: { limitedBy: 'retry_wait', leasable: 0, wantedNodes: 1 },
    sentence:
      /^0 of 16 slots in use; nothing is pending, and 1 request is due later, the first in (59|60) s$/,
  },
  {
    name: 'seeds that wait for room in the queue',
    join: { tunables: { queueLimit: 5, concurrencyPerDomain: 1 } },
    async make({ frontier }) {
      await frontier.push(links(1, 7), 'links');
      await frontier.appendSeeds(['https://a.example/', 'https://b.example/']);
      return { slotsUsed: (await take(frontier, 1)).length };
    },
    expected: { limitedBy: 'queue_limit', wantedNodes: 1 },
    sentence: /the queue is at SCHEDULER_QUEUE_LIMIT \(5\), so 2 seeds wait$/,
  },
  {
    name: 'a page budget that is used up',
    join: { budgets: { maxPages: 2 } },
    async make({ frontier }) {
      await frontier.push(links(3, 3), 'links');
      return { slotsUsed: (await take(frontier, 2)).length };
    },
    expected: { limitedBy: 'budget', wantedNodes: 1 },
    sentence: /^the page budget of the run is used up; 2 pages in progress$/,
  },
  {
    name: 'a pause',
    async make({ frontier }) {
      await frontier.push(links(3, 3), 'links');
      await frontier.control('paused', 'ann');
      return { slotsUsed: 0 };
    },
    expected: { limitedBy: 'paused', eta: null, wantedNodes: 0 },
    sentence: /^the crawl is paused$/,
  },
  {
    name: 'a store that a node waits for',
    async make({ frontier }) {
      await frontier.push(links(3, 3), 'links');
      return { slotsUsed: 0, obstacle: 'store' };
    },
    expected: { limitedBy: 'store', wantedNodes: 1 },
    sentence: /^a node waits for the store/,
  },
  {
    name: 'nothing left',
    async make({ frontier }) {
      await frontier.push(links(1, 1), 'links');
      await commit(frontier, await takeOne(frontier));
      return { slotsUsed: 0 };
    },
    expected: { limitedBy: 'empty', leasable: 0, eta: null, wantedNodes: 0 },
    sentence: /^nothing is left to do$/,
  },
];

export function assessments(crawl: () => Crawl): void {
  describe('what limits a crawl, and how many nodes it wants', () => {
    it.each(situations)('with $name', async ({ join, make, expected, sentence }) => {
      const node = await crawl().node(join ?? {});
      const facts = { ...nodeFacts, cpu: 0.1, ...(await make(node)) };
      const { telemetry } = node.frontier;
      await telemetry.report(node.joined.incarnation, { sequence: 1, node: facts, domains: [], events: [] });
      const { assessment } = (await assessNow(telemetry, SCALE_MAX))!;
      expect(assessment).toMatchObject(expected);
      expect(assessment.sentence).toMatch(sentence);
    });

    it('of a paused crawl are paused and none at once, whatever it wanted before', async () => {
      const { frontier } = await crawl().node();
      const { telemetry } = frontier;
      await frontier.push(links(10, 10), 'links');
      const before = (await assessNow(telemetry, SCALE_MAX))!;
      await telemetry.record(before.point, before.assessment, 5);
      await frontier.control('paused');
      const { assessment } = (await assessNow(telemetry, SCALE_MAX))!;
      expect(assessment).toMatchObject({ limitedBy: 'paused', wantedNodes: 0 });
    });

    it('of a run that a budget closes are the budget and none, and of one that it ended no node', async () => {
      const { frontier } = await crawl().node({ budgets: { maxPages: 1 } });
      const { telemetry } = frontier;
      await frontier.push(links(1, 2), 'links');
      const before = (await assessNow(telemetry, SCALE_MAX))!;
      expect(before.assessment.wantedNodes).toBe(1);
      await telemetry.record(before.point, before.assessment, 5);
      await commit(frontier, await takeOne(frontier));
      await frontier.lease(1, 0);
      const closing = (await assessNow(telemetry, SCALE_MAX))!.assessment;
      expect(closing).toMatchObject({ limitedBy: 'budget', wantedNodes: 0 });
      await frontier.leave('shutdown');
      const outsider = await crawl().outsider();
      const { assessment } = (await assessNow(outsider.telemetry, SCALE_MAX))!;
      expect(assessment).toMatchObject({ limitedBy: 'nodes', wantedNodes: 0 });
      expect(assessment.sentence).toBe(
        'no node is running, as the run was closed (closespider_pagecount); 1 request waits',
      );
    });

    it('without a node, while requests wait', async () => {
      const outsider = await crawl().outsider();
      await outsider.push(links(2, 20), 'links');
      const { assessment } = (await assessNow(outsider.telemetry, SCALE_MAX))!;
      expect(assessment).toMatchObject({ limitedBy: 'nodes', slots: 0, wantedNodes: expect.any(Number) });
      expect(assessment.wantedNodes).toBeGreaterThan(0);
      expect(assessment.sentence).toBe('no node is running; 40 requests wait');
      expect((await assessNow(outsider.telemetry, 1))!.assessment.wantedNodes).toBe(1);
    });
  });

  describe('how long a crawl takes', () => {
    /** What it says after four of 40 pages, where the others took a minute so far. */
    const etaAfter = async (node: Node, before: Partial<HistoryPoint> = {}) => {
      const { telemetry } = node.frontier;
      const report = { sequence: 1, node: { ...nodeFacts, slotsUsed: 4 }, domains: [], events: [] };
      await telemetry.report(node.joined.incarnation, report);
      const facts = (await telemetry.facts())!;
      const point = historyPoint({
        ...{ atMs: facts.atMs - 60_000, pages: 0, failures: 0, accepted: 40, ...before },
      });
      return assess(facts, [point], SCALE_MAX).assessment.eta;
    };
    const crawled = async (join: JoinChoice, domains: number) => {
      const node = await crawl().node(join);
      await node.frontier.push(links(domains, 40 / domains), 'links');
      for (const lease of await take(node.frontier, 4)) await commit(node.frontier, lease);
      return node;
    };

    it('follows from its rate', async () => {
      expect(await etaAfter(await crawled({}, 4))).toEqual({ seconds: 540, by: 'rate', domain: null });
    });

    it('follows from the domain that takes longest, where that is longer', async () => {
      const node = await crawled({}, 4);
      await node.frontier.throttle('0.example', { delayMs: 100_000, source: 'robots' });
      expect(await etaAfter(node)).toMatchObject({ by: 'slowest_domain', domain: '0.example' });
    });

    it('is not known while pages bring many new requests', async () => {
      const eta = await etaAfter(await crawled({}, 4), { accepted: 20 });
      expect(eta).toEqual({ seconds: null, reason: 'discovering', newPerPage: 5 });
    });
  });
}
