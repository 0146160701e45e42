/** The live line of a crawl, at several widths. */
import { expect, it } from 'vitest';
import { type Progress, type ProgressNotes, progressLine } from '../../../src/cli/crawl/progress-line.js';

const progress: Progress = {
  ...{
    pages: 1234,
    pagesPerSecond: 6.2,
    pending: 56,
    delayed: 7,
    leased: 8,
    failed: 9,
    items: 1000,
    nodes: 2,
    ...{ limitedBy: null, doneShare: null, etaSeconds: null },
  },
};
const notes: ProgressNotes = { control: 'running', elapsedMs: 3_725_000, trouble: null };
const line = (columns: number, some: Partial<Progress & ProgressNotes> = {}) =>
  progressLine({ ...progress, ...some }, { ...notes, ...some }, columns);

it('shows the whole crawl and the elapsed time where there is room', () => {
  expect(line(120)).toBe(
    '1,234 pages (6.2/s) · pending 56 · delayed 7 · leased 8 · failed 9 · items 1,000 · 2 nodes · 1:02:05',
  );
});

it('leaves out whole parts, the least important first, and never wraps', () => {
  expect(line(80)).toBe('1,234 pages (6.2/s) · pending 56 · failed 9 · items 1,000 · 2 nodes · 1:02:05');
  expect(line(50)).toBe('1,234 pages (6.2/s) · pending 56 · failed 9');
  for (let columns = 1; columns < 130; columns += 1) expect(line(columns).length).toBeLessThan(columns);
});

it('counts in the singular, and says that a crawl is paused', () => {
  const one = { pages: 1, pagesPerSecond: 0, delayed: 0, nodes: 1, elapsedMs: 5_000 };
  expect(line(120, { ...one, control: 'paused' })).toBe(
    'paused · 1 page (0/s) · pending 56 · leased 8 · failed 9 · items 1,000 · 1 node · 0:05',
  );
});

it('says why nothing moves in place of a rate, before everything else', () => {
  expect(line(60, { trouble: 'waiting for Redis' })).toBe(
    'waiting for Redis · 1,234 pages · pending 56 · failed 9',
  );
});

it('says what limits the crawl, and shows a bar where its end is known', () => {
  const known = { limitedBy: 'domain_delay', doneShare: 0.43, etaSeconds: 360 } as const;
  expect(line(160, known)).toBe(
    '1,234 pages (6.2/s) · ████▎      43 %, 6 min left · pending 56 · delayed 7 · leased 8 · failed 9 · items 1,000 · 2 nodes · limited by domain_delay · 1:02:05',
  );
  expect(line(80, known)).toBe('1,234 pages (6.2/s) · ████▎      43 %, 6 min left · pending 56 · failed 9');
});
