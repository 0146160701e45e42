/** `stats SPIDER --watch` on a terminal: what the screen shows, and how it begins, lasts and ends. */
import { describe, expect, it } from 'vitest';
import { type LiveCrawl, liveScreen } from '../../../src/cli/reports/live-screen.js';
import { bar, sparkline } from '../../../src/cli/terminal/spark.js';
import type { CrawlEvent } from '../../../src/frontier/frontier.js';
import { historyPoint, nodeFacts } from '../../frontier-contract/telemetry-examples.js';
import { request } from '../../frontier-contract/world.js';
import { startOnTerminal } from '../../helpers/cli/on-terminal.js';
import { engines, projectOn } from '../../helpers/engine-project.js';
import { joinAs } from '../../helpers/joining.js';
import { waitFor } from '../../helpers/wait-for.js';
import { crawlStats, nodeStats } from './crawl-stats-example.js';

const nowMs = 1_700_000_000_000;
const plain = (_: string, text: string) => text;

const node = (n: number) => ({ ...nodeStats(n), facts: nodeFacts });
const domain = (n: number) => ({
  ...{ domain: `${n}.example`, pending: 4, leased: 1, limit: 8, delayMs: 0, delayBy: null, dueInMs: 0 },
  ...{ blockedBy: null, pages: 10, bytes: 1, statuses: { 403: n }, failures: {}, retries: {} },
  ...{ latencyMs: 10, p95Ms: 20 },
});
const joined = (number: number): CrawlEvent => ({
  ...{ number, atMs: nowMs - 1_000, kind: 'node_joined', node: `node-${number}` },
});

/** A large crawl for an hour, with a gap of ten minutes where no node ran. */
const large: LiveCrawl = {
  stats: crawlStats({
    nodes: Array.from({ length: 30 }, (_, n) => node(n)),
    worstDomains: [1, 2, 3, 4, 5].map(domain),
    ...{ limitedBy: 'domain_delay', limitedByText: 'a long sentence, '.repeat(10) },
    eta: { seconds: 600, by: 'rate', domain: null },
  }),
  history: Array.from({ length: 360 }, (_, n) =>
    historyPoint({ atMs: nowMs - (360 - n) * 10_000, pages: n * 20, failures: 0, pending: 400 - n }),
  ).filter((_, n) => n < 320 || n >= 340),
  events: Array.from({ length: 60 }, (_, n) => joined(n)),
  readAtMs: nowMs - 500,
};

describe('the screen', () => {
  it.each([
    [80, 24],
    [200, 50],
    [40, 10],
    [20, 3],
  ])('of %i × %i is filled', (columns, rows) => {
    const lines = liveScreen(large, plain, nowMs, { columns, rows }).split('\n');
    expect(lines).toHaveLength(rows);
    expect(lines[0]).toMatch(/^shop {2}\(redis\) {2}running, 30 nodes/);
    if (rows < 24) return;
    const text = lines.join('\n');
    expect(text).toMatch(/\n {2}pages +[▁▂▃▄▅▆▇█ ]+ {2}2\/s, at most 2\/s\n/);
    expect(text).toMatch(
      /\n {2}failures +[▁ ]+ {2}0\/s, at most 0\/s\n {2}pending +[▁▂▃▄▅▆▇█ ]+ {2}41, at most \d+\n/,
    );
    expect(text).toContain('limited by  domain_delay: a long');
    expect(text).toContain('eta         10 min, at the rate of the last minutes');
    const shown = (pattern: RegExp) => lines.filter((line) => pattern.test(line)).length;
    const counts = [shown(/^ {2}node-\d/), shown(/^ {2}\d\.example/), shown(/Z {2}node node-\d+ joined/)];
    expect(counts).toEqual(rows === 24 ? [3, 3, 3] : [15, 5, 15]);
    expect(text).toMatch(/last events \(\d\d more\)/);
    expect(lines.find((line) => line.includes('joined'))).toContain('node node-59 joined');
  });

  it('shows gaps where no node ran, in columns of ten seconds', () => {
    const lines = liveScreen(large, plain, nowMs, { columns: 110, rows: 40 }).split('\n');
    const pending = lines.find((line) => line.startsWith('  pending  '))!;
    // 20 points are missing, and the first one after them has no rate.
    expect(pending).toMatch(/[▁-█] {20}[▁-█]{20} {2}41, at most/);
    expect(lines.find((line) => line.startsWith('  pages  '))).toMatch(/█ {21}█{19} {2}2\/s/);
  });

  it('says how old its data is, when the store does not answer', () => {
    const old = { ...large, readAtMs: nowMs - 75_000 };
    const [head] = liveScreen(old, plain, nowMs, { columns: 120, rows: 24 }).split('\n');
    expect(head).toContain('the store does not answer: what it said 75 s ago');
  });

  it('shows how far the crawl is only where its end is known', () => {
    const of = (eta: (typeof large.stats)['eta']) =>
      liveScreen({ ...large, stats: { ...large.stats, eta } }, plain, nowMs, { columns: 120, rows: 24 });
    expect(of({ seconds: 9, by: 'rate', domain: null })).toMatch(/items 595 {2}█{9}\S? +91 %\n/);
    expect(of({ seconds: null, reason: 'discovering', newPerPage: 3 })).not.toContain(' %\n');
    expect(of(null)).not.toContain(' %\n');
  });
});

