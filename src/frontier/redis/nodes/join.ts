/** The arguments of the join verb, and its reply. */

import { randomBytes, randomInt } from 'node:crypto';
import { budgetNames, budgetNotices } from '../../budgets.js';
import type { Budgets, Joined, JoinOptions, NodeInfo, Shape, Tunables } from '../../frontier.js';
import { nodesAreStopping, restoreUnderWay } from '../../refusals.js';
import { argumentsText, otherArguments, startKey } from '../../shared-settings/run-arguments.js';
import {
  type Flush,
  flushNotice,
  otherShape,
  tunableNotice,
  tunableSettings,
} from '../../shared-settings/shape-differences.js';
import { tunableText } from '../../shared-settings/tunable-text.js';
import { damagedCrawl } from '../connection/errors.js';
import type { Arguments } from '../connection/lua-message.js';
import { numberField, storedDupefilter, storedObject } from '../crawl/stored-json.js';

/** The tunables: their names in meta, and in the settings of a node. */
const tunableNames: readonly (readonly [name: string, key: keyof Tunables])[] = [
  ['delay', 'delayMs'],
  ['randomize', 'randomizeDelay'],
  ['limit', 'concurrencyPerDomain'],
  ['node_timeout', 'nodeTimeoutMs'],
  ['failed_limit', 'failedLimit'],
  ['queue_limit', 'queueLimit'],
  ['memory_limit', 'memoryLimit'],
  ['pages_per_domain', 'pagesPerDomain'],
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

export function joinArguments(
  node: NodeInfo,
  { shape: { dupefilter: _, ...shape }, args, startsAgain, ...options }: JoinOptions,
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
    flush: flushOnStart,
  };
}

/** '' where there are none. */
function budgetsText(budgets: Budgets): string {
  return Object.values(budgets).some((most) => most > 0) ? JSON.stringify(budgets) : '';
}

/** One that cannot be read bounds nothing. */
function budgetsOf(text: string): Budgets {
  const stored = storedObject(text);
  return Object.fromEntries(
    budgetNames.map((name) => [name, numberField(stored, name) ?? 0]),
  ) as unknown as Budgets;
}

/** The answer of `lua/nodes/join.lua`. */
interface JoinAnswer extends Partial<Pick<Joined, 'startPushed'>>, Pick<Joined, 'found'> {
  readonly status: 'joined' | 'shape' | 'arguments' | 'restoring' | 'stopping';
  readonly others: number;
  readonly run?: string;
  readonly crawl: string;
  readonly justClosed?: string;
  readonly flushed?: Flush;
  readonly budgets?: string;
  readonly changed?: readonly (readonly string[])[];
  readonly shape: string;
  readonly dupefilter: string;
  readonly arguments: string;
}

/**
 * @param notices of the connection.
 * @throws RefusedError when the crawl has another shape, or is not wholly restored.
 */
export function readJoined(
  answer: JoinAnswer,
  incarnation: string,
  { shape, args, budgets }: Pick<JoinOptions, 'shape' | 'args' | 'budgets'>,
  notices: readonly string[],
): { joined: Joined; crawl: string } {
  const { status, found, startPushed = false, justClosed = null, flushed = null, changed = [] } = answer;
  if (status === 'shape') refuseOtherShape(answer, shape);
  if (status === 'arguments') throw otherArguments(answer.arguments, args);
  if (status === 'restoring') throw restoreUnderWay();
  if (status === 'stopping') throw nodesAreStopping(answer.others);
  const joined: Joined = {
    ...{ incarnation, found, startPushed, justClosed, run: answer.run ?? '' },
    notices: [
      ...notices,
      ...flushNotice(flushed, found.nodes),
      ...Object.values(changed).map(tunableChange),
      ...(answer.budgets === undefined ? [] : budgetNotices(budgetsOf(answer.budgets), budgets)),
    ],
  };
  return { joined, crawl: answer.crawl };
}

/** The dupefilter is agreed by itself, since seeds may come before the first node. */
function refuseOtherShape({ shape, dupefilter }: JoinAnswer, ours: Shape): never {
  const known = storedDupefilter(dupefilter);
  const agreed = known === null ? {} : { dupefilter: known };
  // Where the texts differ in nothing that reads, they cannot be read.
  throw otherShape({ ...(storedObject(shape) as Partial<Shape>), ...agreed }, ours) ?? damagedCrawl(null);
}

/** The name of the setting of a tunable, by its name in meta. */
export function settingOfTunable(name: string): string {
  const [, key] = tunableNames.find(([known]) => known === name) ?? [];
  return key === undefined ? name : tunableSettings[key];
}

function tunableChange([name, ...texts]: readonly string[]): string {
  const [, key] = tunableNames.find(([known]) => known === name) ?? [];
  const [before, after] = texts.map((text) => (text.startsWith('{') ? storedObject(text) : text));
  return key === undefined ? '' : tunableNotice(key, before, after);
}
