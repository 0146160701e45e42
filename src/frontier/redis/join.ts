/** The arguments of the join verb, and its reply. */
import { randomBytes, randomInt } from 'node:crypto';
import { budgetNotices, noBudgets } from '../budgets.js';
import type { Budgets, Dupefilter, Joined, JoinOptions, NodeInfo, Shape, Tunables } from '../frontier.js';
import { otherPartitions, restoreUnderWay } from '../refusals.js';
import { argumentsText, otherArguments, startKey } from '../shared-settings/run-arguments.js';
import { type Flush, flushNotice, otherShape, tunableNotice } from '../shared-settings/shape-differences.js';
import { tunableText } from '../shared-settings/tunable-text.js';
import type { Arguments } from './connection/lua-message.js';
import { int, list, named, type Reply, text } from './connection/reply.js';

/** The tunables: their names in meta, and in the settings of a node. */
const tunableNames: readonly (readonly [name: string, key: keyof Tunables])[] = [
  ['delay', 'delayMs'],
  ['randomize', 'randomizeDelay'],
  ['limit', 'concurrencyPerDomain'],
  ['node_timeout', 'nodeTimeoutMs'],
  ['failed_limit', 'failedLimit'],
  ['queue_limit', 'queueLimit'],
  ['domain_pages', 'pagesPerDomain'],
  ['slots', 'slots'],
  ['autothrottle', 'autothrottle'],
];

/** An epoch for a meta that is not there yet: random, so that it never equals an earlier one. */
export function newEpoch(): string {
  return String(randomInt(2 ** 47));
}

export function newIncarnation(node: NodeInfo): string {
  return `${node.id}:${randomBytes(6).toString('hex')}`;
}

/** The field of meta with the start requests pushed under some arguments (`startKey`). */
export function startField(key: string): string {
  return key === '' ? 'start' : `start:${key}`;
}

/** @param crawl the crawl an earlier incarnation of this client was in, '' for none. */
export function joinArguments(
  node: NodeInfo,
  { shape: { dupefilter: _, ...shape }, args, startsAgain, ...options }: JoinOptions,
  crawl: string,
): Arguments {
  const { budgets, hasStart, hasIdle, tunables, flushOnStart } = options;
  return {
    info: JSON.stringify({ ...node, startedAt: Date.now(), pagesPerSecond: 0 }),
    shape: JSON.stringify(shape),
    queueClass: shape.queueClass,
    epoch: newEpoch(),
    run: `${new Date().toISOString()}-${randomBytes(3).toString('hex')}`,
    budgets: budgetsText(budgets),
    ...{ hasStart, hasIdle, start: startField(startKey(args)), startsAgain, arguments: argumentsText(args) },
    tunables: Object.fromEntries(tunableNames.map(([name, key]) => [name, tunableText(tunables[key])])),
    crawl: crawl || undefined,
    flush: flushOnStart,
  };
}

/** Budgets as `lua/requests/budgets.lua` has them. */
function budgetsText({ maxPages, maxItems, maxErrors, maxRunMs }: Budgets): string {
  const all = { pages: maxPages, items: maxItems, errors: maxErrors, ms: maxRunMs };
  return Object.values(all).some((most) => most > 0) ? JSON.stringify(all) : '';
}

/** @param stored '' for none. */
export function parseBudgets(stored: string): Budgets {
  if (stored === '') return noBudgets;
  const { pages, items, errors, ms } = JSON.parse(stored) as Record<
    'pages' | 'items' | 'errors' | 'ms',
    number
  >;
  return { maxPages: pages, maxItems: items, maxErrors: errors, maxRunMs: ms };
}

/**
 * @param notices of the connection. @param partition of this node, as `index/count`; '' in a crawl of one.
 * @throws RefusedError when the crawl has another shape, or is not wholly restored.
 */
export function readJoined(
  reply: Reply,
  incarnation: string,
  { shape, args, budgets }: Pick<JoinOptions, 'shape' | 'args' | 'budgets'>,
  notices: readonly string[],
  partition = '',
): { joined: Joined; crawl: string } {
  const answer = named(reply);
  if (text(answer.status) === 'shape') {
    // The dupefilter is agreed by itself, since seeds may come before the first node.
    const agreed = text(answer.dupefilter);
    const dupefilter = agreed === '' ? {} : { dupefilter: JSON.parse(agreed) as Dupefilter };
    const refusal = otherShape(
      { ...(JSON.parse(text(answer.shape)) as Partial<Shape>), ...dupefilter },
      shape,
    );
    if (refusal !== null) throw refusal;
  }
  if (text(answer.status) === 'partition') throw otherPartitions(text(answer.partition), partition);
  if (text(answer.status) === 'arguments') throw otherArguments(text(answer.arguments), args);
  if (text(answer.status) === 'restoring') throw restoreUnderWay();
  const others = int(answer.others);
  const joined: Joined = {
    incarnation,
    run: text(answer.run),
    found: {
      pending: int(answer.pending),
      delayed: int(answer.delayed),
      leased: int(answer.leased),
      seen: int(answer.seen),
      lost: int(answer.lost),
      nodes: others,
    },
    startPushed: int(answer.startPushed) === 1,
    justClosed: text(answer.justClosed) || null,
    notices: [
      ...notices,
      ...flushNotice((text(answer.flushed) || null) as Flush | null, others),
      ...list(answer.changed).map((change) => tunableChange(list(change).map(text))),
      ...(answer.budgets == null ? [] : budgetNotices(parseBudgets(text(answer.budgets)), budgets)),
    ],
  };
  return { joined, crawl: text(answer.crawl) };
}

function tunableChange([name, before, after]: readonly string[]): string {
  const [, key] = tunableNames.find(([known]) => known === name) ?? [];
  return key === undefined ? '' : tunableNotice(key, before, after);
}
