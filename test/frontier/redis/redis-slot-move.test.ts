/**
 * A Cluster slot moves to and fro, one key at a time, while every verb is called again and again: no verb stops in its
 * middle, and what was acknowledged is there, once.
 */
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { FeedWriter } from '../../../src/feed-outbox.js';
import {
  allParts,
  type Frontier,
  type Lease,
  type Outcome,
  type Shape,
} from '../../../src/frontier/frontier.js';
import { RedisConnection } from '../../../src/frontier/redis/connection/connection.js';
import { openRedisFrontier } from '../../../src/frontier/redis/redis-frontier.js';
import { readAll } from '../../frontier-contract/backups-dupefilters.js';
import { reading } from '../../frontier-contract/repair.js';
import {
  done,
  effects,
  failed,
  nameOf,
  released,
  request,
  retry,
  take,
} from '../../frontier-contract/world.js';
import { contents } from '../../helpers/filled-crawl.js';
import { joinAs } from '../../helpers/joining.js';
import { defaultShape, openOptions } from '../../helpers/open-options.js';
import { moveSlot, type RedisCluster, startCluster } from '../../helpers/redis/redis-cluster.js';

const NODES = 20;
const MOVES = 20;
const tunables = { failedLimit: 10_000, nodeTimeoutMs: 120_000 };
const shape: Shape = { ...defaultShape, dupefilter: { class: 'CompactDupeFilter' } };
const usual = { staleMs: 120_000 };

let cluster: RedisCluster;
let admins: Redis[];
let slot: number;
/** Whether keys of the slot move now, and the calls of each verb that began meanwhile. */
let isMoving = false;
let begun: Map<string, number>;
let clients: Frontier[];

beforeAll(async () => {
  cluster = await startCluster();
  admins = cluster.servers.map(({ url }) => new Redis(url));
  slot = (await admins[0]!.cluster('KEYSLOT', '{news}:requests')) as number;
}, 60_000);
afterAll(async () => {
  for (const admin of admins) admin.disconnect();
  await cluster.stop();
});

beforeEach(() => {
  begun = new Map();
  clients = [];
  const call = RedisConnection.prototype.call;
  vi.spyOn(RedisConnection.prototype, 'call').mockImplementation(function (
    this: RedisConnection,
    verb,
    ...rest
  ) {
    if (isMoving) begun.set(verb, (begun.get(verb) ?? 0) + 1);
    return call.call(this, verb, ...rest);
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const client of clients) await client.close();
  for (const admin of admins) await admin.flushall();
});

async function client(spider: string): Promise<Frontier> {
  const options = openOptions({ engine: 'redis', address: cluster.address }, spider, { shape });
  const frontier = await openRedisFrontier(options, cluster.address);
  clients.push(frontier);
  return frontier;
}

/**
 * Move the slot to another server, and make these calls while its keys move.
 * @param pauseMs after each key; a crawl has about 30.
 * @returns their answers.
 */
async function during<T>(calls: () => readonly Promise<T>[], pauseMs: number): Promise<T[]> {
  let answers: Promise<T[]> | undefined;
  const moved = await moveSlot(admins, slot, pauseMs, {
    onMigrating: () => {
      isMoving = true;
      answers = Promise.all(calls());
      // Handled below; the slot is moved to its end all the same.
      answers.catch(() => undefined);
    },
    onMoved: () => {
      isMoving = false;
    },
  });
  expect(moved).toBeGreaterThan(10);
  return answers!;
}

const ofNodes = [
  ...[
    'join',
    'leave',
    'heartbeat',
    'reconcile',
    'recover',
    'push',
    'intake',
    'lease',
    'settle',
    'settle_and_lease',
  ],
  ...['throttle', 'control', 'forget', 'retry_failed', 'purge_failed', 'feed_open', 'feed_take'],
  'feed_checkpoint',
];

const named = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, n) => request(`${prefix}-${n}`, { domain: `d${n % 10}.example` }));
const writer = (feed: string): FeedWriter => ({
  ...{ feed, host: hostname(), path: `/data/${feed}`, pid: process.pid, owner: feed, format: 'csv' },
});

interface Node {
  readonly frontier: Frontier;
  readonly incarnation: string;
  readonly held: Lease[];
}

