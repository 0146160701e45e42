/** What join sends and what its script answers. */
import { randomBytes, randomInt } from 'node:crypto';
import type { Joined, JoinOptions, NodeInfo, Shape, Tunables } from '../frontier.js';
import { otherShape, tunableNotice } from '../shape.js';
import type { Argument } from './batch.js';
import { int, type Reply, text } from './reply.js';

/** An epoch for a meta that is not there yet: random, so that it never equals an earlier one. */
export function newEpoch(): string {
  return String(randomInt(2 ** 47));
}

export function newIncarnation(node: NodeInfo): string {
  return `${node.id}:${randomBytes(6).toString('hex')}`;
}

/** @param crawl the crawl an earlier incarnation of this client was in, '' for none. */
export function joinArguments(
  incarnation: string,
  node: NodeInfo,
  { shape, budgets, hasStart, tunables }: JoinOptions,
  crawl: string,
): Argument[] {
  const info = { ...node, startedAt: Date.now(), pagesPerSecond: 0 };
  return [
    incarnation,
    JSON.stringify(info),
    JSON.stringify(shape),
    shape.queueClass,
    newEpoch(),
    `${new Date().toISOString()}-${randomBytes(3).toString('hex')}`,
    budgets.maxPages,
    hasStart ? 1 : 0,
    tunables.delayMs,
    tunables.randomizeDelay ? 1 : 0,
    tunables.concurrencyPerDomain,
    tunables.nodeTimeoutMs,
    tunables.failedLimit,
    crawl,
  ];
}

/** @throws RefusedError when the crawl has another shape. */
export function readJoined(
  reply: Reply,
  incarnation: string,
  shape: Shape,
): { joined: Joined; crawl: string } {
  const [status, found, pending, delayed, leased, seen, startPushed, justClosed, changed, nodes, crawl] =
    reply as Reply[];
  if (text(status) === 'shape') {
    const refusal = otherShape(JSON.parse(text(found)) as Partial<Shape>, shape);
    if (refusal !== null) throw refusal;
  }
  const joined: Joined = {
    incarnation,
    found: {
      pending: int(pending),
      delayed: int(delayed),
      leased: int(leased),
      seen: int(seen),
      nodes: int(nodes),
    },
    startPushed: int(startPushed) === 1,
    justClosed: text(justClosed) || null,
    notices: text(changed).split(',').filter(Boolean).map(noticeOf),
  };
  return { joined, crawl: text(crawl) };
}

/** The tunables by their names in meta. */
const tunableOf: Readonly<Record<string, keyof Tunables>> = {
  delay: 'delayMs',
  randomize: 'randomizeDelay',
  limit: 'concurrencyPerDomain',
  node_timeout: 'nodeTimeoutMs',
  failed_limit: 'failedLimit',
};

/** @param change as the script has it: `name=before=after`. */
function noticeOf(change: string): string {
  const [name = '', before, after] = change.split('=');
  return tunableNotice(tunableOf[name] ?? 'delayMs', before, after);
}
