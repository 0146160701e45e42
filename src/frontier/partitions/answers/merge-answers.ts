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

/** Findings about a store appear once, although several partitions may be in it. */
export function mergeFindings(found: readonly (readonly Finding[])[]): Finding[] {
  const all = found.flatMap((findings, index) =>
    findings.map((finding) =>
      finding.about === 'store' ? finding : { ...finding, message: `partition ${index}: ${finding.message}` },
    ),
  );
  const texts = new Set<string>();
  return all.filter(({ check, message }) => {
    const text = `${check} ${message}`;
    return texts.has(text) ? false : texts.add(text);
  });
}

export function mergeBreaches(breaches: readonly (readonly string[])[]): string[] {
  return breaches.flatMap((found, index) => found.map((breach) => `partition ${index}: ${breach}`));
}

export function mergeRepaired(all: readonly Repaired[]): Repaired {
  const sum = (of: keyof Repaired) => all.reduce((total, repaired) => total + repaired[of], 0);
  return { pending: sum('pending'), delayed: sum('delayed'), failed: sum('failed') };
}
