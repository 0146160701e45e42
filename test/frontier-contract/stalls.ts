/**
 * A crawl that stands still because somebody deleted an index under it: one node is asked to rebuild it, and every request is
 * fetched once. One that waits for something is left alone. The time that passes first is real, so the tests run beside each other.
 */
import { describe, expect, it } from 'vitest';
import type { Stall } from '../../src/frontier/frontier.js';
import { STALL_MS } from '../../src/frontier/frontier.js';
import type { JoinChoice } from '../helpers/joining.js';
import { reading } from './repair.js';
import {
  type Crawl,
  commit,
  done,
  effects,
  failed,
  type Node,
  nameOf,
  request,
  take,
  until,
} from './world.js';

/** What can be deleted of a crawl that stands still then, by name. */
export type Indexes = Readonly<Record<string, () => Promise<unknown>>>;

const pages = Array.from({ length: 12 }, (_, n) => request(`p${n}`, { domain: `d${n % 3}.example` }));
const late = request('late', { domain: 'late.example', delayMs: 3_600_000 });

/** Deletes what an index says of the domain `lost.example`, by name. */
export function lostWhileBusy(
  open: () => Promise<{ crawl: Crawl; indexes: Indexes }>,
  names: readonly string[],
): void {
  describe('a crawl that other domains keep busy', { timeout: 60_000 }, () => {
    it.concurrent.each(names)('finds the requests of a domain again that lost %s', async (name) => {
      const { crawl, indexes } = await open();
      const { frontier } = await crawl.node();
      const lost = ['x', 'y'].map((page) => request(page, { domain: 'lost.example' }));
      const all = [...lost];
      await frontier.push(lost, 'links');
      await indexes[name]!();
      const found: string[] = [];
      await until(
        async () => {
          const busy = [0, 1].map((n) => request(`busy${all.length + n}`, { domain: 'busy.example' }));
          all.push(...busy);
          await frontier.push(busy, 'links');
          const { leases, crawl: state } = await frontier.lease(4, 0);
          for (const lease of leases) await commit(frontier, lease);
          found.push(...leases.filter(({ domain }) => domain === 'lost.example').map(nameOf));
          expect(state).toMatchObject({ finished: false, lost: 0 });
          if (state.stall === 'rebuild') await frontier.rebuild(reading(...all));
          await frontier.reconcile([], 0);
          return found;
        },
        ({ length }) => length === 2,
        3 * STALL_MS,
      );
      expect(found.sort()).toEqual(['x', 'y']);
      await crawl.end();
    });
  });
}

