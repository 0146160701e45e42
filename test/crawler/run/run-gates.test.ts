/** Whether a run was good enough, by the totals of all its nodes. */
import { describe, expect, it } from 'vitest';
import { judgeRun, latestTotals, noGates, type RunGates } from '../../../src/crawler/run/run-gates.js';

const run = (items: number, failed = 0, isOver = true) => ({
  ...{ id: 'one', items, failed, isOver },
  ...{
    errorPages: 0,
    hasGoodPage: true,
    dropped: 0,
    redirects: 0,
    leased: 0,
    statuses: {} as Record<string, number>,
    failures: {},
  },
});
const judge = (gates: Partial<RunGates>, totals: ReturnType<typeof run> | null, reason = 'finished') =>
  judgeRun({ ...noGates, ...gates }, { run: totals, reason, deadEnds: [] });

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

  it('fail with --must-finish at any end but a finished crawl, also where the run goes on', () => {
    for (const reason of ['closespider_pagecount', 'stopped', 'shutdown', 'too expensive']) {
      expect(judge({ mustFinish: true, minItems: 1 }, run(5, 0, reason !== 'shutdown'), reason)).toEqual({
        kind: 'failed',
        code: 'not_finished',
        message: `the crawl did not finish, it ended with "${reason}" (--must-finish)`,
      });
    }
    expect(judge({ mustFinish: true }, run(0))).toEqual({ kind: 'passed' });
  });

  it('without any: a run fails of which no page succeeded, unless somebody ended it or it goes on', () => {
    const bad = { ...run(0, 2), errorPages: 1, hasGoodPage: false };
    for (const reason of ['finished', 'closespider_pagecount']) {
      expect(judge({}, bad, reason)).toEqual({
        kind: 'failed',
        code: 'nothing_succeeded',
        message:
          'no page of the run succeeded: 2 requests failed, and 1 page answered with an error such as 404',
      });
    }
    const passes = { kind: 'passed' };
    for (const reason of ['shutdown', 'stopped']) expect(judge({}, bad, reason)).toEqual(passes);
    for (const good of [{ hasGoodPage: true }, { isOver: false }, { leased: 1 }]) {
      expect(judge({}, { ...bad, ...good })).toEqual(passes);
    }
    const none = { ...bad, failed: 0, errorPages: 0 };
    expect(judge({}, none)).toEqual(passes);
    const deadEnds = [{ what: 'forbidden by robots.txt', unit: 'page', count: 3, example: '' }] as const;
    expect(judgeRun(noGates, { run: none, reason: 'finished', deadEnds })).toMatchObject({
      message: 'no page of the run succeeded: robots.txt forbids 3 pages',
    });
    for (const items of [0, 3]) {
      expect(judge({ minItems: 0 }, { ...bad, items })).toMatchObject({ code: 'nothing_succeeded' });
    }
  });

  it('fail where too many pages ended with a status, by share of all pages that ended', () => {
    const totals = { ...run(90), statuses: { 200: 85, 404: 5, 500: 1, 503: 1, none: 8 } };
    const passes = { kind: 'passed' };
    const limit = (status: string, percent: number) => judge({ maxStatus: [{ status, percent }] }, totals);
    expect(limit('404', 5)).toEqual(passes);
    expect(limit('5xx', 2)).toEqual(passes);
    expect(limit('404', 4.9)).toEqual({
      kind: 'failed',
      code: 'too_many_of_status',
      message: '5 of 100 pages of the run (5.0%) ended with status 404, more than --max-status 404=4.9%',
    });
    expect(limit('5xx', 1)).toMatchObject({ message: expect.stringMatching(/^2 of 100 .* 5xx=1%$/) });
    expect(judge({ maxStatus: [{ status: '404', percent: 5 }] }, run(0))).toEqual(passes);
  });

  it('take the latest of what several nodes of a run saw', () => {
    expect(latestTotals([null, run(3, 0, false), run(7, 2), run(0, 0)])).toEqual(run(7, 2));
    expect(latestTotals([null])).toBeNull();
  });
});
