/** robots.txt with real processes: fetched once for all nodes, once more when its fetching node is killed, and told of. */
import { afterEach, describe, expect, it } from 'vitest';
import { runHere } from '../helpers/cli/run-here.js';
import { type RunningCli, startCli } from '../helpers/cli.js';
import { engines, projectOn } from '../helpers/engine-project.js';
import { type Site, startSite } from '../helpers/sites/site.js';
import { waitFor } from '../helpers/wait-for.js';
import { walk } from '../helpers/walk.js';

const PAGES = 12;
const robots = 'User-agent: *\nDisallow: /page/7.html\n';

describe.each(engines)('robots.txt on the %s engine', (engine) => {
  const here = projectOn(engine, {
    settings: { NODE_TIMEOUT: 2, HEARTBEAT_INTERVAL: 1, CONCURRENT_REQUESTS: 4 },
    files: { 'spiders/walk.ts': walk() },
  });
  const sites: Site[] = [];
  afterEach(async () => {
    await Promise.all(sites.splice(0).map((site) => site.close()));
  });
  const obeys = { ROBOTSTXT_OBEY: undefined };
  const crawl = (id: string): string[] => [
    ...['crawl', 'walk', '-a', `start=${sites.map(({ url }) => url).join(' ')}`, '--exit-when-done'],
    ...['--node-id', id, '-s', `USER_AGENT=${id}`],
  ];
  const start = (id: string): RunningCli => startCli(crawl(id), { cwd: here.project.dir, env: obeys });
  const askedFor = ({ log }: Site): number => log.filter(({ path }) => path === '/robots.txt').length;

  it('is fetched once by four nodes for each of three hosts, and once more where its fetching node is killed', async () => {
    let fetching: string | undefined;
    for (const host of ['127.0.0.1', '127.0.0.2', '127.0.0.3']) {
      const site = await startSite({
        pages: PAGES,
        host,
        delayMs: 5,
        handler: (request, response) => {
          if (request.url !== '/robots.txt') return false;
          const isHeld = host === '127.0.0.2' && fetching === undefined;
          // The first node that asks for this one gets no answer.
          if (isHeld) fetching = request.headers['user-agent'] ?? '';
          else response.writeHead(200, { 'content-type': 'text/plain' }).end(robots);
          return true;
        },
      });
      sites.push(site);
    }
    const ids = ['one', 'two', 'three', 'four'];
    const nodes = new Map(ids.map((id) => [id, start(id)]));
    await waitFor(() => fetching !== undefined, { what: 'a node that fetches the robots.txt of 127.0.0.2' });
    const [first, held, third] = sites as [Site, Site, Site];
    await waitFor(() => [first, third].every((site) => site.fetched().size === PAGES - 1), {
      what: 'the pages of the other hosts',
    });
    expect(held.fetched().size).toBe(0);
    nodes.get(fetching!)!.kill('SIGKILL');
    nodes.get(fetching!)!.killGroup('SIGKILL');
    const results = await Promise.all([...nodes.values()].map((node) => node.wait()));
    expect(results.filter(({ code }) => code === 0)).toHaveLength(3);
    for (const site of sites) expect(site.compare().missing).toEqual(['/page/7.html']);
    expect(sites.map(askedFor)).toEqual([1, 2, 1]);
    const { stdout } = await runHere(['stats', 'walk', '--json'], { cwd: here.project.dir });
    const { counters, done, failed } = JSON.parse(stdout);
    expect({ done, failed }).toEqual({ done: 3 * PAGES, failed: 0 });
    expect(counters).toMatchObject({
      'robotstxt/response_count': 3,
      'robotstxt/response_status_count/200': 3,
      'robotstxt/forbidden': 3,
    });
    await here.look(async (frontier) => expect(await frontier.verify()).toEqual([]), 'walk');
  });

  it('is obeyed by default, and the summary names a page that it forbids', async () => {
    const handler: NonNullable<Parameters<typeof startSite>[0]>['handler'] = (request, response) => {
      if (request.url !== '/robots.txt') return false;
      response.writeHead(200).end(robots);
      return true;
    };
    sites.push(await startSite({ pages: PAGES, handler }));
    const { stdout } = await runHere(crawl('one'), { cwd: here.project.dir, env: obeys });
    expect(stdout).toContain(`forbidden by robots.txt: 1 page, such as ${sites[0]!.origin}/page/7.html`);
    expect(stdout).toMatch(/walk: finished, 12 pages, 11 items, 0 failed/);
  });
});
