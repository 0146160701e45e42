/** What `doctor` found, and the checks that need no more than a look at a crawl. */
import type { Snapshot } from '../frontier/frontier.js';

export interface Finding {
  /** A problem makes the exit code 1; an info is only worth knowing. */
  readonly level: 'problem' | 'info' | 'ok';
  /** What was looked at: a stable name. */
  readonly check: string;
  /** The crawl it is about; null when all are. */
  readonly spider: string | null;
  readonly message: string;
  /** What to do; null when nothing. */
  readonly action: string | null;
}

/** The oldest Node that runs crawlnode. */
const OLDEST_NODE = [20, 18, 1] as const;

export function nodeVersion(version: string): Finding {
  const parts = version.split('.').map(Number);
  const differs = OLDEST_NODE.findIndex((wanted, n) => wanted !== (parts[n] ?? 0));
  const isOld = differs !== -1 && (parts[differs] ?? 0) < OLDEST_NODE[differs]!;
  return {
    level: isOld ? 'problem' : 'ok',
    check: 'node_version',
    spider: null,
    message: `Node ${version}${isOld ? `, older than ${OLDEST_NODE.join('.')}` : ''}`,
    action: isOld ? 'install Node 20.18.1 or newer' : null,
  };
}

/** What a crawl at one instant tells. @param nodeTimeoutMs of silence after which a node counts as dead. */
export function crawlFindings(
  spider: string,
  snapshot: Snapshot,
  seedKeys: readonly string[],
  nodeTimeoutMs: number,
): Finding[] {
  const findings: Finding[] = [];
  const found = (level: Finding['level'], check: string, message: string, action: string | null) =>
    void findings.push({ level, check, spider, message, action });
  const { badSeeds, nodes, outbox, leased, failed, suspects, control, pending, delayed } = snapshot;

  if (badSeeds > 0) {
    found(
      'problem',
      'bad_seeds',
      `${n(badSeeds)} seeds could not be understood and were put aside`,
      `see ${seedKeys.map((key) => `${key}:bad`).join(', ')} for each with its reason, mend and seed them, then delete that key`,
    );
  }
  for (const { host, path, waiting } of outbox) {
    if (waiting === 0) continue;
    const isServed = nodes.some((node) => node.host === host);
    found(
      isServed ? 'info' : 'problem',
      'items_waiting',
      `${n(waiting)} committed items wait to be written to ${path} on ${host}`,
      isServed ? null : `on ${host}: crawlnode items ${spider} export`,
    );
  }
  for (const { id, heartbeatAgeMs } of nodes) {
    if (heartbeatAgeMs < nodeTimeoutMs / 2) continue;
    found(
      'problem',
      'stale_node',
      `the node ${id} has not been heard for ${Math.round(heartbeatAgeMs / 1000)} s`,
      'see whether it hangs, has lost its network, or its machine is overloaded; the others take over what it holds',
    );
  }
  if (leased > 0 && nodes.length === 0) {
    found(
      'info',
      'leases_of_dead_nodes',
      `${n(leased)} requests are held by nodes that died`,
      `none is lost: the next "crawlnode crawl ${spider}" takes them over`,
    );
  }
  if (suspects > 0) {
    found(
      'info',
      'suspects',
      `${n(suspects)} requests were in work when a node died, and are tried alone`,
      null,
    );
  }
  if (failed > 0) {
    found('info', 'failed', `${n(failed)} requests have failed for good`, `crawlnode failed ${spider} list`);
  }
  if (control !== 'running' && pending + delayed + nodes.length > 0) {
    found('info', 'control', `the crawl is ${control}`, `crawlnode resume ${spider}`);
  }
  return findings;
}

const n = (value: number) => value.toLocaleString('en');
