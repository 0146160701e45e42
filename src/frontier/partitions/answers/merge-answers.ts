/** One answer from those of all partitions, in the order of the partitions. */
import type { Finding, HeartbeatAnswer, Joined, Part, PartCounts, Repaired } from '../../frontier.js';

/** A node that one partition does not know has to join again in all. */
export function mergeHeartbeats(answers: readonly HeartbeatAnswer[]): HeartbeatAnswer {
  if (answers.includes('gone')) return 'gone';
  return answers.includes('dead') ? 'dead' : 'alive';
}

/** What a node found when it joined. The nodes are the same in each partition. */
export function mergeFound(all: readonly Joined[]): Joined['found'] {
  const sum = (of: (found: Joined['found']) => number) =>
    all.reduce((total, { found }) => total + of(found), 0);
  return {
    pending: sum(({ pending }) => pending),
    delayed: sum(({ delayed }) => delayed),
    leased: sum(({ leased }) => leased),
    seen: sum(({ seen }) => seen),
    lost: sum(({ lost }) => lost),
    nodes: all[0]?.found.nodes ?? 0,
  };
}

/** The validators of each fingerprint, from the partition that has them. */
export function mergeValidators(
  fingerprints: readonly string[],
  found: readonly (readonly (string | null)[])[],
): (string | null)[] {
  return fingerprints.map(
    (_, n) => found.map((texts) => texts[n] ?? null).find((text) => text !== null) ?? null,
  );
}

export function mergeCounts(counts: readonly PartCounts[]): PartCounts {
  const [first] = counts as [PartCounts];
  const sum = (part: Part) => counts.reduce((total, found) => total + found[part], 0);
  const names = Object.keys(first) as Part[];
  return Object.fromEntries(names.map((part) => [part, sum(part)])) as Record<Part, number>;
}

/**
 * Findings about a store appear once, although several partitions may be in it. Where there are several servers, it names
 * those that it does not find at all of them.
 * @param places the server of each partition
 */
export function mergeFindings(found: readonly (readonly Finding[])[], places: readonly string[]): Finding[] {
  const serverCount = new Set(places).size;
  const merged = new Map<string, { readonly finding: Finding; readonly servers: Set<string> }>();
  for (const [index, findings] of found.entries()) {
    const isFirstThere = places.indexOf(places[index] ?? '') === index;
    for (const finding of findings) {
      // The same server again, apart from the rights to the keys of this partition.
      if (finding.about === 'store' && finding.check !== 'acl' && !isFirstThere) continue;
      const message = finding.about === 'store' ? finding.message : `partition ${index}: ${finding.message}`;
      const name = `${finding.check} ${message}`;
      const known = merged.get(name) ?? { finding: { ...finding, message }, servers: new Set() };
      known.servers.add(places[index] ?? '');
      merged.set(name, known);
    }
  }
  return [...merged.values()].map(({ finding, servers }) =>
    finding.about !== 'store' || servers.size === serverCount
      ? finding
      : { ...finding, message: `${[...servers].join(', ')}: ${finding.message}` },
  );
}

export function mergeBreaches(breaches: readonly (readonly string[])[]): string[] {
  return breaches.flatMap((found, index) => found.map((breach) => `partition ${index}: ${breach}`));
}

export function mergeRepaired(all: readonly Repaired[]): Repaired {
  const sum = (of: keyof Repaired) => all.reduce((total, repaired) => total + repaired[of], 0);
  return { pending: sum('pending'), delayed: sum('delayed'), failed: sum('failed') };
}
