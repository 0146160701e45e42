/** When `crawl` fails although its nodes ended in good order: gates of the command line, and a run without any good page. */

import { commandErrorCodes, type ErrorCode } from '../../error-codes.js';
import { howMany, n } from '../../format-amounts.js';
import type { NodeResult, RunTotals } from '../../node/node-options.js';
import { FORBIDDEN_BY_ROBOTS } from '../../node/page/dead-ends.js';

/** The limits of a command line for the run, over all its nodes; null where there is no limit. */
export interface RunGates {
  /** `--min-items`. */
  readonly minItems: number | null;
  /** `--max-failed`. */
  readonly maxFailed: number | null;
  /** `--max-status`: the largest share of pages with a status; empty for no limit. */
  readonly maxStatus: readonly StatusLimit[];
  /** `--must-finish`: any end but a finished crawl fails. */
  readonly mustFinish: boolean;
}

/** The largest share of the pages of a run that may end with a status. */
export interface StatusLimit {
  /** `404`, or `4xx` for all of its hundred. */
  readonly status: string;
  readonly percent: number;
}

export const noGates: RunGates = { minItems: null, maxFailed: null, maxStatus: [], mustFinish: false };

/** The result of checking the gates. */
export type GateVerdict =
  | { readonly kind: 'passed' }
  /** `code` is the code in the last line of the log. */
  | {
      readonly kind: 'failed';
      readonly code:
        | 'not_finished'
        | 'too_few_items'
        | 'too_many_failed'
        | 'too_many_of_status'
        | 'nothing_succeeded';
      readonly message: string;
    }
  /** The run continues on other nodes, so its totals are not final. */
  | { readonly kind: 'unjudged'; readonly message: string };

/** Somebody ended the crawl early on purpose, so the pages so far say little. */
const endedByHand = ['shutdown', 'stopped'];

/** Whether a node must wait for the final totals of the run. */
export function needsTotals(gates: RunGates): boolean {
  return namesOf(gates).length > 0;
}

/** Check how the run ended, and its totals, when this node, or the nodes of this command, left. */
export function judgeRun(gates: RunGates, result: JudgedResult): GateVerdict {
  const { run, reason } = result;
  if (gates.mustFinish && reason !== 'finished') {
    return failure('not_finished', `the crawl did not finish, it ended with "${reason}" (--must-finish)`);
  }
  const names = namesOf(gates);
  if (names.length === 0) return nothingSucceeded(result) ?? { kind: 'passed' };
  const which = names.join(' and ');
  if (run === null) {
    const message = `the totals of the run are not known, so ${which} could not be checked`;
    // A node that finished without totals joined after the run. Otherwise the store may have been unreachable.
    return reason === 'finished' ? failure('too_few_items', message) : { kind: 'unjudged', message };
  }
  if (!run.isOver) {
    const were = names.length > 1 ? 'were' : 'was';
    const message = `the run goes on on other nodes, so ${which} ${were} not checked here`;
    return { kind: 'unjudged', message };
  }
  const { minItems, maxFailed } = gates;
  const tooManyFailed =
    maxFailed !== null && run.failed > maxFailed
      ? `${howMany(run.failed, 'request')} failed in the run over all its nodes, more than --max-failed ${n(maxFailed)}`
      : null;
  if (minItems !== null && run.items < minItems) {
    const few = `the run gave ${howMany(run.items, 'item')} over all its nodes, fewer than --min-items ${n(minItems)}`;
    return failure('too_few_items', tooManyFailed === null ? few : `${few}; and ${tooManyFailed}`);
  }
  if (tooManyFailed !== null) return failure('too_many_failed', tooManyFailed);
  return nothingSucceeded(result) ?? tooManyOfStatus(gates, run) ?? { kind: 'passed' };
}

/** What of a result is judged. */
type JudgedResult = Pick<NodeResult, 'run' | 'reason' | 'deadEnds'>;

