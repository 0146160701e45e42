/** What join sends and what its script answers. */
import { randomBytes, randomInt } from 'node:crypto';
import type { Budgets, Dupefilter, Joined, JoinOptions, NodeInfo, Shape, Tunables } from '../frontier.js';
import { restoreUnderWay } from '../restore-refusals.js';
import { type Flush, flushNotice } from '../run-notices.js';
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
  { shape: { dupefilter: _, ...shape }, budgets, hasStart, tunables, flushOnStart }: JoinOptions,
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
    budgetsText(budgets),
    hasStart ? 1 : 0,
    tunables.delayMs,
    tunables.randomizeDelay ? 1 : 0,
    tunables.concurrencyPerDomain,
    tunables.nodeTimeoutMs,
    tunables.failedLimit,
    crawl,
    flushOnStart ? 1 : 0,
    tunables.queueLimit,
  ];
}

/** Budgets as `lua/parts/limits.lua` has them. */
function budgetsText({ maxPages, maxItems, maxErrors, maxRunMs }: Budgets): string {
  const all = [maxPages, maxItems, maxErrors, Math.ceil(maxRunMs)];
  return all.some((most) => most > 0) ? all.join(',') : '';
}

/**
 * @param notices of the connection.
 * @throws RefusedError when the crawl has another shape, or is not wholly restored.
 */
export function readJoined(
  reply: Reply,
  incarnation: string,
  shape: Shape,
  notices: readonly string[],
): { joined: Joined; crawl: string } {
  const [status, shapeFound, pending, delayed, leased, seen, startPushed, justClosed, ...rest] =
    reply as Reply[];
  if (text(status) === 'shape') {
    // The dupefilter is agreed by itself, since seeds may come before the first node: the third value.
    const dupefilter = text(pending) === '' ? {} : { dupefilter: JSON.parse(text(pending)) as Dupefilter };
    const refusal = otherShape({ ...(JSON.parse(text(shapeFound)) as Partial<Shape>), ...dupefilter }, shape);
    if (refusal !== null) throw refusal;
  }
  if (text(status) === 'restoring') throw restoreUnderWay();
  const [changed, others, crawl, run, flush] = rest;
  const nodes = int(others);
  const flushed = flushNotice((text(flush) || null) as Flush | null, nodes);
  const joined: Joined = {
    incarnation,
    run: text(run),
    found: {
      pending: int(pending),
      delayed: int(delayed),
      leased: int(leased),
      seen: int(seen),
      nodes,
    },
    startPushed: int(startPushed) === 1,
    justClosed: text(justClosed) || null,
    notices: [...notices, ...flushed, ...text(changed).split(',').filter(Boolean).map(noticeOf)],
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
  queue_limit: 'queueLimit',
};

/** @param change as the script has it: `name=before=after`. */
function noticeOf(change: string): string {
  const [name = '', before, after] = change.split('=');
  return tunableNotice(tunableOf[name] ?? 'delayMs', before, after);
}
