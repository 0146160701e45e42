/** What limits a crawl, how long it takes and how many nodes it wants, in situations made by hand. */
import { describe, expect, it } from 'vitest';
import type { CrawlFacts, DomainState, HistoryPoint, NodeFacts } from '../../../src/frontier/frontier.js';
import { aged, assess } from '../../../src/frontier/telemetry/assess.js';
import { historyPoint, nodeFacts } from '../../frontier-contract/telemetry-examples.js';

const NOW = 1_000_000;

const domain = (more: Partial<DomainState> = {}): DomainState => ({
  ...{ name: 'a.example', pending: 100, leased: 0, limit: 8, delayMs: 0, delayBy: null, dueInMs: 0 },
  ...{ isDelayRandom: false, blockedBy: null, latencyMs: 200 },
  ...more,
});

const node = (slotsUsed: number, more: Partial<NodeFacts> = {}): NodeFacts => ({
  ...nodeFacts,
  slotsUsed,
  ...more,
});

/** A crawl whose totals follow from its domains. */
const crawl = (more: Partial<CrawlFacts> = {}): CrawlFacts => {
  const { ready = [], busy = [], nodes = [node(16)] } = more;
  const all = [...ready, ...busy];
  const total = (name: 'pending' | 'leased') => all.reduce((sum, each) => sum + each[name], 0);
  return {
    ...{
      atMs: NOW,
      control: 'running',
      closing: null,
      pagesLeft: null,
      startUrls: 0,
      suspects: 0,
      leasableSuspects: 0,
      delayed: 0,
    },
    ...{ delayedDueInMs: null, accepted: 1_000, done: 500, failures: 0, items: 0, retries: 0, queueLimit: 0 },
    ...{ pending: total('pending'), leased: total('leased'), outbox: 0, nodes, liveNodes: nodes.length },
    queuedDomains: all.filter(({ pending }) => pending > 0).length,
    ...{ readyDomains: ready.length, ready, busy, storeCpuSeconds: null },
    ...{ memoryLimit: 0, storedBytes: 0 },
    ...more,
  };
};

const many = (count: number, more: Partial<DomainState> = {}): DomainState[] =>
  Array.from({ length: count }, (_, n) => domain({ name: `${n}.example`, ...more }));

/** A minute ago the crawl had done so many pages fewer, and all requests were known. */
const minuteAgo = (done: number, more: Partial<HistoryPoint> = {}): HistoryPoint[] => [
  historyPoint({
    atMs: NOW - 60_000,
    pages: 500 - done,
    failures: 0,
    accepted: 1_000,
    wantedNodes: 0,
    ...more,
  }),
];

const SCALE_MAX = 1_000;

const assessed = (facts: CrawlFacts, history: readonly HistoryPoint[] = [], scaleMax = SCALE_MAX) =>
  assess(facts, history, scaleMax).assessment;