type Failure = Extract<GateVerdict, { kind: 'failed' }>;
const failure = (code: Failure['code'], message: string): Failure => ({ kind: 'failed', code, message });

/** The error code of a node that failed: its reason, or that of a closing hook of the project, after which the reason stays. */
export function failureCode(reason: string): ErrorCode {
  return Object.hasOwn(commandErrorCodes, reason) ? (reason as ErrorCode) : 'hook_error';
}

/** The latest totals of a run that several nodes read. Totals only grow, so the largest are the latest. */
export function latestTotals(runs: readonly (RunTotals | null)[]): RunTotals | null {
  const readings = runs.filter((run) => run !== null);
  const first = readings[0];
  if (first === undefined) return null;
  const largest = (of: 'items' | 'failed' | 'errorPages' | 'dropped' | 'redirects') =>
    Math.max(...readings.map((run) => run[of]));
  const most = (of: 'statuses' | 'failures') =>
    readings.map((run) => run[of]).reduce((a, b) => (sumOf(b) > sumOf(a) ? b : a));
  return {
    id: first.id,
    ...{ items: largest('items'), failed: largest('failed'), errorPages: largest('errorPages') },
    ...{ dropped: largest('dropped'), redirects: largest('redirects') },
    hasGoodPage: readings.some(({ hasGoodPage }) => hasGoodPage),
    ...{ statuses: most('statuses'), failures: most('failures') },
    leased: Math.min(...readings.map(({ leased }) => leased)),
    isOver: readings.some(({ isOver }) => isOver),
  };
}

/** A run whose pages all failed or answered with an error: the site is down, has moved, or does not want this crawl. */
function nothingSucceeded({ run, reason, deadEnds }: JudgedResult): GateVerdict | null {
  if (run === null || !run.isOver || run.leased > 0 || endedByHand.includes(reason)) return null;
  const { failed, errorPages, hasGoodPage } = run;
  // Items are no sign of a good page: errbacks give some too.
  const forbidden = deadEnds.find(({ what }) => what === FORBIDDEN_BY_ROBOTS)?.count ?? 0;
  if (hasGoodPage || failed + errorPages + forbidden === 0) return null;
  const parts = [
    failed === 0 ? '' : `${howMany(failed, 'request')} failed`,
    errorPages === 0 ? '' : `${howMany(errorPages, 'page')} answered with an error such as 404`,
    forbidden === 0 ? '' : `robots.txt forbids ${howMany(forbidden, 'page')}`,
  ];
  const what = parts.filter((part) => part !== '').join(', and ');
  return failure('nothing_succeeded', `no page of the run succeeded: ${what}`);
}

/** Names the first status that too many pages ended with. */
function tooManyOfStatus({ maxStatus }: RunGates, { statuses }: RunTotals): GateVerdict | null {
  const pages = sumOf(statuses);
  for (const { status, percent } of maxStatus) {
    const isMeant = (found: string) =>
      status.endsWith('xx') ? found.length === 3 && found[0] === status[0] : found === status;
    const count = sumOf(Object.fromEntries(Object.entries(statuses).filter(([found]) => isMeant(found))));
    if (count * 100 <= pages * percent) continue;
    const share = `${n(count)} of ${howMany(pages, 'page')} of the run (${((count / pages) * 100).toFixed(1)}%)`;
    const message = `${share} ended with status ${status}, more than --max-status ${status}=${percent}%`;
    return failure('too_many_of_status', message);
  }
  return null;
}

const sumOf = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** The options that check totals. */
function namesOf({ minItems, maxFailed, maxStatus }: RunGates): string[] {
  const named: [name: string, isSet: boolean][] = [
    ['--min-items', minItems !== null],
    ['--max-failed', maxFailed !== null],
    ['--max-status', maxStatus.length > 0],
  ];
  return named.filter(([, isSet]) => isSet).map(([name]) => name);
}
