/** A random walk over the verbs: whatever happens, every accepted request ends once and the invariants hold. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Lease } from '../../src/frontier/frontier.js';
import { type Crawl, commit, done, failed, type Node, released, request, retry, until } from './world.js';

const step = fc.oneof(
  fc.record({
    verb: fc.constant('push' as const),
    names: fc.array(fc.nat(60), { maxLength: 12 }),
    seeds: fc.boolean(),
  }),
  fc.record({ verb: fc.constant('lease' as const), node: fc.nat(1), max: fc.nat(6) }),
  fc.record({
    verb: fc.constant('settle' as const),
    node: fc.nat(1),
    how: fc.constantFrom('done', 'failed', 'released', 'retry'),
    links: fc.array(fc.nat(60), { maxLength: 5 }),
  }),
  fc.record({ verb: fc.constant('reconcile' as const), node: fc.nat(1) }),
  fc.record({ verb: fc.constant('throttle' as const), domain: fc.nat(3), delayMs: fc.constantFrom(0, 2) }),
  fc.record({ verb: fc.constant('defer' as const), node: fc.nat(1) }),
  fc.record({ verb: fc.constant('leave' as const), node: fc.nat(1) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

export function walk(crawl: () => Crawl): void {
  describe('a random walk', () => {
    it('ends every accepted request once and never breaks an invariant', async () => {
      let round = 0;
      const nodes: Node[] = [await crawl().node(), await crawl().node()];
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
          round += 1;
          await walkOnce(crawl(), nodes, steps, round);
        }),
        { numRuns: 8 },
      );
    });
  });
}

async function walkOnce(crawl: Crawl, nodes: Node[], steps: readonly Step[], round: number): Promise<void> {
  const held: Lease[][] = [[], []];
  const named = (n: number) =>
    request(`${round}/${n}`, { domain: `${n % 4}.example`, priority: n % 3, dontFilter: n % 5 === 0 });

  for (const next of steps) {
    const at = 'node' in next ? next.node : 0;
    const { frontier } = nodes[at]!;
    if (next.verb === 'push') {
      await frontier.push(next.names.map(named), next.seeds ? 'seeds' : 'links');
    } else if (next.verb === 'lease') {
      held[at]!.push(...(await frontier.lease(next.max, held[at]!.length)).leases);
    } else if (next.verb === 'settle') {
      const lease = held[at]!.shift();
      if (lease === undefined) continue;
      const outcome = { done, failed: failed(), released, retry: retry(lease, 1) }[next.how as 'done'];
      await commit(
        frontier,
        lease,
        outcome,
        next.how === 'released' ? {} : { requests: next.links.map(named) },
      );
    } else if (next.verb === 'reconcile') {
      const kept = held[at]!.slice(1);
      const answer = await frontier.reconcile(kept, 0);
      expect(answer).toEqual({ lost: [], returned: held[at]!.length - kept.length });
      held[at] = kept;
    } else if (next.verb === 'throttle') {
      await frontier.throttle(`${next.domain}.example`, { delayMs: next.delayMs, source: 'setting' });
    } else if (next.verb === 'defer') {
      const lease = held[at]![0];
      if (lease !== undefined) expect(await frontier.defer(lease)).toBeGreaterThanOrEqual(0);
    } else {
      await frontier.leave('shutdown');
      held[at] = [];
      nodes[at] = { frontier, joined: await crawl.join(frontier) };
    }
  }
  const outsider = await crawl.outsider();
  expect(await outsider.verify()).toEqual([]);
  await drain(nodes, held);
  const end = await outsider.snapshot();
  expect(end).toMatchObject({ pending: 0, delayed: 0, leased: 0, suspects: 0 });
  expect(end.accepted).toBe(end.done + end.failed + end.removed);
}

/** Settle everything that is left as done. */
async function drain(nodes: readonly Node[], held: readonly Lease[][]): Promise<void> {
  for (const [at, { frontier }] of nodes.entries()) {
    for (const lease of held[at]!) await commit(frontier, lease);
  }
  const { frontier } = nodes[0]!;
  await until(
    async () => {
      for (const lease of (await frontier.lease(50, 0)).leases) await commit(frontier, lease);
      const { pending, delayed } = await frontier.snapshot();
      return pending + delayed;
    },
    (left) => left === 0,
  );
}
