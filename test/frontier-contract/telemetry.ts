/** What the store knows of a crawl beside its requests: reports of nodes, the history, events, dead nodes. */
import { describe, expect, it } from 'vitest';
import type { BackupEntry } from '../../src/frontier/backup/entry.js';
import {
  allParts,
  type CrawlEvent,
  type DomainCounts,
  MAX_HELD_IDS,
  MAX_KNOWN_DOMAINS,
  type NodeReport,
} from '../../src/frontier/frontier.js';
import { domainStats, OTHER_DOMAINS } from '../../src/frontier/telemetry/domain-counts.js';
import { assessment, nodeFacts as facts, historyPoint as point } from './telemetry-examples.js';
import {
  beat,
  type Crawl,
  commit,
  failed,
  type Node,
  released,
  request,
  take,
  takeOne,
  until,
} from './world.js';

const reportOf = (
  sequence: number,
  domains: Readonly<Record<string, DomainCounts>> = {},
  more: Partial<NodeReport> = {},
): NodeReport => ({ sequence, node: facts, domains: Object.entries(domains), events: [], ...more });

const report = ({ frontier, joined }: Node, what: NodeReport) =>
  frontier.telemetry.report(joined.incarnation, what);

const kinds = (events: readonly CrawlEvent[]) => events.map(({ kind }) => kind);

