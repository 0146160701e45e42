/** What nodes that died had in progress, and what became of it. */
import type { DeadNode, Frontier, RequestState } from '../../frontier/frontier.js';
import { readRecord } from '../requests/recorded-request.js';

/** A request that a node held when it died. */
export interface HeldRequest {
  /** What identifies it, 40 hex digits: `crawlnode inspect` takes it. */
  readonly id: string;
  /** Null where it is done since, and of nodes that died longer ago. */
  readonly url: string | null;
  /** How it stands now; null where nobody has looked. */
  readonly state: RequestState | null;
}

/** A node that died within the last day; `held` has the first 20 of its requests, those first that are not done yet. */
export interface DeadNodeStats extends Omit<DeadNode, 'held'> {
  readonly held: readonly HeldRequest[];
}

/** The requests of the last of them are looked up. */
const LOOKED_UP = 5;

export function withoutUrls({ held, ...node }: DeadNode): DeadNodeStats {
  return { ...node, held: held.map((id) => ({ id, url: null, state: null })) };
}

/** Look up what the nodes that died last had in progress. */
export async function readDeadNodes(
  frontier: Pick<Frontier, 'inspect'>,
  nodes: readonly DeadNode[],
): Promise<DeadNodeStats[]> {
  const lookUp = async (id: string): Promise<HeldRequest> => {
    const request = { id, fingerprint: id, record: '', domain: '', priority: 0, dontFilter: false };
    const { state, record } = await frontier.inspect(request);
    return { id, url: readRecord(record)?.url ?? null, state };
  };
  const first = Math.max(0, nodes.length - LOOKED_UP);
  return Promise.all(
    nodes.map(async (node, n) =>
      n < first ? withoutUrls(node) : { ...node, held: openFirst(await Promise.all(node.held.map(lookUp))) },
    ),
  );
}

function openFirst(held: readonly HeldRequest[]): HeldRequest[] {
  return [...held].sort((a, b) => Number(a.url === null) - Number(b.url === null));
}
