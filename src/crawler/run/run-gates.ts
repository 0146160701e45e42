/** When `crawl` fails although its nodes ended in good order: gates of the command line, and a run without any good page. */

import { howMany, n } from '../../format-amounts.js';
import type { NodeResult, RunTotals } from '../../node/node-options.js';

/** The limits of a command line for the run, over all its nodes; null where there is no limit. */
export interface RunGates {
  /** `--min-items`. */
  readonly minItems: number | null;
  /** `--max-failed`. */
  readonly maxFailed: number | null;
  /** `--must-finish`: any end but a finished crawl fails. */
  readonly mustFinish: boolean;
}

export const noGates: RunGates = { minItems: null, maxFailed: null, mustFinish: false };

/** The result of checking the gates. */
export type GateVerdict =
  | { readonly kind: 'passed' }
  /** `code` is the code in the last line of the log. */
  | {
      readonly kind: 'failed';
      readonly code: 'not_finished' | 'too_few_items' | 'too_many_failed' | 'nothing_succeeded';
      readonly message: string;
    }
  /** The run continues on other nodes, so its totals are not final. */
  | { readonly kind: 'unjudged'; readonly message: string };

/** Somebody ended the crawl early on purpose, so the pages so far say little. */
const endedByHand = ['shutdown', 'stopped'];

/** Whether a node must wait for the final totals of the run. */
export function needsTotals({ minItems, maxFailed }: RunGates): boolean {
  return minItems !== null || maxFailed !== null;
}

/** Check how the run ended, and its totals, when this node, or the nodes of this command, left. */
export function judgeRun(gates: RunGates, result: Pick<NodeResult, 'run' | 'reason'>): GateVerdict {
  if (gates.mustFinish && result.reason !== 'finished') return notFinished(result);
  if (!needsTotals(gates)) return nothingSucceeded(result) ?? { kind: 'passed' };
  const { run, reason } = result;
  const names = namesOf(gates);
  if (run === null) {
    const message = `the totals of the run are not known, so ${names} could not be checked`;
    // A node that finished without totals joined after the run. Otherwise the store may have been unreachable.
    return reason === 'finished'
      ? { kind: 'failed', code: 'too_few_items', message }
      : { kind: 'unjudged', message };
  }
  if (!run.isOver) {
    const message = `the run goes on on other nodes, so ${names} ${gatesCount(gates) > 1 ? 'were' : 'was'} not checked here`;
    return { kind: 'unjudged', message };
  }
  return (
    tooFewItems(gates, run) ?? tooManyFailed(gates, run) ?? nothingSucceeded(result) ?? { kind: 'passed' }
  );
}

/** The latest totals of a run that several nodes read. Totals only grow, so the largest are the latest. */
export function latestTotals(runs: readonly (RunTotals | null)[]): RunTotals | null {
  const readings = runs.filter((run) => run !== null);
  const first = readings[0];
  if (first === undefined) return null;
  const largest = (of: 'items' | 'failed' | 'errorPages') => Math.max(...readings.map((run) => run[of]));
  return {
    id: first.id,
    ...{ items: largest('items'), failed: largest('failed'), errorPages: largest('errorPages') },
    hasGoodPage: readings.some(({ hasGoodPage }) => hasGoodPage),
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
  const { failed, errorPages, items, hasGoodPage } = run;
  // Items without a processed page come from errbacks.
  if (hasGoodPage || items > 0 || failed + errorPages === 0) return null;
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

function namesOf({ minItems, maxFailed }: RunGates): string {
  const names = [minItems === null ? '' : '--min-items', maxFailed === null ? '' : '--max-failed'];
  return names.filter((name) => name !== '').join(' and ');
}

const gatesCount = ({ minItems, maxFailed }: RunGates) =>
  Number(minItems !== null) + Number(maxFailed !== null);