it('numbers become a line of small columns, and a share a bar', () => {
  expect(sparkline([0, 0.9, null, 4, 8])).toBe('▁▁ ▅█');
  expect(sparkline([0, 0])).toBe('▁▁');
  expect([bar(0, 4), bar(0.5, 4), bar(0.9, 4), bar(2, 4)]).toEqual(['    ', '██  ', '███▋', '████']);
});

describe.each(engines)('on a terminal, of a crawl on the %s engine', (engine) => {
  const here = projectOn(engine);
  const fill = () =>
    here.look(async (frontier) => {
      await joinAs(frontier, { id: 'one' });
      await frontier.push([request('a'), request('b')], 'links');
      await frontier.control('paused', 'ann');
    });

  it('it fits, takes another size, and ends at q with the terminal as it was', async () => {
    await fill();
    const view = startOnTerminal(['stats', 'news', '--watch'], here.project.dir);
    await waitFor(() => view.screen()[0]?.includes(`news  (${engine})`) && view.screen().length >= 24, {
      what: 'the whole view',
    });
    expect(view.screen()).toHaveLength(24);
    for (const line of view.screen()) expect(line.length).toBeLessThanOrEqual(80);
    expect(view.screen().join('\n')).toContain('paused by ann');
    expect(view.stdout()).toContain('\x1b[?1049h');
    await view.resize(200, 50);
    await waitFor(() => view.screen().length === 50, { what: 'a view of the new size' });
    view.type('q');
    await view.waitForOutput('exit code 0');
    const { stdout } = await view.wait();
    expect(stdout).toMatch(/\x1b\[\?25h\x1b\[\?1049lexit code 0/);
    expect(stdout).toMatch(/ icanon .* echo /s);
  });

  it('it ends at Ctrl-C; all crawls are a table', async () => {
    await fill();
    const view = startOnTerminal(['stats', '--watch'], here.project.dir);
    await waitFor(() => view.screen()[0]?.includes('CRAWL'), { what: 'the table' });
    view.type('\x03');
    await view.waitForOutput('exit code 0');
    expect((await view.wait()).stdout).toMatch(/ icanon .* echo /s);
  });

  it.runIf(engine === 'redis')(
    'it outlives an absence of the store, and says how old its data is',
    async () => {
      await fill();
      const view = startOnTerminal(['stats', 'news', '--watch'], here.project.dir);
      await waitFor(() => view.screen()[1]?.includes('pending 2'), { what: 'the view' });
      await here.redis!.kill();
      await waitFor(() => view.screen()[0]?.includes('the store does not answer'), { what: 'its age' });
      expect(view.screen()[1]).toContain('pending 2');
      await here.redis!.restart();
      await here.look((frontier) => frontier.push([request('c')], 'links'));
      await waitFor(() => view.screen()[1]?.includes('pending 1'), { what: 'new data', timeoutMs: 30_000 });
      expect(view.screen()[0]).not.toContain('does not answer');
      view.type('q');
      await view.waitForOutput('exit code 0');
      await view.wait();
    },
  );
});
