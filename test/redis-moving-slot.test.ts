/** A slot of a Redis Cluster that moves from server to server, key by key, while every verb writes. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Dupefilter, Frontier, Lease } from '../src/frontier/frontier.js';
import type { RedisAddress } from '../src/frontier/open.js';
import { RedisFrontier } from '../src/frontier/redis/redis-frontier.js';
import { Crawl, done, effects, failed, request, retry, worldOf } from './frontier-contract/world.js';
import { defaultShape, openOptions } from './helpers/open-options.js';
import { startCluster } from './helpers/redis-cluster.js';
import type { RedisServer } from './helpers/redis-server.js';

/** Calls of each verb. */
const TIMES = 200;

describe('a slot that moves key by key', { timeout: 180_000 }, () => {
  let servers: RedisServer[] = [];
  beforeAll(async () => {
    servers = await startCluster();
  }, 60_000);
  afterAll(async () => {
    for (const server of servers) await server.stop();
  });

  it.each<Dupefilter>([
    { class: 'RFPDupeFilter' },
    { class: 'CompactDupeFilter' },
    { class: 'BloomDupeFilter', capacity: 2_000, errorRate: 1e-6 },
  ])('leaves no verb half written: $class', async (dupefilter) => {
    const spider = `{${dupefilter.class}}`;
    const address: RedisAddress = {
      kind: 'cluster',
      nodes: servers.map(({ host, port }) => ({ host, port })),
      options: {},
    };
    const options = openOptions({ engine: 'redis', address }, spider, {
      shape: { ...defaultShape, dupefilter },
    });
    const crawl = new Crawl(
      worldOf(() => RedisFrontier.open(options, address)),
      { dupefilter },
    );
    const nodes = await Promise.all(Array.from({ length: 3 }, () => crawl.node()));
    let isOver = false;
    const moves = moveAround(servers, spider, () => isOver);
    try {
      await Promise.all(
        nodes.map(({ frontier, joined }, n) =>
          work(frontier, joined.incarnation, `${spider}-${n}`, TIMES / nodes.length),
        ),
      );
    } finally {
      isOver = true;
    }
    expect(await moves).toBeGreaterThan(3);
    const { frontier } = nodes[0]!;
    // A lease whose answer was lost is found by its node.
    for (const node of nodes) await node.frontier.reconcile([], 0);
    const {
      accepted,
      pending,
      delayed,
      leased,
      done: settled,
      failed: failures,
      removed,
    } = await frontier.snapshot();
    expect(accepted).toBe(pending + delayed + leased + settled + failures + removed);
    expect(settled).toBeGreaterThan(TIMES / 4);
    await crawl.end();
  });
});

/** Calls every verb that writes in the course of a crawl, so many times each. */
async function work(frontier: Frontier, incarnation: string, name: string, times: number): Promise<void> {
  let serial = 0;
  const fresh = (count: number) =>
    Array.from({ length: count }, () => {
      serial += 1;
      return request(`${name}/${serial}`, { domain: `${serial % 7}.example`, priority: serial % 3 });
    });
  for (let turn = 0; turn < times; turn += 1) {
    await insist(() => frontier.push(fresh(4), 'links'));
    const { leases } = await insist(() => frontier.lease(3, 0));
    const [a, b, c] = leases as (Lease | undefined)[];
    const page = effects({ items: [`"${turn}"`], requests: fresh(2), stats: { item_scraped_count: 1 } });
    if (a) await insist(() => frontier.settle(a, done, page));
    if (b) await insist(() => frontier.settle(b, turn % 2 === 0 ? failed() : retry(b, 5), page));
    if (c) {
      // A turn: settles, and leases that are given back at once.
      const settled = insist(() => frontier.settle(c, done, page));
      const { leases: more } = await insist(() => frontier.lease(1, 1));
      await settled;
      for (const lease of more)
        await insist(() =>
          frontier.settle(lease, { kind: 'released', reason: 'test', unstarted: true }, effects({})),
        );
    }
    await insist(() => frontier.throttle(`${turn % 7}.example`, { forMs: 1, source: 'retry-after' }));
    await insist(() => frontier.heartbeat(incarnation, { pages: turn, pagesPerSecond: 1 }));
    await insist(() => frontier.reconcile([], 60_000));
    await insist(() => frontier.recover());
    await insist(() => frontier.appendSeeds([`${name}/seed/${turn}`]));
    const seeds = await insist(() => frontier.peekSeeds(2));
    await insist(() =>
      frontier.intake(
        seeds.map((seed, n) => (n === 0 ? { seed, requests: fresh(1) } : { seed, bad: 'bad' })),
      ),
    );
    if (b && turn % 2 === 0) await insist(() => frontier.failed.purge([b.id]));
  }
}

/** What the engine does where the store is away: again, until it is there. */
async function insist<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if ((error as { code?: string }).code !== 'frontier_unavailable') throw error;
    }
  }
}

/** Moves the slot of a hash tag on from server to server, a key at a time, until told otherwise. @returns how often it moved. */
async function moveAround(
  servers: readonly RedisServer[],
  tag: string,
  isOver: () => boolean,
): Promise<number> {
  const admins = servers.map(({ url }) => new Redis(url));
  try {
    const ids = await Promise.all(admins.map((admin) => admin.cluster('MYID') as Promise<string>));
    const slot = Number(await admins[0]!.cluster('KEYSLOT', tag));
    let at = await ownerOf(admins, slot);
    let moves = 0;
    while (!isOver()) {
      const to = (at + 1) % servers.length;
      await admins[to]!.cluster('SETSLOT', slot, 'IMPORTING', ids[at]!);
      await admins[at]!.cluster('SETSLOT', slot, 'MIGRATING', ids[to]!);
      for (;;) {
        const keys = (await admins[at]!.cluster('GETKEYSINSLOT', slot, 100)) as string[];
        if (keys.length === 0) break;
        const key = keys[Math.floor(Math.random() * keys.length)]!;
        await admins[at]!.migrate(servers[to]!.host, servers[to]!.port, key, 0, 5_000);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      for (const n of [to, at, ...admins.keys()]) await admins[n]!.cluster('SETSLOT', slot, 'NODE', ids[to]!);
      at = to;
      moves += 1;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return moves;
  } finally {
    for (const admin of admins) admin.disconnect();
  }
}

async function ownerOf(admins: readonly Redis[], slot: number): Promise<number> {
  for (const [n, admin] of admins.entries()) {
    const ranges = (await admin.cluster('SLOTS')) as unknown as [number, number, [string, number, string]][];
    const id = (await admin.cluster('MYID')) as string;
    for (const [first, last, [, , owner]] of ranges) {
      if (first <= slot && slot <= last && owner === id) return n;
    }
  }
  throw new Error(`no server has slot ${slot}`);
}