describe('limitedBy', () => {
  it('nodes, where all slots are in use and more could be leased', () => {
    const found = assessed(crawl({ ready: many(50, { leased: 1 }) }));
    expect(found).toMatchObject({
      limitedBy: 'nodes',
      leasable: 350,
      slots: 16,
      slotsUsed: 16,
      usableSlots: 16,
    });
    expect(found.sentence).toBe(
      '16 of 16 slots in use, and 350 more requests could be leased: another node would help',
    );
    // 50 domains with a limit of 8.
    expect(found.wantedNodes).toBe(25);
  });

  it('domain_concurrency, where a few domains are full', () => {
    const busy = many(2, { leased: 8, pending: 19_384 });
    const nodes = [node(16), node(0), node(0)];
    const found = assessed(crawl({ busy, nodes }));
    expect(found).toMatchObject({ limitedBy: 'domain_concurrency', leasable: 0, slots: 48, usableSlots: 16 });
    expect(found.sentence).toBe(
      '16 of 48 slots in use; 38,768 requests wait, most of them for 0.example (19,384): a domain may have 8 requests at a time',
    );
    expect(found.wantedNodes).toBe(1);
  });

  it('domain_delay, where domains wait for their delays, and who asks for them', () => {
    const waits = { delayMs: 5_000, dueInMs: 3_000 } as const;
    const found = assessed(crawl({ busy: many(10, { ...waits, delayBy: 'settings' }), nodes: [node(1)] }));
    expect(found).toMatchObject({ limitedBy: 'domain_delay', leasable: 0, wantedNodes: 1 });
    expect(found.sentence).toContain('the settings ask for 5 s between two of its pages');
    const paused = assessed(
      crawl({ busy: [domain({ blockedBy: 'retry_after', dueInMs: 60_000 })], nodes: [node(0)] }),
    );
    expect(paused).toMatchObject({ limitedBy: 'domain_delay' });
    expect(paused.sentence).toContain('the site asked for a pause of 60 s');
    const auto = assessed(crawl({ busy: [domain({ ...waits, delayBy: 'autothrottle' })], nodes: [node(0)] }));
    expect(auto.sentence).toContain('AutoThrottle');
  });

  it('robots, where robots.txt asks for the delay or is not known', () => {
    const asks = crawl({
      busy: [domain({ delayMs: 10_000, delayBy: 'robots', dueInMs: 9_000 })],
      nodes: [node(0)],
    });
    expect(assessed(asks)).toMatchObject({ limitedBy: 'robots' });
    const unknown = crawl({ busy: [domain({ blockedBy: 'robots', dueInMs: 500 })], nodes: [node(0)] });
    expect(assessed(unknown)).toMatchObject({ limitedBy: 'robots' });
  });

  it('retry_wait, where only retries are left; the nodes are kept for those that are due soon', () => {
    const soon = crawl({ delayed: 3, delayedDueInMs: 60_000, nodes: [node(0)] });
    expect(assessed(soon)).toMatchObject({ limitedBy: 'retry_wait', wantedNodes: 1 });
    expect(assessed(crawl({ delayed: 3, delayedDueInMs: 600_000, nodes: [node(0)] })).wantedNodes).toBe(0);
  });

  it('queue_limit, where seeds wait for room in the queue', () => {
    const busy = [domain({ pending: 1_000, leased: 8 })];
    const found = assessed(crawl({ busy, startUrls: 50, queueLimit: 1_000, nodes: [node(8)] }));
    expect(found).toMatchObject({ limitedBy: 'queue_limit' });
  });

  it('budget, paused and stopping, whatever else there is', () => {
    const ready = many(50);
    expect(assessed(crawl({ ready, pagesLeft: 0 })).limitedBy).toBe('budget');
    expect(assessed(crawl({ ready, closing: 'closespider_itemcount' })).limitedBy).toBe('budget');
    expect(assessed(crawl({ ready, control: 'stopping' })).limitedBy).toBe('stopping');
    expect(assessed(crawl({ ready, control: 'paused' }))).toMatchObject({
      limitedBy: 'paused',
      eta: null,
      wantedNodes: 0,
    });
  });

  it('store and outbox, where half of the nodes wait for one', () => {
    const ready = many(50);
    for (const obstacle of ['store', 'outbox', 'browser', 'suspect'] as const) {
      const nodes = [node(0, { obstacle }), node(16)];
      expect(assessed(crawl({ ready, nodes })).limitedBy).toBe(obstacle);
    }
  });

  it('empty, where all that is left is in progress, or nothing is left', () => {
    expect(assessed(crawl({ busy: [domain({ pending: 0, leased: 3 })], nodes: [node(3)] }))).toMatchObject({
      limitedBy: 'empty',
      leasable: 0,
      wantedNodes: 1,
    });
    expect(assessed(crawl({ nodes: [node(0)] }))).toMatchObject({ limitedBy: 'empty', wantedNodes: 0 });
  });
});

describe('leasable', () => {
  it('is a least number where more domains are ready than were read', () => {
    const found = assessed(crawl({ ready: many(200), readyDomains: 900, queuedDomains: 900 }));
    expect(found.leasable).toEqual({ atLeast: 200 * 8 + 700 });
    // 200 domains with a limit of 8, and 700 with one request each, on nodes of 16 slots.
    expect(found.wantedNodes).toBe((200 * 8 + 700 + 4) / 16);
  });

  it('is one request of a domain with a delay', () => {
    expect(assessed(crawl({ ready: many(5, { delayMs: 1_000 }) })).leasable).toBe(5);
  });
});

describe('wantedNodes', () => {
  it('counts with a delay the requests that begin while one page lasts', () => {
    const slow = many(64, { delayMs: 500, latencyMs: 2_000 });
    expect(assessed(crawl({ ready: slow })).wantedNodes).toBe((64 * 4) / 16);
    const polite = many(64, { delayMs: 5_000, latencyMs: 200 });
    expect(assessed(crawl({ ready: polite })).wantedNodes).toBe(64 / 16);
  });

  it('grows while the processors of the nodes are busy and demand is left', () => {
    const nodes = [node(8, { cpu: 1 }), node(8, { cpu: 1 })];
    expect(assessed(crawl({ ready: many(5), nodes })).wantedNodes).toBe(3);
    expect(assessed(crawl({ ready: many(1, { pending: 10 }), nodes })).wantedNodes).toBe(1);
  });

  it('is as many as run, while none of them has said how many slots it has', () => {
    const joined = crawl({ ready: many(50), nodes: [], liveNodes: 2 });
    expect(assessed(joined).wantedNodes).toBe(2);
    expect(assessed({ ...joined, liveNodes: 0 }).wantedNodes).toBe(25);
  });

  it('is 0 at once where no node has anything to do: paused, closing, or ended', () => {
    const before = minuteAgo(10, { wantedNodes: 7 });
    const left = { ready: many(5) };
    expect(assessed(crawl({ ...left, control: 'paused' }), before).wantedNodes).toBe(0);
    expect(assessed(crawl({ ...left, closing: 'closespider_pagecount' }), before).wantedNodes).toBe(0);
    expect(assessed(crawl({ nodes: [] }), before).wantedNodes).toBe(0);
  });

  it('is the most of the last five minutes', () => {
    const idle = crawl({ nodes: [node(0)] });
    expect(assessed(idle, minuteAgo(10, { wantedNodes: 7 })).wantedNodes).toBe(7);
    expect(assessed(idle, minuteAgo(10, { wantedNodes: 7, atMs: NOW - 301_000 })).wantedNodes).toBe(0);
    expect(assess(idle, minuteAgo(10, { wantedNodes: 7 }), SCALE_MAX).point.wantedNodes).toBe(0);
  });
});

