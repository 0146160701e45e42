/** What a node reports of itself and of its pages. */
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { FrontierUnavailableError } from '../../../src/errors.js';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import type { DomainCounts, NodeReport, Telemetry } from '../../../src/frontier/frontier.js';
import { domainStats, OTHER_DOMAINS } from '../../../src/frontier/telemetry/domain-counts.js';
import type { Yielded } from '../../../src/http/message/request.js';
import type { Response } from '../../../src/http/message/response.js';
import { silentLogger } from '../../../src/log.js';
import { Heartbeat, Pulse } from '../../../src/node/membership/heartbeat.js';
import { type Handed, Reporter } from '../../../src/node/telemetry/reporter.js';
import { Spider } from '../../../src/spider/spider.js';
import { nodeFacts } from '../../frontier-contract/telemetry-examples.js';
import { joinAs } from '../../helpers/joining.js';
import { crawl, freshStore, startNode } from '../../helpers/node.js';
import { openOptions } from '../../helpers/open-options.js';
import { startCuttingProxy } from '../../helpers/redis/cutting-proxy.js';
import { startRedis } from '../../helpers/redis/redis-server.js';
import { startSite } from '../../helpers/sites/site.js';
import { waitFor } from '../../helpers/wait-for.js';

class Walk extends Spider {
  override name = 'walk';
  override *parse(response: Response): Generator<Yielded> {
    yield* response.followAll(response.links());
  }
}

describe('a node', () => {
  it('reports its pages by domain when it leaves, with a point of the history', async () => {
    const site = await startSite({ pages: 3, failing: { '/bad': Number.POSITIVE_INFINITY } });
    const open = await freshStore();
    const urls = [site.url, `${site.origin}/gone`, `${site.origin}/bad`];
    const result = await crawl(
      open,
      class extends Walk {
        override startUrls = urls;
      },
    );
    const outsider = await openFrontier(open);
    const [domain, ...others] = await outsider.telemetry.domains(0, 10);
    expect(others).toEqual([]);
    expect(domain).toMatchObject({ name: new URL(site.url).host, pending: 0, leased: 0 });
    const stats = domainStats(domain!.counts);
    expect(stats.pages).toBe(result.pages);
    expect(stats.statuses).toMatchObject({ 404: 1, 503: 3 });
    expect(stats.failures).toEqual({ http_status: 1 });
    expect(stats.retries).toEqual({ http_status: 2 });
    expect(stats.bytes).toBeGreaterThan(0);
    expect(stats.latency!.p95Ms).toBeGreaterThan(0);
    const now = Date.now();
    const [point] = await outsider.telemetry.history('ten_seconds', now - 60_000, now + 10_000);
    const { done, assessment } = await outsider.snapshot();
    expect(point).toMatchObject({
      pages: done,
      failures: 1,
      retries: 2,
      pending: 0,
      nodes: 1,
      limitedBy: 'empty',
    });
    expect(assessment).toMatchObject({
      limitedBy: 'empty',
      slots: 16,
      wantedNodes: 0,
      sentence: 'nothing is left to do',
    });
    await outsider.close();
  });

  it('reports by its heartbeat thread while it runs', { timeout: 40_000 }, async () => {
    const open = await freshStore();
    const node = await startNode(open, Walk, { options: { exitWhenDone: false } });
    const outsider = await openFrontier(open);
    const facts = async () => (await outsider.snapshot()).nodes[0]?.facts ?? null;
    await waitFor(async () => (await facts()) !== null, { timeoutMs: 30_000 });
    expect(await facts()).toMatchObject({ slots: 16, slotsUsed: 0, oldestLeaseMs: 0, obstacle: null });
    expect((await facts())!.rssBytes).toBeGreaterThan(1e7);
    node.drain();
    await node.result;
    await outsider.close();
  });
});

it('a store that is full, and has room again, are events of the crawl', { timeout: 60_000 }, async () => {
  const redis = await startRedis();
  const admin = new Redis(redis.url);
  try {
    const open = openOptions(redis.url, 'full');
    const site = await startSite({ pages: 1 });
    const node = await startNode(open, Walk, { options: { exitWhenDone: false } });
    const outsider = await openFrontier(open);
    await outsider.appendSeeds([site.url]);
    await waitFor(async () => (await outsider.snapshot()).done > 0);
    await admin.config('SET', 'maxmemory', '1');
    const kinds = async () => (await outsider.telemetry.events(0)).map(({ kind }) => kind);
    await waitFor(async () => (await kinds()).includes('store_full'), { timeoutMs: 30_000 });
    await admin.config('SET', 'maxmemory', '0');
    await waitFor(async () => (await outsider.snapshot()).nodes[0]?.facts?.obstacle === null, {
      timeoutMs: 30_000,
    });
    node.drain();
    await node.result;
    expect((await kinds()).filter((kind) => kind.startsWith('store'))).toEqual(['store_full', 'store_back']);
    await outsider.close();
  } finally {
    admin.disconnect();
    await redis.stop();
  }
});

