/** What screens read of a crawl: pages of domains, failed requests by group, dead nodes, the history. The same from both engines. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failedReasons } from '../../../src/crawler/requests/failed-reasons.js';
import { summarizeFailed } from '../../../src/crawler/requests/failed-summary.js';
import { retryAdvice } from '../../../src/crawler/requests/retry-advice.js';
import { DomainReader } from '../../../src/crawler/stats/domain-reports.js';
import { readHistory } from '../../../src/crawler/stats/read-history.js';
import { StatsReader } from '../../../src/crawler/stats/read-stats.js';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import type { DomainCounts, FrontierRequest, Outcome } from '../../../src/frontier/frontier.js';
import { assessment, historyPoint, nodeFacts } from '../../frontier-contract/telemetry-examples.js';
import {
  beat,
  Crawl,
  commit,
  failed,
  type Node,
  nameOf,
  request,
  take,
  until,
  worldOf,
} from '../../frontier-contract/world.js';
import { openOptions } from '../../helpers/open-options.js';
import { redisOfFile } from '../../helpers/redis/redis-of-file.js';
import { tempDir } from '../../helpers/temp-dir.js';

const { server } = await redisOfFile();

/** A request as a crawl stores it. */
const page = (url: string): FrontierRequest => ({
  ...request(url, { domain: new URL(url).host }),
  record: JSON.stringify({ v: 1, u: url }),
});

describe.each(['redis', 'embedded'] as const)('of a crawl on the %s engine', (engine) => {
  let crawl: Crawl;
  beforeEach(() => {
    const { dir, remove } = tempDir('readers');
    const place = engine === 'redis' ? server.url : dir;
    const spider = `shop-${randomUUID()}`;
    crawl = new Crawl(worldOf(() => openFrontier(openOptions(place, spider)), remove));
  });
  afterEach(() => crawl.end());

  const report = ({ frontier, joined }: Node, sequence: number, domains: Record<string, DomainCounts>) =>
    frontier.telemetry.report(joined.incarnation, {
      ...{ sequence, node: nodeFacts, domains: Object.entries(domains), events: [] },
    });

  it('domains come in pages of an order, and one at a time', async () => {
    const node = await crawl.node();
    const domains = Object.fromEntries(
      [3, 1, 5, 2, 4].map((n) => [
        `${n}.example`,
        { p: 1, fhttp_status: n, s403: 6 - n, m: 10, a: 1, l8: 1 },
      ]),
    );
    await report(node, 1, domains);
    const reader = new DomainReader(node.frontier);
    const names: (string | null)[][] = [];
    let after: string | null = null;
    do {
      const { domains: some, next } = await reader.page('failed', 2, after);
      names.push(some.map(({ domain }) => domain));
      after = next;
    } while (after !== null);
    expect(names).toEqual([['5.example', '4.example'], ['3.example', '2.example'], ['1.example']]);
    expect((await reader.page('blocked', 1)).domains[0]!.domain).toBe('1.example');
    expect(await reader.page('failed', 2, 'gone.example')).toEqual({ domains: [], next: null });
    expect(await reader.one('4.example')).toMatchObject({
      failures: { http_status: 4 },
      p95Ms: 16,
      robots: [],
    });
    expect(await reader.one('9.example')).toBeNull();
    expect((await reader.worst(2)).map(({ domain }) => domain)).toEqual(['5.example', '4.example']);
  });

  it('failed requests are grouped by reason, status and site, with what to type', async () => {
    const { frontier } = await crawl.node();
    const outcomes: Record<string, Outcome> = {
      'https://a.example/1': failed('timeout'),
      'https://a.example/2': failed('timeout'),
      'https://b.example:8443/': { kind: 'failed', reason: 'http_status', status: 403, attempts: 1 },
      'https://c.example/': failed('dns_not_found'),
      'https://it$(id).example/': failed('callback_error_kept'),
      'https://d.example/': failed('A_CODE_OF_OURS'),
    };
    await frontier.push(Object.keys(outcomes).map(page), 'links');
    for (const lease of await take(frontier, 6)) {
      await commit(frontier, lease, outcomes[nameOf(lease)] ?? failed('?'));
    }
    const summary = await summarizeFailed(frontier, { crawl: 'shop --job may' });
    expect(summary).toMatchObject({ total: 6, read: 6 });
    const [first, ...others] = summary.groups;
    expect(first).toMatchObject({
      ...{ reason: 'timeout', status: null, domain: 'a.example', count: 2, retry: 'yes' },
      command: 'crawlnode failed shop --job may retry --reason timeout --domain a.example',
    });
    expect(first!.exampleUrl).toMatch(/^https:\/\/a\.example\/[12]$/);
    const byDomain = Object.fromEntries(
      others.map(({ domain, retry, command }) => [domain, [retry, command]]),
    );
    const start = 'crawlnode failed shop --job may retry --reason';
    expect(byDomain).toEqual({
      'b.example:8443': ['after_fix', `${start} http_status --status 403 --domain b.example:8443`],
      'c.example': ['no', null],
      'it$(id).example': ['no', null],
      'd.example': ['after_fix', null],
    });
    const of = await summarizeFailed(frontier, {
      crawl: 'shop',
      isWanted: ({ url }) => url === 'https://c.example/',
    });
    expect(of.groups.map(({ domain }) => domain)).toEqual(['c.example']);
  });

  it('a dead node shows the pages it had in progress, and how they stand now', async () => {
    const dead = await crawl.node({ id: 'gone', tunables: { nodeTimeoutMs: 300 } });
    await dead.frontier.push(['https://a.example/1', 'https://b.example/2'].map(page), 'links');
    await take(dead.frontier, 2);
    const survivor = await crawl.node({ id: 'here', tunables: { nodeTimeoutMs: 300 } });
    await crawl.recoverUntil(2, [survivor]);
    await beat(survivor);
    const reader = new StatsReader({
      spider: 'shop',
      job: null,
      scaleMax: 9,
      frontier: await crawl.outsider(),
    });
    const { deadNodes } = await until(
      () => reader.read(),
      (stats) => stats.deadNodes.length > 0,
    );
    expect(deadNodes).toMatchObject([{ id: 'gone', requests: 2 }]);
    const held = deadNodes[0]!.held.map(({ url, state }) => [url, state]).sort();
    expect(held).toEqual([
      ['https://a.example/1', 'pending'],
      ['https://b.example/2', 'pending'],
    ]);
  });

  it('a history is read from one instant to another, by steps', async () => {
    const { frontier } = await crawl.node();
    const point = historyPoint();
    await frontier.telemetry.record(point, assessment, 5);
    const now = Date.now();
    const span = { fromMs: now - 600_000, toMs: now + 60_000 };
    expect(await readHistory(frontier, { ...span, stepMs: null })).toEqual([point]);
    expect(await readHistory(frontier, { ...span, stepMs: 60_000 })).toEqual([point]);
    expect(await readHistory(frontier, { ...span, toMs: now - 300_000, stepMs: null })).toEqual([]);
  });
});

it('every reason has an advice', () => {
  for (const reason of failedReasons) expect(retryAdvice(reason, 503).advice).not.toBe('');
  expect(retryAdvice('http_status', 429).retry).toBe('after_fix');
  expect(retryAdvice('http_status', 503).retry).toBe('yes');
  expect(retryAdvice('connection_reset', null).retry).toBe('yes');
  expect(retryAdvice('bad_encoding', null).retry).toBe('no');
});