it('the verbs of nodes, guests, feeds and the failed list', { timeout: 300_000 }, async () => {
  const nodes: Node[] = [];
  for (let n = 0; n < NODES; n += 1) {
    const frontier = await client('{news}');
    const { incarnation } = await joinAs(frontier, { id: `node-${n}`, tunables, feeds: ['all'], shape });
    nodes.push({ frontier, held: [], incarnation });
  }
  const guests: Frontier[] = [];
  for (let n = 0; n < NODES; n += 1) guests.push(await client('{news}'));
  const [{ frontier: first }] = nodes as [Node];

  // What was acknowledged.
  const accepted = new Set<string>();
  const ended: string[] = [];
  const purged = new Set<string>();
  let items = 0;
  let taken = 0;
  const settled = async (frontier: Frontier, lease: Lease, outcome: Outcome, link?: string) => {
    const some = {
      ...(outcome.kind === 'done' && { items: [lease.record], feedItems: [lease.record] }),
      ...(link !== undefined && { requests: [request(link)] }),
    };
    const answer = await frontier.settle(lease, outcome, effects(some));
    expect(answer).toMatchObject({ committed: true, ...(link !== undefined && { accepted: 1 }) });
    if (link !== undefined) accepted.add(link);
    if (outcome.kind !== 'done') return;
    ended.push(nameOf(lease));
    items += 1;
  };
  const pushed = async (frontier: Frontier, requests: ReturnType<typeof named>) => {
    expect(await frontier.push(requests, 'links')).toMatchObject({ accepted: requests.length });
    for (const { record } of requests) accepted.add(nameOf({ record }));
  };

  // Failed ones to be tried again and purged; others to be forgotten; and something to begin with.
  const bad = named('bad', NODES * MOVES);
  const gone = named('gone', NODES * MOVES);
  await pushed(first, bad);
  for (const lease of await take(first, bad.length)) await settled(first, lease, failed());
  await pushed(first, [...gone, ...named('page', 200)]);
  for (const [n, { frontier }] of nodes.entries()) await frontier.feeds.open(writer(`feed-${n}`), usual);

  for (let move = 0; move < MOVES; move += 1) {
    const isEven = move % 2 === 0;
    for (const node of nodes) {
      const room = 3 - node.held.length;
      if (room > 0) node.held.push(...(await take(node.frontier, room)));
    }
    await first.appendSeeds(nodes.map((_, n) => `seed-${move}-${n}`));
    const seeds = await first.peekSeeds(NODES);
    expect(seeds).toHaveLength(NODES);
    const outcomeOf = (n: number, lease: Lease): Outcome =>
      isEven ? done : ([done, failed(), retry(lease, 10), released] as const)[(move + n) % 4]!;

    /** A page is settled; the next is leased in the same call, or in one of its own. */
    const itsPages = async ({ frontier, held }: Node, n: number) => {
      const lease = held.shift()!;
      const settling = settled(frontier, lease, outcomeOf(n, lease), `link-${move}-${n}`);
      if (isEven) await sleep(5);
      const { leases } = await frontier.lease(1, held.length);
      held.push(...leases);
      await settling;
    };
    const itsUpkeep = ({ frontier, held, incarnation }: Node, n: number) => [
      pushed(frontier, [request(`pushed-${move}-${n}`)]),
      frontier.intake([{ seed: seeds[n]!, requests: [request(`from-seed-${move}-${n}`)] }]).then((answer) => {
        expect(answer).toEqual({ accepted: 1, duplicates: 0, bad: 0 });
        accepted.add(`from-seed-${move}-${n}`);
      }),
      frontier.throttle(`t${n}.example`, { forMs: 1, source: 'retry-after' }),
      frontier.control('running'),
      frontier.heartbeat(incarnation, 1).then((answer) => expect(answer).toBe('alive')),
      frontier.reconcile(held, 600_000).then(({ returned }) => expect(returned).toBe(0)),
      frontier.recover().then((moved) => expect(moved).toBe(0)),
      frontier.forget(gone[move * NODES + n]!.fingerprint).then((was) => expect(was).toBe(true)),
    ];
    /** Guests come and go by turns; so do what fails and what waits for feeds. */
    const byTurns = ({ frontier }: Node, n: number): Promise<unknown>[] => {
      const [guest, page, feed] = [guests[n]!, bad[move * NODES + n]!, writer(`feed-${n}`)];
      if (isEven) {
        return [
          joinAs(guest, { id: `guest-${n}`, tunables, shape }),
          frontier.failed.retry([page]).then((count) => expect(count).toBe(1)),
          frontier.feeds.open(writer(`feed-${move}-${n}`), usual).then((found) => expect(found).toBeNull()),
          frontier.feeds.take(feed, 1).then((count) => {
            taken += count;
          }),
        ];
      }
      return [
        guest.leave('shutdown').then(({ last }) => expect(last).toBe(false)),
        frontier.failed.purge([page.id]).then((count) => {
          expect(count).toBe(1);
          purged.add(nameOf(page));
        }),
        frontier.feeds.checkpoint(feed, { sequence: 0, lengthBytes: 0, header: 'x' }),
      ];
    };
    const calls = () =>
      nodes.flatMap((node, n): Promise<unknown>[] => [
        itsPages(node, n),
        // A moment later: in the same turn of the loop they would have the settle sent before them, alone.
        sleep(10)
          .then(() => Promise.all([...itsUpkeep(node, n), ...byTurns(node, n)]))
          .then(() => {}),
      ]);
    await during(calls, 5);
    expect(await first.verify()).toEqual([]);
  }

  const least = (NODES * MOVES) / 2;
  for (const verb of ofNodes) expect(begun.get(verb) ?? 0, verb).toBeGreaterThanOrEqual(least);

  for (const { frontier, held } of nodes) for (const lease of held) await settled(frontier, lease, done);
  for (;;) {
    for (const lease of await take(first, 200, 500)) await settled(first, lease, done);
    const { pending, delayed, leased } = await first.snapshot();
    if (pending + delayed + leased === 0) break;
  }
  const lost = (await first.failed.list(null, 10_000)).requests.map(nameOf);
  expect(new Set(ended).size).toBe(ended.length);
  expect([...ended, ...lost, ...purged].sort()).toEqual([...accepted].sort());
  expect(await first.snapshot()).toMatchObject({
    ...{ accepted: accepted.size, done: ended.length, failed: lost.length, removed: purged.size },
    ...{ items: items - taken, startUrls: 0 },
  });
  expect(await first.verify()).toEqual([]);
});

