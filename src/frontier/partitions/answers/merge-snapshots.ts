/** The snapshot of a crawl from those of its partitions: sums, and of a run what partition 0 says. */
import type { NodeSnapshot, OutboxSnapshot, Snapshot } from '../../frontier.js';
import { mergeStats } from '../pages/custom-stats.js';
import { summed } from './summed.js';

/** @param parts one for each partition, in order. */
export function mergeSnapshots(parts: readonly Snapshot[]): Snapshot {
  const [first] = parts as readonly [Snapshot];
  const { pages, items, failed } = summed(parts.flatMap(({ run }) => run ?? []));
  return {
    ...first,
    ...summed(parts),
    bytes: summed(parts.map(({ bytes }) => bytes)),
    nodes: mergeNodes(parts.map(({ nodes }) => nodes)),
    shape: parts.find(({ shape }) => shape !== null)?.shape ?? null,
    silent: mergeNodes(parts.map(({ silent }) => silent)),
    counters: Object.fromEntries(
      Object.entries(summed(parts.map(({ counters }) => counters))).sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
    custom: mergeStats(parts.map(({ custom }) => custom)),
    outbox: mergeOutboxes(parts.map(({ outbox }) => outbox)),
    run: first.run && { ...first.run, pages, items, failed },
    beganAtMs: earliest(parts.map(({ beganAtMs }) => beganAtMs)),
    seenSinceMs: earliest(parts.map(({ seenSinceMs }) => seenSinceMs)),
    queueLimit: first.queueLimit === null ? null : first.queueLimit * parts.length,
    partitions: parts.map(({ pending, delayed, leased, done, failed, lost, items }) => ({
      ...{ pending, delayed, leased, done, failed, lost, items },
    })),
  };
}

function earliest(instants: readonly (number | null)[]): number | null {
  const known = instants.filter((atMs) => atMs !== null);
  return known.length === 0 ? null : Math.min(...known);
}

const processOf = ({ id, host, pid }: NodeSnapshot): string => `${id}\0${host}\0${pid}`;

/** A node is in all partitions, in partition 0 the longest: its leases and pages add up. */
function mergeNodes(lists: readonly (readonly NodeSnapshot[])[]): NodeSnapshot[] {
  const merged = new Map<string, NodeSnapshot>();
  for (const [partition, nodes] of lists.entries()) {
    const seen = new Map<string, number>();
    for (const node of nodes) {
      // Two nodes of one process and label are told apart by their order.
      const nth = seen.get(processOf(node)) ?? 0;
      seen.set(processOf(node), nth + 1);
      const name = `${processOf(node)}\0${nth}`;
      const known = merged.get(name);
      if (partition === 0) merged.set(name, node);
      else if (known !== undefined) {
        const [leased, pages] = [known.leased + node.leased, known.pages + node.pages];
        merged.set(name, { ...known, leased, pages });
      }
    }
  }
  return [...merged.values()];
}

/** Partition 0 knows the writer of a feed; items wait in all of them. */
function mergeOutboxes(lists: readonly (readonly OutboxSnapshot[])[]): OutboxSnapshot[] {
  const merged = new Map<string, OutboxSnapshot>();
  for (const outbox of lists.flat()) {
    const known = merged.get(outbox.feed);
    merged.set(
      outbox.feed,
      known === undefined ? outbox : { ...known, waiting: known.waiting + outbox.waiting },
    );
  }
  return [...merged.values()];
}