describe('suspects', () => {
  it('are one request at a time: none that waits for its turn asks for another node', () => {
    const busy = [domain({ leased: 8, pending: 100 })];
    const full = crawl({ busy, suspects: 30, leasableSuspects: 0, nodes: [node(8)] });
    expect(assessed(full)).toMatchObject({ limitedBy: 'domain_concurrency', leasable: 0, wantedNodes: 1 });
    const one = crawl({ busy: [domain({ pending: 0, leased: 8 })], suspects: 30, leasableSuspects: 1 });
    expect(assessed({ ...one, pending: 30, nodes: [node(8)] })).toMatchObject({
      ...{ limitedBy: 'suspect', leasable: 1, wantedNodes: 1 },
    });
  });
});

describe('a controller that follows wantedNodes', () => {
  it('changes the number of nodes twice for a demand that goes up and down every ten seconds, and then waits', () => {
    const history: HistoryPoint[] = [];
    const followed: { readonly atS: number; readonly nodes: number }[] = [];
    for (let atS = 0; atS <= 1_200; atS += 10) {
      const ready = atS % 20 === 0 ? many(2) : many(10);
      const busy = crawl({ ready, nodes: [node(0)] });
      const waiting = crawl({ delayed: 3, delayedDueInMs: 3_600_000, nodes: [node(0)] });
      const facts = { ...(atS < 600 ? busy : waiting), atMs: NOW + atS * 1_000 };
      const { point, assessment } = assess(facts, history, SCALE_MAX);
      history.push(point);
      // Once a minute, as deploy/kubernetes/autoscale.yaml has it.
      const nodes = assessment.wantedNodes;
      if (atS % 60 === 30 && nodes !== followed.at(-1)?.nodes) followed.push({ atS, nodes });
    }
    expect(followed).toEqual([
      { atS: 30, nodes: 5 },
      { atS: 930, nodes: 0 },
    ]);
  });
});

describe('a point of the history', () => {
  it('has the CPU of all nodes together', () => {
    const nodes = [node(16, { cpu: 0.254 }), node(16, { cpu: 0.9 })];
    expect(assess(crawl({ nodes }), [], SCALE_MAX).point.nodesCpu).toBe(1.15);
  });
});

describe('SCALE_MAX', () => {
  it('bounds what is wanted now, what was wanted, and the history', () => {
    const large = crawl({ ready: many(50) });
    expect(assessed(large, [], 3).wantedNodes).toBe(3);
    expect(assess(large, [], 3).point.wantedNodes).toBe(3);
    expect(assessed(crawl({ nodes: [node(0)] }), minuteAgo(10, { wantedNodes: 7 }), 3).wantedNodes).toBe(3);
  });
});

describe('eta', () => {
  it('follows the rate of the last minutes', () => {
    const facts = crawl({ ready: many(10, { leased: 1, pending: 99 }) });
    expect(assessed(facts, minuteAgo(100)).eta).toEqual({ seconds: 600, by: 'rate', domain: null });
  });

  it('is that of the slowest domain where it takes longer', () => {
    const slow = domain({
      name: 'slow.example',
      delayMs: 10_000,
      delayBy: 'robots',
      pending: 400,
      dueInMs: 5_000,
    });
    const facts = crawl({ ready: many(6), busy: [slow] });
    expect(assessed(facts, minuteAgo(200)).eta).toEqual({
      seconds: 4_005,
      by: 'slowest_domain',
      domain: 'slow.example',
    });
  });

  it('is less some time later', () => {
    const made = assessed(crawl({ ready: many(10, { leased: 1, pending: 99 }) }), minuteAgo(100));
    expect(aged(made, 7_000).eta).toEqual({ seconds: 593, by: 'rate', domain: null });
    expect(aged(made, 700_000).eta).toMatchObject({ seconds: 0 });
  });

  it('is not known while pages bring new requests, or before anything was measured', () => {
    const facts = crawl({ ready: many(10) });
    expect(assessed(facts, minuteAgo(100, { accepted: 0 })).eta).toEqual({
      ...{ seconds: null, reason: 'discovering', newPerPage: 10 },
    });
    expect(assessed(facts).eta).toBeNull();
    expect(assessed(facts, minuteAgo(0)).eta).toBeNull();
  });
});