it('the verbs that bring a crawl back, repair and delete it', { timeout: 300_000 }, async () => {
  const source = await client('{news}source');
  await joinAs(source, { tunables, shape });
  const pages = named('page', 60);
  const later = request('later', { delayMs: 3_600_000 });
  await source.push([...pages, later], 'links');
  const [a, b] = await take(source, 2);
  await source.settle(a!, failed(), effects({}));
  await source.settle(b!, done, effects({ items: ['{"n":1}', '{"n":2}'], stats: { pages: 3 } }));
  await source.appendSeeds(['http://a.example/', 'x']);
  await source.leave('shutdown');
  const entries = await readAll(source);
  const expected = await contents(source);

  const crawls: Frontier[] = [];
  for (let n = 0; n < 5; n += 1) crawls.push(await client(`{news}${n}`));
  /** The same call of each crawl, ten times at once: nine find that it was made. */
  const times =
    <T>(call: (frontier: Frontier) => Promise<T>) =>
    () =>
      crawls.flatMap((frontier) => Array.from({ length: 10 }, () => call(frontier)));

  // The keys of six crawls take long enough without a long pause.
  const moving = <T>(calls: () => readonly Promise<T>[]) => during(calls, 1);

  for (let cycle = 0; cycle < 4; cycle += 1) {
    const id = `backup-${cycle}`;
    const ticket = { id, parts: allParts, exclusive: [], force: false };
    await moving(times(({ backups }) => backups.begin(ticket)));
    for (const [n, entry] of entries.entries()) {
      await moving(times(({ backups }) => backups.apply(id, n + 1, entry)));
    }
    await moving(times(({ backups }) => backups.end(id)));
    for (const frontier of crawls) {
      expect(await frontier.verify()).toEqual([]);
      expect(await contents(frontier)).toEqual(expected);
    }
    for (let n = 0; n < 4; n += 1) {
      const read = reading(...pages, later);
      const repaired = await moving(() => crawls.map((frontier) => frontier.repair(read, { force: false })));
      const kept = { pending: 58, delayed: 1, failed: 1, unreadable: 0, losses: [] };
      expect(repaired).toEqual(crawls.map(() => kept));
    }
    for (const frontier of crawls) expect(await frontier.verify()).toEqual([]);
    await moving(times((frontier) => frontier.clear(allParts, { force: false })));
    const left = await Promise.all(admins.map((admin) => admin.keys('{news}*')));
    expect(left.flat().filter((key) => !key.startsWith('{news}source:'))).toEqual([]);
  }
  const restored = entries.map(({ kind }) => kind).filter((kind) => kind !== 'dupefilter');
  expect(new Set(restored)).toEqual(
    new Set(['crawl', 'requests', 'failed', 'seen', 'seeds', 'items', 'stats']),
  );
  for (const verb of ['restore_begin', 'restore_end', 'clear'])
    expect(begun.get(verb) ?? 0, verb).toBeGreaterThanOrEqual(200);
  expect(begun.get('restore_entry')).toBeGreaterThanOrEqual(200 * restored.length);
  expect(begun.get('repair_begin')).toBe(4 * 4 * crawls.length);
});
