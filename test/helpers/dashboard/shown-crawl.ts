/**
 * A crawl for the dashboard to show: requests, nodes, reports, a history and events of an hour, as nodes would have left them.
 * Nothing crawls, so it stands as it was made. Tests, the pictures of the guide and the measurement use it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import {
  type Assessment,
  type Frontier,
  type HistoryPoint,
  type Lease,
  type NodeFacts,
  noEffects,
} from '../../../src/frontier/frontier.js';
import { historySteps, pointText } from '../../../src/frontier/telemetry/stored-telemetry.js';
import { fingerprint } from '../../../src/http/message/fingerprint.js';
import { toFrontierRequest } from '../../../src/http/message/record/request-codec.js';
import { Request } from '../../../src/http/message/request.js';
import { joinOptions } from '../joining.js';
import { openOptions } from '../open-options.js';

export interface ShownChoice {
  /** Live nodes. */
  readonly nodes?: number;
  /** Domains beside those that have something to tell. */
  readonly moreDomains?: number;
  /** URLs that fail beside those that have something to tell, and why. */
  readonly failing?: readonly { readonly url: string; readonly detail: string }[];
  /** When the history ends. */
  readonly nowMs?: number;
}

/** Open while it is shown. */
export interface ShownCrawl {
  /** As another page: what is shown live changes. */
  pageDone(): Promise<void>;
  close(): Promise<void>;
}

const HOUR_MS = 3_600_000;
/** Points of the history. */
const PAUSED = { from: 150, to: 174 };
const DIED = 260;
const STEP_MS = 10_000;
/** Nobody sends heartbeats. */
const NODE_TIMEOUT_MS = 6 * HOUR_MS;

const facts: NodeFacts = {
  ...{ version: '0.1.0', rssBytes: 214_000_000, cpu: 0.58, eventLoopDelayMs: 21, slots: 16, slotsUsed: 14 },
  ...{
    failuresPerSecond: 0.1,
    oldestLeaseMs: 2_300,
    oldestLeaseDomain: 'shop.example',
    obstacle: null,
    metricsPort: null,
  },
};

/** Domains with something to tell: fast, slow, refusing, failing, delayed. */
const domains: readonly (readonly [name: string, counts: Readonly<Record<string, number>>])[] = [
  [
    'shop.example.com',
    {
      p: 18_240,
      b: 912e6,
      s200: 18_102,
      s404: 138,
      m: 1_620_000,
      a: 18_240,
      l13: 12_000,
      l14: 5_800,
      l15: 440,
    },
  ],
  ['images.example.net', { p: 9_412, b: 3.1e9, s200: 9_410, s304: 2, m: 420_000, a: 9_412, l10: 9_412 }],
  [
    'archive.example.org',
    {
      p: 1_204,
      b: 61e6,
      s200: 1_190,
      ftimeout: 14,
      rtimeout: 96,
      m: 5_300_000,
      a: 1_300,
      l24: 1_100,
      l26: 200,
    },
  ],
  ['members.example.com', { p: 611, b: 1.2e6, s403: 611, m: 31_000, a: 611, l11: 611 }],
  [
    'api.example.io',
    {
      p: 830,
      b: 22e6,
      s200: 790,
      s503: 160,
      fhttp_status: 40,
      rhttp_status: 120,
      m: 92_000,
      a: 950,
      l13: 950,
    },
  ],
  ['blog.example.com', { p: 402, b: 18e6, s200: 402, m: 60_000, a: 402, l14: 402 }],
];

