/** When `crawl` fails although its nodes ended in good order: gates of the command line, and a run without any good page. */

import { howMany, n } from '../../format-amounts.js';
import type { NodeResult, RunTotals } from '../../node/node-options.js';

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
export function judgeRun(gates: RunGates, result: Pick<NodeResult, 'run' | 'reason'>): GateVerdict {
  if (gates.mustFinish && result.reason !== 'finished') return notFinished(result);
  if (!needsTotals(gates)) return nothingSucceeded(result) ?? { kind: 'passed' };
  const { run, reason } = result;
  const names = namesOf(gates);
  if (run === null) {
    const message = `the totals of the run are not known, so ${names.join(' and ')} could not be checked`;
    // A node that finished without totals joined after the run. Otherwise the store may have been unreachable.
    return reason === 'finished'
      ? { kind: 'failed', code: 'too_few_items', message }
      : { kind: 'unjudged', message };
  }
  if (!run.isOver) {
    const were = names.length > 1 ? 'were' : 'was';
    const message = `the run goes on on other nodes, so ${names.join(' and ')} ${were} not checked here`;
    return { kind: 'unjudged', message };
  }
  return (
    tooFewItems(gates, run) ??
    tooManyFailed(gates, run) ??
    nothingSucceeded(result) ??
    tooManyOfStatus(gates, run) ?? { kind: 'passed' }
  );
}

/** The latest totals of a run that several nodes read. Totals only grow, so the largest are the latest. */
export function latestTotals(runs: readonly (RunTotals | null)[]): RunTotals | null {
  const readings = runs.filter((run) => run !== null);
  const first = readings[0];
  if (first === undefined) return null;
  const largest = (of: 'items' | 'failed' | 'errorPages') => Math.max(...readings.map((run) => run[of]));
  const most = (of: 'statuses' | 'failures') =>
    readings.map((run) => run[of]).reduce((a, b) => (sumOf(b) > sumOf(a) ? b : a));
  return {
    id: first.id,
    ...{ items: largest('items'), failed: largest('failed'), errorPages: largest('errorPages') },
    hasGoodPage: readings.some(({ hasGoodPage }) => hasGoodPage),
    ...{ statuses: most('statuses'), failures: most('failures') },
    leased: Math.min(...readings.map(({ leased }) => leased)),
    isOver: readings.some(({ isOver }) => isOver),
  };
}

function notFinished({ reason }: Pick<NodeResult, 'reason'>): GateVerdict {
  const message = `the crawl did not finish, it ended with "${reason}" (--must-finish)`;
  return { kind: 'failed', code: 'not_finished', message };
}

/** A run whose pages all failed or answered with an error: the site is down, has moved, or does not want this crawl. */
function nothingSucceeded({ run, reason }: Pick<NodeResult, 'run' | 'reason'>): GateVerdict | null {
  if (run === null || !run.isOver || run.leased > 0 || endedByHand.includes(reason)) return null;
  const { failed, errorPages, hasGoodPage } = run;
  // Items are no sign of a good page: errbacks give some too.
  if (hasGoodPage || failed + errorPages === 0) return null;
  const parts = [
    failed === 0 ? '' : `${howMany(failed, 'request')} failed`,
    errorPages === 0 ? '' : `${howMany(errorPages, 'page')} answered with an error such as 404`,
  ];
  const message = `no page of the run succeeded: ${parts.filter((part) => part !== '').join(', and ')}`;
  return { kind: 'failed', code: 'nothing_succeeded', message };
}

function tooFewItems({ minItems, maxFailed }: RunGates, { items, failed }: RunTotals): GateVerdict | null {
  if (minItems === null || items >= minItems) return null;
  const also = maxFailed !== null && failed > maxFailed ? `; and ${failedText(failed, maxFailed)}` : '';
  return { kind: 'failed', code: 'too_few_items', message: `${itemsText(items, minItems)}${also}` };
}

function tooManyFailed({ maxFailed }: RunGates, { failed }: RunTotals): GateVerdict | null {
  if (maxFailed === null || failed <= maxFailed) return null;
  return { kind: 'failed', code: 'too_many_failed', message: failedText(failed, maxFailed) };
}

const itemsText = (items: number, least: number) =>
  `the run gave ${howMany(items, 'item')} over all its nodes, fewer than --min-items ${n(least)}`;

const failedText = (failed: number, most: number) =>
  `${howMany(failed, 'request')} failed in the run over all its nodes, more than --max-failed ${n(most)}`;

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
    return { kind: 'failed', code: 'too_many_of_status', message };
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