/** Ask as idle nodes do. @returns what was said of a stall, and to which node first. */
async function asked(nodes: readonly Node[], forMs: number): Promise<{ stall: Stall; node: Node }[]> {
  const found: { stall: Stall; node: Node }[] = [];
  await until(
    async () => {
      for (const node of nodes) {
        const { crawl, leases } = await node.frontier.lease(4, 0);
        expect({ leases, finished: crawl.finished }).toEqual({ leases: [], finished: false });
        if (crawl.stall !== null) found.push({ stall: crawl.stall, node });
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
      return found;
    },
    () => found.some(({ stall }) => stall !== 'suspected'),
    forMs,
  );
  return found.filter(({ stall }) => stall !== 'suspected');
}

export function stalls(
  open: () => Promise<{ crawl: Crawl; indexes: Indexes }>,
  names: readonly string[],
): void {
  describe('a crawl that stands still', { timeout: 60_000 }, () => {
    it.concurrent.each(names)('after the loss of %s is rebuilt by one node', async (name) => {
      const { crawl, indexes } = await open();
      const nodes = [await crawl.node(), await crawl.node()];
      const [{ frontier }] = nodes as [Node, Node];
      await frontier.push([...pages, late], 'links');
      const [first, second, ...others] = await take(frontier, 4);
      await commit(frontier, first!);
      await commit(frontier, second!, failed());
      await indexes[name]!();
      for (const lease of others) await frontier.settle(lease, done, effects({}));
      // As far as a node finds it, the rest is crawled.
      for (const lease of (await frontier.lease(12, 0)).leases) await commit(frontier, lease);

      const told = await asked(nodes, 3 * STALL_MS);
      expect(told).toMatchObject([{ stall: 'rebuild' }]);
      const { node } = told[0]!;
      expect(await node.frontier.rebuild(reading(...pages, late))).toMatchObject({ failed: 1 });
      const outsider = await crawl.outsider();
      expect(await outsider.verify()).toEqual([]);
      expect(await outsider.inspect(late)).toMatchObject({ state: 'delayed' });
      const { pending, lost } = await outsider.snapshot();
      expect(lost).toBe(0);
      const leases = await take(nodes[1]!.frontier, pending);
      for (const lease of leases) await commit(nodes[1]!.frontier, lease);
      expect(await outsider.snapshot()).toMatchObject({ done: 11, failed: 1, delayed: 1, pending: 0 });
      await crawl.end();
    });

    it.concurrent('is rebuilt by another node when the first one dies at it', async () => {
      const { crawl, indexes } = await open();
      const first = await crawl.node({ tunables: { nodeTimeoutMs: 60_000 } });
      await first.frontier.push(pages, 'links');
      await indexes[names[0]!]!();
      expect(await asked([first], 3 * STALL_MS)).toMatchObject([{ stall: 'rebuild' }]);
      const broken = first.frontier.rebuild(() => {
        throw new Error('killed');
      });
      await expect(broken).rejects.toThrow('killed');
      const second = await crawl.node({ tunables: { nodeTimeoutMs: 60_000 } });
      expect((await second.frontier.lease(1, 0)).crawl).toMatchObject({ stall: null, control: 'running' });
      expect(await second.frontier.verifyCounts()).toEqual([]);
      await first.frontier.leave('error');
      expect(await second.frontier.verifyCounts()).toEqual(['a repair broke off: repair again']);
      expect((await second.frontier.lease(1, 0)).crawl).toMatchObject({ stall: 'rebuild' });
      expect(await second.frontier.rebuild(reading(...pages))).toMatchObject({ pending: 12 });
      expect(await take(second.frontier, 12)).toHaveLength(12);
      await crawl.end();
    });

    it.concurrent('and stands still again at once is given up', async () => {
      const { crawl, indexes } = await open();
      const node = await crawl.node();
      await node.frontier.push(pages, 'links');
      for (const stall of ['rebuild', 'hopeless']) {
        await indexes[names[0]!]!();
        expect(await asked([node], 3 * STALL_MS)).toMatchObject([{ stall }]);
        await node.frontier.rebuild(reading(...pages));
      }
      await crawl.end();
    });

    it.concurrent('for requests of nodes that are not registered is rebuilt, or mended when a node opens it', async () => {
      const { crawl, indexes } = await open();
      const gone = await crawl.node();
      await gone.frontier.push(pages, 'links');
      await take(gone.frontier, 12);
      await indexes.nodes!();
      const node = await crawl.node();
      const { leases } = await node.frontier.lease(1, 0);
      if (leases.length === 0) {
        expect(await asked([node], 3 * STALL_MS)).toMatchObject([{ stall: 'rebuild' }]);
        expect(await node.frontier.rebuild(reading(...pages))).toMatchObject({ pending: 12 });
      }
      const { pending, leased } = await (await crawl.outsider()).snapshot();
      expect(pending + leased).toBe(12);
      await crawl.end();
    });

    it.concurrent('is not rebuilt once a request is leased again', async () => {
      const { crawl } = await open();
      const { frontier } = await crawl.node();
      await frontier.push(pages, 'links');
      const [lease] = await take(frontier, 1);
      expect(await frontier.rebuild(reading(...pages))).toBeNull();
      await commit(frontier, lease!);
      await crawl.end();
    });
  });

  const waits: [what: string, wait: (node: Node, crawl: Crawl) => Promise<unknown>, choice?: JoinChoice][] = [
    ['a delay of an hour', ({ frontier }) => frontier.push([late], 'links')],
    [
      'a retry',
      async ({ frontier }) => {
        await frontier.push([request('a')], 'links');
        const [lease] = await take(frontier, 1);
        const { record } = lease!;
        const again = {
          kind: 'retry',
          reason: '503',
          attempts: 1,
          afterMs: 3_600_000,
          priority: 0,
          record,
        } as const;
        await commit(frontier, lease!, again);
      },
    ],
    [
      'a Retry-After',
      async ({ frontier }) => {
        await frontier.push([request('a')], 'links');
        await frontier.throttle('a.example', { forMs: 3_600_000, source: 'retry-after' });
      },
    ],
    [
      'DOWNLOAD_DELAY',
      async ({ frontier }) => {
        await frontier.push([request('a'), request('b')], 'links');
        for (const lease of await take(frontier, 1)) await commit(frontier, lease);
      },
      { tunables: { delayMs: 3_600_000 } },
    ],
    [
      'robots.txt, which another node fetches',
      async ({ frontier }, crawl) => {
        const other = await crawl.node();
        await other.frontier.robots('https://a.example', 'a.example', false);
        await frontier.push([request('a')], 'links');
        await frontier.throttle('a.example', { forMs: 3_600_000, source: 'retry-after' });
      },
    ],
    [
      'a slow page',
      async (_, crawl) => {
        const other = await crawl.node({ tunables: { concurrencyPerDomain: 1 } });
        await other.frontier.push([request('a'), request('b')], 'links');
        await take(other.frontier, 1);
      },
      { tunables: { concurrencyPerDomain: 1 } },
    ],
    [
      'a pause',
      async ({ frontier }) => {
        await frontier.push(pages, 'links');
        await frontier.control('paused');
      },
    ],
    [
      'the end of its budget',
      async ({ frontier }) => {
        await frontier.push(pages, 'links');
        for (const lease of await take(frontier, 1)) await commit(frontier, lease);
      },
      { budgets: { maxPages: 1 } },
    ],
    [
      'start requests of a generator',
      ({ frontier }) => frontier.claimStart(),
      { hasStart: true, tunables: { queueLimit: 1 } },
    ],
    [
      'the leases of a node that was killed',
      async (_, crawl) => {
        const other = await crawl.node();
        await other.frontier.push([request('a')], 'links');
        await take(other.frontier, 1);
      },
    ],
  ];

  describe('a crawl that waits for', { timeout: 60_000 }, () => {
    it.concurrent.each(waits)('%s is left alone', async (_, wait, choice = {}) => {
      const { crawl } = await open();
      const node = await crawl.node(choice);
      await wait(node, crawl);
      expect(await asked([node], 1.5 * STALL_MS)).toEqual([]);
      await crawl.end();
    });
  });
}