it('a report that hangs keeps no heartbeat back', { timeout: 60_000 }, async () => {
  const redis = await startRedis();
  const proxy = await startCuttingProxy(redis.port);
  const direct = await openFrontier(openOptions(redis.url, 'hangs'));
  const { incarnation } = await joinAs(direct, { tunables: { nodeTimeoutMs: 3_000 } });
  const pulse = new Pulse();
  pulse.note(0);
  const heartbeat = new Heartbeat(
    {
      ...{ open: openOptions(`redis://127.0.0.1:${proxy.port}`, 'hangs'), incarnation, node: 'one' },
      ...{ intervalMs: 200, mainLoopTimeoutMs: 120_000, endAfterMs: 120_000, endsProcess: false },
      ...{
        speaksJson: true,
        pulse: pulse.buffer,
        reports: { historyMinutes: 5, scaleMax: 100 },
        metrics: null,
      },
    },
    { onNews: () => {}, onReported: () => {} },
    silentLogger,
    async () => 'alive',
  );
  try {
    const hangs = proxy.silenceAt('_report');
    heartbeat.hand({ number: 1, node: nodeFacts, domains: new Map([['a.example', { p: 1 }]]), events: [] });
    await waitFor(hangs, { what: 'a report', timeoutMs: 30_000 });
    // A connection that gives no answer is given up after 4 s, and the report sent again as it was. The node would count as dead by then.
    await waitFor(
      async () => {
        await direct.recover();
        return (await direct.telemetry.domains(0, 1)).length > 0;
      },
      { what: 'the report', timeoutMs: 30_000 },
    );
    expect(await direct.telemetry.domain('a.example')).toMatchObject({ counts: { p: 1 } });
    expect(await direct.snapshot()).toMatchObject({ nodes: [{ id: 'one' }], silent: [], deadNodes: [] });
  } finally {
    await heartbeat.stop();
    await direct.close();
    await proxy.close();
    await redis.stop();
  }
});

describe('a report', () => {
  const handed = (number: number, domains: Handed['domains']): Handed => ({
    number,
    node: nodeFacts,
    domains,
    events: [],
  });

  /** A store that takes reports, and fails as often as it is told to. */
  const storeOf = (failures: number) => {
    const reports: NodeReport[] = [];
    const report: Telemetry['report'] = async (_, what) => {
      reports.push(what);
      if (reports.length <= failures) throw new FrontierUnavailableError('away');
      return false;
    };
    return { reports, telemetry: { report } as Telemetry };
  };

  it('that fails is sent again as it was, and what came since with the next one', async () => {
    const { reports, telemetry } = storeOf(1);
    const reporter = new Reporter({ historyMinutes: 5, scaleMax: 100 });
    reporter.add(handed(1, new Map([['a', { p: 1 }]])));
    await expect(reporter.send(telemetry, 'me')).rejects.toThrow('away');
    reporter.add(handed(2, new Map([['a', { p: 2 }]])));
    reporter.add(handed(3, new Map([['a', { p: 4 }]])));
    expect(await reporter.send(telemetry, 'me')).toEqual({ sequence: 2, upTo: 3 });
    expect(reports.map(({ sequence, domains }) => [sequence, domains])).toEqual([
      [1, [['a', { p: 1 }]]],
      [1, [['a', { p: 1 }]]],
      [2, [['a', { p: 6 }]]],
    ]);
    expect(await reporter.send(telemetry, 'me')).toBeNull();
  });

  it('names a hundred domains, those with failures first, and adds up the others', async () => {
    const { reports, telemetry } = storeOf(0);
    const reporter = new Reporter({ historyMinutes: 5, scaleMax: 100 });
    const domains = Array.from({ length: 150 }, (_, n): [string, DomainCounts] => [`${n}`, { p: 1 + n }]);
    reporter.add(handed(1, new Map([['bad', { p: 1, ftimeout: 1 }], ...domains])));
    await reporter.send(telemetry, 'me');
    const [{ domains: reported }] = reports as [NodeReport];
    expect(reported).toHaveLength(101);
    expect(reported[0]![0]).toBe('bad');
    expect(reported[1]).toEqual(['149', { p: 150 }]);
    // 1 + 2 + … + 51
    expect(reported[100]).toEqual([OTHER_DOMAINS, { p: (51 * 52) / 2 }]);
  });
});
