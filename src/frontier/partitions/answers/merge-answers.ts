/** One answer from those of all partitions, in the order of the partitions. */
import type { Finding, HeartbeatAnswer } from '../../frontier.js';

/** A node that one partition does not know has to join again in all. */
export function mergeHeartbeats(answers: readonly HeartbeatAnswer[]): HeartbeatAnswer {
  if (answers.includes('gone')) return 'gone';
  return answers.includes('dead') ? 'dead' : 'alive';
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
