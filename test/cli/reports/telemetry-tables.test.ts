/** `stats` with --domains, --history and --events, and what the view of a crawl shows of them. */
import { describe, expect, it } from 'vitest';
import { etaText } from '../../../src/cli/reports/telemetry-tables.js';
import { thinned } from '../../../src/crawler/stats/read-history.js';
import { historyPoint } from '../../frontier-contract/telemetry-examples.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { runCli } from '../../helpers/cli.js';
import { engines, projectOn } from '../../helpers/engine-project.js';
import { startSite } from '../../helpers/sites/site.js';

const spider = `
import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = 'news';
  parse(response: Response) { return { url: response.url }; }
}
`;

describe.each(engines)('on the %s engine', (engine) => {
  const here = projectOn(engine, {
    settings: { RETRY_TIMES: 1, RETRY_BACKOFF: 0.01, RETRY_BACKOFF_MAX: 0.01, ALLOW_PRIVATE_ADDRESSES: true },
    files: { 'spiders/news.ts': spider },
  });
  const run = (args: readonly string[]) => runHere(args, { cwd: here.project.dir });
  const json = async (args: readonly string[]) => JSON.parse((await run([...args, '--json'])).stdout);

  it('a crawl that is over says which domain failed, what happened, and what is left', async () => {
    const site = await startSite({ pages: 3, failing: { '/bad': Number.POSITIVE_INFINITY } });
    await run(['seed', 'news', `${site.origin}/bad`, ...site.urls]);
    const options = { cwd: here.project.dir, env: { NODE_ID: 'one' } };
    expect((await runCli(['crawl', 'news', '--exit-when-done'], options)).code).toBe(0);
    await run(['pause', 'news']);

    const [domain, ...others] = await json(['stats', 'news', '--domains']);
    expect(others).toEqual([]);
    const known = {
      domain: new URL(site.origin).host,
      pages: 4,
      statuses: { 200: 3, 503: 2 },
      failures: { http_status: 1 },
    };
    expect(domain).toMatchObject({ ...known, retries: { http_status: 1 }, pending: 0, delayBy: null });
    const table = (await run(['stats', 'news', '--sort', 'slow', '--limit', '1'])).stdout;
    expect(table).toMatch(/^ *DOMAIN +PENDING.*\n.*200 ×3, 503 ×2 +http_status ×1 +http_status ×1 +-\n$/);

    const events = await json(['stats', 'news', '--events']);
    const kinds = events.map(({ kind }: { kind: string }) => kind);
    expect(kinds).toEqual(['node_joined', 'node_left', 'run_ended', 'paused']);
    const told = (await run(['stats', 'news', '--events'])).stdout;
    expect(told).toMatch(
      /Z +node one joined\n.*node one left: finished\n.*the run ended: finished\n.*paused by .+@.+\n$/,
    );

    const [point] = await json(['stats', 'news', '--history', '10m']);
    expect(point).toMatchObject({ pages: 3, failures: 1, pending: 0, nodes: 1, limitedBy: 'empty' });
    const history = (await run(['stats', 'news', '--history', '10m', '--step', '1m'])).stdout;
    expect(history).toMatch(/^ *TIME +PAGES\/S.*LIMITED BY\n.* empty\n$/);

    const stats = await json(['stats', 'news']);
    expect(stats).toMatchObject({
      limitedBy: 'paused',
      wantedNodes: 0,
      eta: null,
      deadNodes: [],
      leasable: 0,
    });
    expect(stats.worstDomains).toMatchObject([known]);
    const view = (await run(['stats', 'news'])).stdout;
    expect(view).toContain('limited by  paused: the crawl is paused');
    expect(view).toMatch(
      /worst domains\n.*4 pages +p95 .* ms +failed http_status ×1 · retried http_status ×1 · answered 503 ×2\n/,
    );
  });

  it('of a crawl without reports, views are empty and say so; two views at a time are refused', async () => {
    expect(await json(['stats', 'news', '--events'])).toEqual([]);
    expect((await run(['stats', 'news', '--domains'])).stderr).toContain('no node has reported anything yet');
    const two = await run(['stats', 'news', '--domains', '--events']);
    expect(two).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('use one of --domains and --events'),
    });
    expect(await run(['stats', '--events'])).toMatchObject({ code: 2 });
  });
});

it('a history is thinned to the last point of each step', () => {
  const points = [0, 10_000, 50_000, 61_000, 130_000].map((atMs) => historyPoint({ atMs }));
  expect(thinned(points, 60_000).map(({ atMs }) => atMs)).toEqual([50_000, 61_000, 130_000]);
});

it('the rest of a crawl is told with what decides it', () => {
  expect(etaText(null)).toBeNull();
  expect(etaText({ seconds: 600, by: 'rate', domain: null })).toBe('10 min, at the rate of the last minutes');
  expect(etaText({ seconds: 60, by: 'slowest_domain', domain: 'a.example' })).toBe(
    '60 s, as a.example takes so long',
  );
  expect(etaText({ seconds: null, reason: 'discovering', newPerPage: 3.5 })).toContain('3.5 new requests');
});