/** @param url of a Redis, since the history of an hour is written to it directly: its clock cannot be set back */
export async function showCrawl(url: string, spider: string, choice: ShownChoice = {}): Promise<ShownCrawl> {
  const open = openOptions(url, spider);
  const { nodes: count = 3, moreDomains = 0, failing = [], nowMs = Date.now() } = choice;
  const clients: Frontier[] = [];
  const join = async (id: string, nodeTimeoutMs: number) => {
    const frontier = await openFrontier(open);
    clients.push(frontier);
    const joining = joinOptions({ tunables: { nodeTimeoutMs, concurrencyPerDomain: 8 } });
    const node = { id, host: `worker-${id.slice(-1)}`, pid: 4_000 + clients.length };
    const { incarnation } = await frontier.join(node, joining);
    return { frontier, incarnation };
  };

  const first = await join('node-a', NODE_TIMEOUT_MS);
  const { frontier } = first;
  await fail(frontier, failing);
  const gone = await join('node-d', 1_500);
  await frontier.push(requests('https://shop.example.com/product/', 240), 'links');
  await gone.frontier.lease(12, 0);
  while ((await frontier.recover()) === 0) {
    await first.frontier.heartbeat(first.incarnation, 5);
    await sleep(50);
  }
  await frontier.push(requests('https://archive.example.org/paper/', 40), 'links');
  await frontier.push(requests('https://api.example.io/v2/item/', 20), 'links');
  const others = await Promise.all(
    Array.from({ length: count - 1 }, (_, n) =>
      join(`node-${String.fromCharCode(98 + (n % 25))}${n < 25 ? '' : n}`, NODE_TIMEOUT_MS),
    ),
  );
  const live = [first, ...others];
  const held: Lease[] = [];
  for (const [n, { frontier: client }] of live.entries()) {
    const { leases } = await client.lease(n === 0 ? 14 : 6, 0);
    if (n === 0) held.push(...leases);
  }
  const many = Array.from(
    { length: moreDomains },
    (_, n) => [`host-${n}.example.net`, { p: 12, b: 4e5, s200: 12, m: 900, a: 12, l13: 12 }] as const,
  );
  let sequence = 0;
  const report = (from: number, to: number, more: Partial<NodeFacts> = {}) => {
    sequence += 1;
    return first.frontier.telemetry.report(first.incarnation, {
      ...{ sequence, node: { ...facts, ...more }, events: [], domains: many.slice(from, to) },
    });
  };
  for (let from = 0; from < many.length; from += 100) await report(from, from + 100);
  for (const [n, { frontier: client, incarnation }] of live.entries()) {
    const node =
      n === 1
        ? {
            ...facts,
            cpu: 0.97,
            eventLoopDelayMs: 1_840,
            oldestLeaseMs: 148_000,
            oldestLeaseDomain: 'slow.example',
          }
        : facts;
    const told = n === 0 ? domains : [];
    await client.telemetry.report(incarnation, { sequence: 100_000, node, events: [], domains: told });
    await client.heartbeat(incarnation, 5 + n);
  }
  await frontier.throttle('api.example.io', { forMs: HOUR_MS, source: 'retry-after' });
  await frontier.throttle('archive.example.org', { delayMs: 2_000, source: 'robots' });
  await frontier.control('paused', 'ops@laptop');
  await frontier.control('running', 'ops@laptop');
  await first.frontier.telemetry.record(history(nowMs, count).at(-1)!, assessmentOf(nowMs, count), 1_440);
  const redis = new Redis(url);
  const points = history(nowMs, count).flatMap((point) =>
    Object.values(historySteps).map(
      ({ name, ms }) => [`${name}${Math.floor(point.atMs / ms)}`, pointText(point)] as const,
    ),
  );
  await redis.hset(`${open.keys.requests}:~telemetry`, new Map(points));
  await moveEvents(redis, `${open.keys.requests}:~telemetry`, nowMs);
  redis.disconnect();
  return {
    async pageDone() {
      const lease = held.pop() ?? (await frontier.lease(1, 0)).leases[0];
      if (lease === undefined) throw new Error('no page is left that could be done');
      await frontier.settle(lease, { kind: 'done', reason: 'done', status: 200, attempts: 1 }, noEffects);
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

function requests(prefix: string, count: number) {
  return Array.from({ length: count }, (_, n) => frontierRequest(`${prefix}${n}`));
}

function frontierRequest(url: string) {
  return toFrontierRequest(new Request(url), {
    ...{ callback: 'parse', errback: null, depth: 0, parentId: null, ordinal: 0, origin: null },
    ...{ isTrustedSeed: false, domainKey: 'host', nowMs: Date.now(), job: null, fingerprint },
  });
}

/** The events belong to the bends of the history. */
async function moveEvents(redis: Redis, key: string, nowMs: number): Promise<void> {
  const at: Readonly<Record<string, number>> = { paused: PAUSED.from, resumed: PAUSED.to, node_died: DIED };
  for (let n = 1; n <= Number(await redis.hget(key, 'events')); n += 1) {
    const event = JSON.parse((await redis.hget(key, `event:${n}`)) ?? '{}');
    const point = at[event.kind] ?? n - 1;
    const moved = { ...event, atMs: nowMs - HOUR_MS + point * STEP_MS };
    await redis.hset(key, `event:${n}`, JSON.stringify(moved));
  }
}

/** Push and fail them: with a status and without, on several domains. */
async function fail(frontier: Frontier, failing: NonNullable<ShownChoice['failing']>): Promise<void> {
  const usual = [
    ...Array.from({ length: 24 }, (_, n) => ['api.example.io', 'http_status', 503, n] as const),
    ...Array.from({ length: 9 }, (_, n) => ['archive.example.org', 'timeout', undefined, n] as const),
    ...Array.from({ length: 3 }, (_, n) => ['shop.example.com', 'callback_error', 200, n] as const),
  ].map(([host, reason, status, n]) => ({
    ...{ url: `https://${host}/broken/${n}`, reason, status },
    detail: reason === 'callback_error' ? 'TypeError: price is undefined' : '',
  }));
  const all = [...usual, ...failing.map((each) => ({ ...each, reason: 'callback_error', status: 200 }))];
  const byId = new Map(all.map((each) => [frontierRequest(each.url).id, each]));
  const high = all.map(({ url }) => ({ ...frontierRequest(url), priority: 100 }));
  await frontier.push(high, 'links');
  for (let left = all.length; left > 0; ) {
    const { leases } = await frontier.lease(16, 0);
    for (const lease of leases) {
      const failure = byId.get(lease.id);
      if (failure === undefined) throw new Error('leased what is not to fail');
      const { reason, status, detail } = failure;
      const outcome = {
        kind: 'failed',
        reason,
        attempts: 3,
        detail,
        ...(status !== undefined && { status }),
      } as const;
      const stats = {
        item_scraped_count: 700,
        [`downloader/response_status_count/${status ?? 200}`]: status === 503 ? 30 : 2_400,
      };
      await frontier.settle(lease, outcome, { ...noEffects, stats });
      left -= 1;
    }
  }
}

/** An hour: it begins, is paused for four minutes, and slows down when a node dies. */
function history(nowMs: number, nodes: number): HistoryPoint[] {
  const points: HistoryPoint[] = [];
  let [pages, items, failures, retries] = [22_000, 19_000, 12, 60];
  const from = Math.floor((nowMs - HOUR_MS) / STEP_MS) * STEP_MS;
  for (let n = 0; n <= HOUR_MS / STEP_MS; n += 1) {
    const isPaused = n >= PAUSED.from && n < PAUSED.to;
    const hasDied = n >= DIED;
    const wave = 4 * Math.sin(n / 9) + 3 * Math.sin(n / 3.7);
    const rate = isPaused ? 0 : (hasDied ? 21 : 33) + wave;
    pages += Math.round(rate * 10);
    items += Math.round(rate * 8);
    failures += !isPaused && n % 7 === 0 ? 3 : 0;
    retries += isPaused ? 0 : Math.round((hasDied ? 2.2 : 0.7) * 10);
    points.push({
      ...{ atMs: from + n * STEP_MS, pages, items, failures, retries, accepted: pages + 38_768 - n * 60 },
      ...{
        pending: 38_768 - n * 60 + Math.round(wave * 40),
        delayed: isPaused ? 0 : 320 + Math.round(wave * 12),
      },
      ...{
        leased: isPaused ? 0 : hasDied ? 26 : 40,
        nodes: hasDied ? nodes : nodes + 1,
        wantedNodes: hasDied ? 5 : 4,
      },
      ...{ nodesCpu: isPaused ? 0.1 : 1.8, storeCpuSeconds: n * 1.4 },
      limitedBy: isPaused ? 'paused' : hasDied ? 'nodes' : 'domain_concurrency',
    });
  }
  return points;
}

function assessmentOf(atMs: number, nodes: number): Assessment {
  const slots = nodes * 16;
  return {
    ...{
      atMs,
      limitedBy: 'nodes',
      leasable: { atLeast: 300 },
      slots,
      slotsUsed: slots - 6,
      usableSlots: 74,
      wantedNodes: 5,
    },
    sentence: `${slots - 6} of ${slots} slots are in use, and 300 or more requests could be taken: more nodes would help`,
    eta: { seconds: 1_480, by: 'slowest_domain', domain: 'archive.example.org' },
  };
}
