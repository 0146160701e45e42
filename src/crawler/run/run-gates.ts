/** The gates of `crawl`: totals that a run must reach, or must not exceed, to count as a success. */

import { howMany, n } from '../../format-amounts.js';
import type { NodeResult, RunTotals } from '../../node/node-options.js';

/** The limits of a command line for the run, over all its nodes; null where there is no limit. */
export interface RunGates {
  /** `--min-items`. */
  readonly minItems: number | null;
  /** `--max-failed`. */
  readonly maxFailed: number | null;
}

/** The result of checking the gates. */
export type GateVerdict =
  | { readonly kind: 'passed' }
  /** `code` is the code in the last line of the log. */
  | { readonly kind: 'failed'; readonly code: 'too_few_items' | 'too_many_failed'; readonly message: string }
  /** The run continues on other nodes, so its totals are not final. */
  | { readonly kind: 'unjudged'; readonly message: string };

export function hasGates({ minItems, maxFailed }: RunGates): boolean {
  return minItems !== null || maxFailed !== null;
}

/** Check the totals of the run when this node, or the nodes of this command, left. */
export function judgeRun(gates: RunGates, { run, reason }: Pick<NodeResult, 'run' | 'reason'>): GateVerdict {
  if (!hasGates(gates)) return { kind: 'passed' };
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
  return tooFewItems(gates, run) ?? tooManyFailed(gates, run) ?? { kind: 'passed' };
}

/** The latest totals of a run that several nodes read. Totals only grow, so the largest are the latest. */
export function latestTotals(runs: readonly (RunTotals | null)[]): RunTotals | null {
  const readings = runs.filter((run) => run !== null);
  const first = readings[0];
  if (first === undefined) return null;
  return {
    id: first.id,
    items: Math.max(...readings.map(({ items }) => items)),
    failed: Math.max(...readings.map(({ failed }) => failed)),
    isOver: readings.some(({ isOver }) => isOver),
  };
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