export function telemetry(crawl: () => Crawl): void {
  describe('reports', () => {
    it('add up by domain, from all nodes; one that is sent again has no effect', async () => {
      const [one, two] = [await crawl().node(), await crawl().node()];
      const { telemetry } = await crawl().outsider();
      await report(one, reportOf(1, { 'a.example': { p: 2, s200: 2 }, [OTHER_DOMAINS]: { p: 7 } }));
      await report(one, reportOf(1, { 'a.example': { p: 2, s200: 2 } }));
      await report(two, reportOf(1, { 'a.example': { p: 1, s403: 1 } }));
      await report(one, reportOf(2, { 'a.example': { p: 1, ftimeout: 1 } }));
      const known = await telemetry.domains(0, 10);
      const counts = Object.fromEntries(known.map(({ name, counts }) => [name, counts]));
      expect(counts).toEqual({
        'a.example': { p: 4, s200: 2, s403: 1, ftimeout: 1 },
        [OTHER_DOMAINS]: { p: 7 },
      });
    });

    it('of a node that is not live have no effect', async () => {
      const node = await crawl().node();
      await node.frontier.leave('shutdown');
      const { telemetry } = await crawl().outsider();
      expect(await telemetry.report(node.joined.incarnation, reportOf(1, { a: { p: 1 } }))).toBe(false);
      expect(await telemetry.domains(0, 10)).toEqual([]);
    });

    it('keep the domains that were active last, in that order', async () => {
      const node = await crawl().node();
      const { telemetry } = node.frontier;
      const name = (n: number) => `${n}.example`;
      for (let n = 0; n <= MAX_KNOWN_DOMAINS; n += 1_000) {
        const domains = Object.fromEntries(Array.from({ length: 1_000 }, (_, m) => [name(n + m), { p: 1 }]));
        await report(node, reportOf(1 + n, domains));
      }
      await report(node, reportOf(100_000, { 'last.example': { p: 1 } }));
      expect((await telemetry.domains(0, 1)).map(({ name }) => name)).toEqual(['last.example']);
      expect(await telemetry.domains(MAX_KNOWN_DOMAINS - 1, 10)).toHaveLength(1);
      const kept = new Set<string>();
      for (let from = 0; from < MAX_KNOWN_DOMAINS; from += 2_000)
        for (const { name } of await telemetry.domains(from, 2_000)) kept.add(name);
      expect(kept.size).toBe(MAX_KNOWN_DOMAINS);
      expect(kept.has(name(MAX_KNOWN_DOMAINS + 999))).toBe(true);
    });

    it('tell with each domain how it stands in the queue, and who asked for its delay', async () => {
      const node = await crawl().node({ tunables: { concurrencyPerDomain: 2 } });
      const { frontier } = node;
      await frontier.push(
        [1, 2, 3].map((n) => request(`a${n}`)),
        'links',
      );
      await frontier.push(
        [1, 2].map((n) => request(`b${n}`, { domain: 'b.example' })),
        'links',
      );
      const leases = await take(frontier, 4);
      await frontier.throttle('b.example', { delayMs: 500, source: 'robots' });
      await frontier.throttle('c.example', { forMs: 60_000, source: 'retry-after' });
      await frontier.throttle('d.example', { forMs: 60_000, source: 'autothrottle' });
      await frontier.throttle('d.example', { forMs: 1_000, source: 'retry-after' });
      await frontier.throttle('e.example', { forMs: 60_000, source: 'setting' });
      await report(node, reportOf(1, { 'a.example': { p: 1, m: 90, a: 2 } }));
      await report(node, reportOf(2, { 'b.example': { p: 1 }, 'c.example': { p: 1 } }));
      await report(node, reportOf(3, { 'd.example': { p: 1 }, 'e.example': { p: 1 } }));
      const known = await frontier.telemetry.domains(0, 10);
      const domain = (name: string) => known.find((each) => each.name === name);
      expect(domain('a.example')).toMatchObject({
        ...{ pending: 1, leased: 2, limit: 2, delayMs: 0, delayBy: null, dueInMs: 0, blockedBy: null },
        latencyMs: 45,
      });
      expect(domain('b.example')).toMatchObject({ pending: 0, leased: 2, delayMs: 500, delayBy: 'robots' });
      expect(domain('c.example')).toMatchObject({ blockedBy: 'retry_after' });
      // No answer, and then one that asks for less. The late download of a domain with a delay starts that delay again.
      expect(domain('d.example')).toMatchObject({ blockedBy: 'autothrottle' });
      expect(domain('e.example')).toMatchObject({ blockedBy: null });
      expect(domain('c.example')!.dueInMs).toBeGreaterThan(50_000);
      for (const lease of leases) await commit(frontier, lease, released);
    });

    it('are not needed to look at one domain, of which robots.txt is known, too', async () => {
      const node = await crawl().node();
      const { frontier } = node;
      expect(await frontier.telemetry.domain('a.example')).toBeNull();
      await frontier.push([request('a1'), request('a2')], 'links');
      const asked = await frontier.robots('https://a.example', 'a.example', false);
      if (asked.kind !== 'fetch') throw new Error(asked.kind);
      const robots = async () => (await frontier.telemetry.domain('a.example'))!.robots;
      expect(await robots()).toMatchObject([{ origin: 'https://a.example', state: 'claimed', reason: null }]);
      const rules = { kind: 'rules', text: 'Crawl-delay: 2', forMs: 60_000, delayMs: 2_000 } as const;
      await frontier.storeRobots(asked.claim, rules, {});
      await report(node, reportOf(1, { 'a.example': { p: 3, s200: 3 } }));
      const domain = (await frontier.telemetry.domain('a.example'))!;
      expect(domain).toMatchObject({
        ...{ name: 'a.example', pending: 2, leased: 0, counts: { p: 3, s200: 3 }, blockedBy: null },
        robots: [{ origin: 'https://a.example', state: 'rules', delayMs: 2_000 }],
      });
      expect(domain.robots[0]!.forMs).toBeGreaterThan(50_000);
      await frontier.push([request('b', { domain: 'b.example' })], 'links');
      expect(await frontier.telemetry.domain('b.example')).toMatchObject({
        pending: 1,
        counts: {},
        robots: [],
      });
    });

    it('show with each live node what it says of itself', async () => {
      const node = await crawl().node();
      expect((await node.frontier.snapshot()).nodes).toMatchObject([{ facts: null }]);
      await report(node, reportOf(1));
      expect((await node.frontier.snapshot()).nodes).toMatchObject([{ facts }]);
    });
  });

  describe('the facts of a crawl', () => {
    it('are none without one', async () => {
      expect(await (await crawl().outsider()).telemetry.facts()).toBeNull();
    });

    it('count requests by what keeps them', async () => {
      const node = await crawl().node({ tunables: { concurrencyPerDomain: 2 }, budgets: { maxPages: 10 } });
      const { frontier } = node;
      const many = (domain: string) => [1, 2, 3].map((n) => request(`${domain}${n}`, { domain }));
      await frontier.push([...many('a.example'), ...many('b.example'), ...many('c.example')], 'links');
      await frontier.push([request('late', { delayMs: 60_000 })], 'links');
      await frontier.throttle('b.example', { forMs: 60_000, source: 'retry-after' });
      await take(frontier, 2);
      await report(node, reportOf(1));
      const found = await frontier.telemetry.facts();
      expect(found).toMatchObject({
        ...{ control: 'running', closing: null, pagesLeft: 8, startUrls: 0, pending: 7, suspects: 0 },
        ...{ delayed: 1, leased: 2, accepted: 10, done: 0, queuedDomains: 3, liveNodes: 1, nodes: [facts] },
      });
      const states = [...found!.ready, ...found!.busy].map(({ name, pending, leased }) => [
        name,
        pending,
        leased,
      ]);
      expect(states.sort()).toEqual([
        ['a.example', 1, 2],
        ['b.example', 3, 0],
        ['c.example', 3, 0],
      ]);
      expect(found!.delayedDueInMs).toBeGreaterThan(50_000);
      expect(found!.readyDomains).toBe(1);
    });

    it('have the CPU time of a Redis server, which grows', async () => {
      const { frontier } = await crawl().node();
      const used = async () => (await frontier.telemetry.facts())!.storeCpuSeconds;
      const before = await used();
      if (frontier.engine === 'embedded') expect(before).toBeNull();
      else expect(await used()).toBeGreaterThan(before!);
    });

    it('count the domains with pending requests through leases, releases and a repair', async () => {
      const { frontier } = await crawl().node();
      const queued = async () => (await frontier.telemetry.facts())!.queuedDomains;
      await frontier.push([request('a'), request('b', { domain: 'b.example' })], 'links');
      expect(await queued()).toBe(2);
      const lease = await takeOne(frontier);
      expect(await queued()).toBe(1);
      await commit(frontier, lease, released);
      expect(await queued()).toBe(2);
      await frontier.leave('shutdown');
      const outsider = await crawl().outsider();
      await outsider.repair(
        (_, record) => ({
          domain: JSON.parse(record).u === 'a' ? 'a.example' : 'b.example',
          priority: 0,
          acceptedAtMs: 0,
        }),
        { force: true },
      );
      expect((await outsider.telemetry.facts())!.queuedDomains).toBe(2);
    });
  });

  describe('the history', () => {
    it('is recorded by the first report after each step, and read by its time', async () => {
      const [one, two] = [await crawl().node(), await crawl().node()];
      const { telemetry } = one.frontier;
      const due = [
        await report(one, reportOf(1)),
        await report(two, reportOf(1)),
        await report(one, reportOf(2)),
      ];
      // A step may have ended meanwhile.
      expect(due[0]).toBe(true);
      expect(due.filter((is) => is).length).toBeLessThan(3);
      const now = point();
      await telemetry.record(now, assessment, 5);
      await telemetry.record(point({ pages: 99 }), { ...assessment, wantedNodes: 3 }, 5);
      const from = now.atMs - 5_000;
      const short = await telemetry.history('ten_seconds', from, Date.now() + 10_000);
      expect(short[0]).toEqual(now);
      expect((await telemetry.history('minute', from, Date.now() + 10_000))[0]).toEqual(now);
      expect(await telemetry.history('minute', 0, 60_000)).toEqual([]);
      // All of time: only what is kept is looked for.
      for (const step of ['ten_seconds', 'minute'] as const)
        expect((await telemetry.history(step, 0, 8.64e15))[0]).toEqual(now);
      expect((await one.frontier.snapshot()).assessment).toEqual({ ...assessment, wantedNodes: 3 });
    });

    it('has points ten seconds apart for an hour, and a gap where no node ran', async ({ skip }) => {
      const clock = crawl().clockOr(skip);
      const node = await crawl().node({ tunables: { nodeTimeoutMs: 3_600_000 } });
      const { telemetry } = node.frontier;
      const began = Date.now();
      await telemetry.record(point({ atMs: began, pages: 0 }), assessment, 3);
      for (const forward of [10_000, 60_000, 240_000, 3_700_000]) {
        clock.setForward(forward);
        const { atMs } = (await telemetry.facts())!;
        await telemetry.record(point({ atMs, pages: forward }), assessment, 3);
      }
      const { atMs } = (await telemetry.facts())!;
      const pages = async (step: 'ten_seconds' | 'minute') =>
        (await telemetry.history(step, began - 60_000, atMs)).map(({ pages }) => pages);
      expect(await pages('ten_seconds')).toEqual([3_700_000]);
      expect(await pages('minute')).toEqual([3_700_000]);
    });
  });

  describe('events', () => {
    it('tell who joined, left, paused and resumed, what changed, and how the run ended', async () => {
      const node = await crawl().node({ id: 'one', tunables: { delayMs: 0 } });
      const { frontier } = node;
      await crawl()
        .node({ id: 'two', tunables: { delayMs: 100 } })
        .then(({ frontier }) => frontier.leave('shutdown'));
      await frontier.control('paused', 'ann@desk');
      await frontier.control('paused', 'bob@desk');
      await frontier.control('running');
      await report(node, reportOf(1, {}, { events: [{ kind: 'store_full', agoMs: 2_000 }] }));
      await frontier.leave('shutdown');
      const { telemetry } = await crawl().outsider();
      const events = await telemetry.events(0);
      expect(events.map(({ atMs: _, number: __, ...event }) => event)).toEqual([
        { kind: 'node_joined', node: 'one' },
        { kind: 'node_joined', node: 'two' },
        { kind: 'settings_changed', node: 'two', settings: ['DOWNLOAD_DELAY'] },
        { kind: 'node_left', node: 'two', reason: 'shutdown' },
        { kind: 'paused', by: 'ann@desk' },
        { kind: 'resumed', by: null },
        { kind: 'store_full', node: 'one' },
        { kind: 'node_left', node: 'one', reason: 'shutdown' },
        { kind: 'run_ended', reason: 'shutdown' },
      ]);
      expect(events.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(Math.abs(Date.now() - events[0]!.atMs)).toBeLessThan(60_000);
      expect(kinds(await telemetry.events(7))).toEqual(['node_left', 'run_ended']);
    });

    it('name the domain that is left alone for long, once; others soon after are counted with it', async () => {
      const { frontier } = await crawl().node({ id: 'one' });
      await frontier.throttle('shop.example', { forMs: 60_000, source: 'retry-after' });
      for (const domain of ['shop.example', 'a.example', 'b.example'])
        await frontier.throttle(domain, { forMs: 30_000, source: 'autothrottle' });
      await frontier.throttle('short.example', { forMs: 1_000, source: 'autothrottle' });
      await frontier.throttle('slow.example', { delayMs: 90_000, source: 'robots' });
      await frontier.throttle('slow.example', { forMs: 90_000, source: 'setting' });
      await frontier.control('paused', 'ann@desk');
      await frontier.throttle('c.example', { forMs: 30_000, source: 'autothrottle' });
      const events = await frontier.telemetry.events(1);
      expect(events).toMatchObject([
        { kind: 'domain_paused', domain: 'shop.example', forMs: 60_000, reason: 'retry_after', more: 2 },
        { kind: 'paused' },
        { kind: 'domain_paused', domain: 'c.example', forMs: 30_000, reason: 'no_answer', more: 0 },
      ]);
    });

    it('are the last 500', async () => {
      const { frontier } = await crawl().node();
      for (let n = 0; n < 300; n++) {
        await frontier.control('paused');
        await frontier.control('running');
      }
      const events = await frontier.telemetry.events(0);
      expect(events).toHaveLength(500);
      expect(events.at(-1)!.number).toBe(601);
      expect(events[0]!.number).toBe(102);
    });

    it('tell of a node that died, which stays listed with its requests', async () => {
      const dead = await crawl().node({ id: 'gone', tunables: { nodeTimeoutMs: 300 } });
      await dead.frontier.push([request('a'), request('b')], 'links');
      await take(dead.frontier, 2);
      await report(dead, reportOf(1));
      const survivor = await crawl().node({ id: 'here', tunables: { nodeTimeoutMs: 300 } });
      await crawl().recoverUntil(2, [survivor]);
      await beat(survivor);
      const { deadNodes, nodes, counters } = await survivor.frontier.snapshot();
      expect(counters['nodes/died']).toBe(1);
      expect(deadNodes).toMatchObject([{ id: 'gone', pid: process.pid, requests: 2, pages: 0, facts }]);
      expect([...deadNodes[0]!.held].sort()).toEqual([request('a').id, request('b').id].sort());
      expect(nodes.map(({ id }) => id)).not.toContain('gone');
      const events = await survivor.frontier.telemetry.events(0);
      expect(events.find(({ kind }) => kind === 'node_died')).toMatchObject({ node: 'gone', requests: 2 });
    });

    it('name of a dead node with many requests the first 20, and none of one that held none', async () => {
      const idle = await crawl().node({ id: 'idle', tunables: { nodeTimeoutMs: 300 } });
      const busy = await crawl().node({
        id: 'busy',
        tunables: { nodeTimeoutMs: 300, concurrencyPerDomain: 30 },
      });
      const links = Array.from({ length: 25 }, (_, n) => request(`r${n}`));
      await busy.frontier.push(links, 'links');
      expect(await take(busy.frontier, 25)).toHaveLength(25);
      await until(
        () =>
          idle.frontier
            .recover()
            .catch(() => 0)
            .then(async () => (await crawl().outsider()).snapshot()),
        ({ deadNodes }) => deadNodes.length === 2,
      );
      const { deadNodes } = await (await crawl().outsider()).snapshot();
      const held = Object.fromEntries(
        deadNodes.map(({ id, requests, held }) => [id, [requests, held.length]]),
      );
      expect(held).toEqual({ idle: [0, 0], busy: [25, MAX_HELD_IDS] });
    });

    it('tell of losses when a point of the history is recorded', async () => {
      const { frontier } = await crawl().node();
      const { hand } = crawl().world;
      await frontier.push([request('a'), request('b')], 'links');
      for (const each of [request('a'), request('b')]) await hand!.deleteRecord(each);
      await until(
        async () => (await frontier.lease(2, 0)) && (await frontier.snapshot()).lost,
        (lost) => lost === 2,
      );
      await frontier.telemetry.record(point(), assessment, 5);
      await frontier.telemetry.record(point(), assessment, 5);
      const events = await frontier.telemetry.events(0);
      expect(events.filter(({ kind }) => kind === 'requests_lost')).toMatchObject([{ requests: 2 }]);
    });
  });

  it('telemetry goes with the statistics at a reset, stays with the queue, and is in no backup', async () => {
    const node = await crawl().node();
    await report(node, reportOf(1, { 'a.example': { p: 1 } }));
    await node.frontier.telemetry.record(point(), assessment, 5);
    await node.frontier.push([request('a')], 'links');
    await commit(node.frontier, await takeOne(node.frontier), failed());
    await node.frontier.leave('shutdown');
    const outsider = await crawl().outsider();
    await outsider.clear(['queue'], { force: false });
    expect(await outsider.telemetry.domains(0, 10)).toHaveLength(1);
    expect((await outsider.snapshot()).assessment).not.toBeNull();
    const entries: BackupEntry[] = [];
    for await (const entry of outsider.backups.read(allParts)) entries.push(entry);
    expect(JSON.stringify(entries)).not.toContain(assessment.sentence);
    await outsider.clear(allParts, { force: false });
    expect(await outsider.telemetry.domains(0, 10)).toEqual([]);
    expect(await outsider.telemetry.events(0)).toEqual([]);
    expect(await outsider.snapshot()).toMatchObject({ assessment: null, deadNodes: [] });
  });

  it('domain statistics are read from counts', () => {
    expect(
      domainStats({ p: 3, b: 100, s200: 2, s503: 1, ftimeout: 1, rtimeout: 2, m: 300, a: 3, l10: 2, l14: 1 }),
    ).toEqual({
      ...{
        pages: 3,
        bytes: 100,
        statuses: { 200: 2, 503: 1 },
        failures: { timeout: 1 },
        retries: { timeout: 2 },
      },
      latency: { meanMs: 100, p95Ms: 128 },
    });
  });
}
