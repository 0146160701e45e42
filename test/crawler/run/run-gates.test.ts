/** Whether a run was good enough, by the totals of all its nodes. */
import { describe, expect, it } from 'vitest';
import { judgeRun, latestTotals } from '../../../src/crawler/run/run-gates.js';

const run = (items: number, failed = 0, isOver = true) => ({ id: 'one', items, failed, isOver });
const judge = (
  gates: { minItems?: number; maxFailed?: number },
  totals: ReturnType<typeof run> | null,
  reason = 'finished',
) =>
  judgeRun({ minItems: gates.minItems ?? null, maxFailed: gates.maxFailed ?? null }, { run: totals, reason });

describe('the gates of a run', () => {
  it('pass where there are none, and at their bounds', () => {
    expect(judge({}, null)).toEqual({ kind: 'passed' });
    expect(judge({ minItems: 5, maxFailed: 2 }, run(5, 2))).toEqual({ kind: 'passed' });
    expect(judge({ maxFailed: 0 }, run(0, 0))).toEqual({ kind: 'passed' });
  });

  it('fail beyond them, with both numbers in the message', () => {
    expect(judge({ minItems: 1_000 }, run(999))).toEqual({
      kind: 'failed',
      code: 'too_few_items',
      message: 'the run gave 999 items over all its nodes, fewer than --min-items 1,000',
    });
    expect(judge({ maxFailed: 0 }, run(7, 1))).toEqual({
      kind: 'failed',
      code: 'too_many_failed',
      message: '1 request failed in the run over all its nodes, more than --max-failed 0',
    });
    expect(judge({ minItems: 1, maxFailed: 0 }, run(0, 3))).toMatchObject({
      code: 'too_few_items',
      message: expect.stringMatching(/0 items .*--min-items 1; and 3 requests failed .*--max-failed 0$/),
    });
  });

  it('are not checked by a node that leaves a run which goes on', () => {
    expect(judge({ minItems: 5 }, run(1, 0, false), 'shutdown')).toEqual({
      kind: 'unjudged',
      message: 'the run goes on on other nodes, so --min-items was not checked here',
    });
  });

  it('fail where a finished run cannot be read, and are open where a node had no part in one', () => {
    expect(judge({ minItems: 5 }, null)).toMatchObject({ kind: 'failed' });
    expect(judge({ minItems: 5, maxFailed: 1 }, null, 'closespider_pagecount')).toMatchObject({
      kind: 'unjudged',
      message: expect.stringContaining('--min-items and --max-failed'),
    });
  });

  it('take the latest of what several nodes of a run saw', () => {
    expect(latestTotals([null, run(3, 0, false), run(7, 2), run(0, 0)])).toEqual(run(7, 2));
    expect(latestTotals([null])).toBeNull();
  });
});
