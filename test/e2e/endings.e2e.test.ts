/** How crawls of real processes end, and what the commands say of one that begins again. */
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { runHere } from '../helpers/cli/run-here.js';
import { type CliResult, type RunningCli, startCli } from '../helpers/cli.js';
import { onEachEngine, projectOn } from '../helpers/engine-project.js';
import { type Site, type SiteOptions, startSite } from '../helpers/sites/site.js';
import { waitFor } from '../helpers/wait-for.js';

/** Follows every link and yields every page. */
const walk = `
import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = 'walk';
  startUrls = [this.args.start].filter(Boolean);
  refresh = this.args.refresh ? [{ allow: this.args.refresh }] : [];
  *parse(response: Response) {
    yield { url: response.url };
    yield* response.followAll(response.links(), this.parse);
  }
}
`;
/** A node that comes later than NODE_TIMEOUT after a budget closed the run begins another, which is not the matter here. */
const patient = ['-s', 'NODE_TIMEOUT=60'];
const broken = `
import { Spider } from 'crawlnode';
export default class extends Spider { name = 'broken'; refresh = [{ allow: '(' }]; }
`;

onEachEngine('on the %s engine', (engine) => {
  const here = projectOn(engine, {
    settings: { ROBOTSTXT_OBEY: false, NODE_TIMEOUT: 3, HEARTBEAT_INTERVAL: 1, CONCURRENT_REQUESTS: 8 },
    files: { 'spiders/walk.ts': walk },
  });
  let site: Site;
  afterEach(() => site.close());

  const open = async (options: SiteOptions) => {
    site = await startSite(options);
  };
  /** A command that needs no process of its own. */
  const command = (...args: string[]) => runHere(args, { cwd: here.project.dir });
  const crawling = (...args: string[]) => ['crawl', 'walk', '-a', `start=${site.url}`, ...args];
  const service = (...args: string[]): RunningCli => startCli(crawling(...args), { cwd: here.project.dir });
  const crawl = (...args: string[]) => service('--exit-when-done', ...args);
  const crawlHere = (...args: string[]) => command(...crawling('--exit-when-done', ...args));
  const stats = async () => JSON.parse((await command('stats', 'walk', '--json')).stdout);
  /** The invariants hold, as `doctor --deep` judges them. */
  const sound = () => here.look(async (frontier) => expect(await frontier.verify()).toEqual([]), 'walk');
  const killWithLeases = async (node: RunningCli, id: string) => {
    const holds = async () => {
      const { nodes } = await here.look((frontier) => frontier.snapshot(), 'walk');
      return nodes.some((one) => one.id === id && one.leased > 0);
    };
    await waitFor(holds, { what: `leases of ${id}` });
    node.kill('SIGKILL');
  };
  const hasCleared = ({ stderr }: CliResult) =>
    stderr.split('\n').some((line) => line.includes('left the crawl') && /"?cleared"?[:=] ?true/.test(line));
  /** What makes each run begin from nothing: either setting, each on one of the engines. */
  const anew = engine === 'redis' ? 'SCHEDULER_PERSIST=false' : 'SCHEDULER_FLUSH_ON_START=true';
  const reasons = (ends: readonly CliResult[]) =>
    ends.map(({ code, stdout }) => [code, /walk: (\w+)/.exec(stdout)?.[1]]);

  it('--must-finish: a budget, a stop and a signal are exit 1, the finished crawl is 0', async () => {
    let isSlow = true;
    await open({ pages: 60, delayMs: () => (isSlow ? 1_000 : 5) });
    const budget = await crawl('--must-finish', '--max-pages', '5').wait();
    const nodes = [crawl('--must-finish'), crawl('--must-finish')];
    await waitFor(() => site.log.length > 8, { what: 'some pages' });
    nodes[0]!.kill('SIGTERM');
    const drained = await nodes[0]!.wait();
    await command('stop', 'walk');
    const stopped = await nodes[1]!.wait();
    await command('resume', 'walk');
    isSlow = false;
    const finished = await crawl('--must-finish', '--workers', '2').wait();
    expect(reasons([budget, drained, stopped, finished])).toEqual([
      [1, 'closespider_pagecount'],
      [1, 'shutdown'],
      [1, 'stopped'],
      [0, 'finished'],
    ]);
    expect(budget.stderr).toContain(
      'the crawl did not finish, it ended with \\"closespider_pagecount\\" (--must-finish)',
    );
    expect(site.compare()).toEqual({ missing: [], twice: [] });
  });

  it('a run of which no page succeeded is exit 1, and one with a good page is not', async () => {
    let isUp = false;
    await open({
      pages: 3,
      handler: (_request, response) => {
        if (!isUp) response.writeHead(404, { 'content-type': 'text/html' }).end('gone');
        return !isUp;
      },
    });
    const bad = await crawlHere();
    expect(bad).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'no page of the run succeeded: 1 page answered with an error such as 404',
      ),
    });
    isUp = true;
    await command('reset', 'walk', '--yes');
    expect(await crawlHere()).toMatchObject({ code: 0 });
  });

  it('SCHEDULER_PERSIST false: the last of the live nodes clears, after true completion, though one was killed', async () => {
    let isKilled = false;
    // Slow until then, so that the crawl is not over before all are there.
    await open({ pages: 400, delayMs: () => (isKilled ? 20 : 1_500) });
    const node = (id: string) => crawl('-s', 'SCHEDULER_PERSIST=false', '-L', 'DEBUG', '--node-id', id);
    // The one to be killed is there first, and has something to hold while the others come.
    const killed = node('n3');
    await killed.waitForOutput('pushed the start requests');
    const nodes = [node('n1'), node('n2'), killed];
    for (const other of nodes.slice(0, 2)) await other.waitForOutput('joining the crawl');
    await killWithLeases(killed, 'n3');
    isKilled = true;
    expect((await stats()).seen).toBeGreaterThan(0);
    const ends = await Promise.all(nodes.map((node) => node.wait()));
    expect(reasons(ends.slice(0, 2))).toEqual(Array(2).fill([0, 'finished']));
    expect(ends.filter(hasCleared)).toHaveLength(1);
    expect(site.compare().missing).toEqual([]);
    expect(await stats()).toMatchObject({ seen: 0, pending: 0, done: 0, items: 400 });
    await sound();
  });

  it(`under ${anew} the nodes of --workers 3 crawl a site once, however late one of them has started`, async () => {
    await open({ pages: 3 });
    for (const round of [1, 2]) {
      const { code, stdout } = await crawl('-s', anew, '--workers', '3', '-o', 'once.jsonl').wait();
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringMatching(/^walk: finished, 3 pages, 3 items/),
      });
      expect(await here.project.readJsonLines('once.jsonl')).toHaveLength(3 * round);
    }
  });

  it('under SCHEDULER_PERSIST=false -O begins its file anew for each crawl, and goes on with one that was interrupted', async () => {
    await open({ pages: 30, delayMs: 40 });
    const latest = ['-s', 'SCHEDULER_PERSIST=false', '-O', 'latest.jsonl'];
    for (const _ of [1, 2]) {
      expect(await crawlHere(...latest)).toMatchObject({ code: 0 });
      expect(await here.project.readJsonLines('latest.jsonl')).toHaveLength(30);
    }
    const node = crawl(...latest);
    const begun = site.log.length;
    await waitFor(() => site.log.length > begun + 8, { what: 'some pages' });
    node.kill();
    await node.wait();
    expect((await here.project.readJsonLines('latest.jsonl')).length).toBeLessThan(30);
    await crawlHere(...latest);
    expect(await here.project.readJsonLines('latest.jsonl')).toHaveLength(30);
  });

  it('under SCHEDULER_FLUSH_ON_START each run begins from nothing, with the seeds of "crawlnode seed"', async () => {
    await open({ pages: 5 });
    // The seeds go by the start_urls key, where nobody knows who put them there.
    const flush = ['-s', 'SCHEDULER_FLUSH_ON_START=true', '-s', 'ALLOW_PRIVATE_ADDRESSES=true'];
    for (const round of [1, 2]) {
      const seeded = await command('seed', 'walk', site.urls[0]!, ...flush);
      expect(seeded).toMatchObject({ code: 0, stdout: expect.stringContaining('1 appended to start_urls') });
      expect(seeded.stderr).toContain('SCHEDULER_FLUSH_ON_START');
      const { stdout, stderr } = await command(
        'crawl',
        'walk',
        '--exit-when-done',
        ...flush,
        '-o',
        'all.jsonl',
      );
      expect(stdout).toMatch(/^walk: finished, 5 pages, 5 items/);
      expect(stderr.includes('cleared the requests')).toBe(round === 2);
    }
    expect(await here.project.readJsonLines('all.jsonl')).toHaveLength(10);
  });

  // The contract suite has the decisions of both engines; the processes need one.
  if (engine === 'redis') {
    it('4 nodes make 100 downloads of --max-pages 100, on a site of 10,000 pages', async () => {
      await open({ pages: 10_000, delayMs: 5 });
      const ends = await Promise.all([1, 2, 3, 4].map(() => crawl('--max-pages', '100', ...patient).wait()));
      expect(site.log).toHaveLength(100);
      expect(reasons(ends)).toEqual(Array(4).fill([0, 'closespider_pagecount']));
      expect((await stats()).run).toMatchObject({ pages: 100, closed: 'closespider_pagecount' });
      expect((await command('stats', 'walk')).stdout).toMatch(
        /ended .* ago: closespider_pagecount\n(?:.*\n)*.*run .*100 pages/,
      );
      await sound();
    });

    it('3 nodes keep 40 items of CLOSESPIDER_ITEMCOUNT 40, one a page', async () => {
      await open({ pages: 2_000, delayMs: 10 });
      const item = [...patient, '-s', 'CLOSESPIDER_ITEMCOUNT=40', '-o', 'items.jsonl'];
      const ends = await Promise.all(
        [1, 2, 3].map((n) => crawl(...item.with(-1, `items-${n}.jsonl`)).wait()),
      );
      expect(reasons(ends)).toEqual(Array(3).fill([0, 'closespider_itemcount']));
      const files = await Promise.all([1, 2, 3].map((n) => here.project.readJsonLines(`items-${n}.jsonl`)));
      expect(files.flat()).toHaveLength(40);
      expect(await stats()).toMatchObject({ counters: { item_scraped_count: 40 }, leased: 0 });
      await sound();
    });

    it('SCHEDULER_PERSIST false: it clears also when the killed node held nothing, just before the end', async () => {
      let release: (() => void) | undefined;
      await open({
        handler: ({ url = '' }, response) => {
          const answer = (html: string) => response.writeHead(200, { 'content-type': 'text/html' }).end(html);
          if (url === '/slow') release = () => answer('the last page');
          else answer('<a href="/slow">slow</a>');
          return true;
        },
      });
      const names = ['n1', 'n2', 'n3'];
      const nodes = names.map((id) =>
        crawl('-s', 'SCHEDULER_PERSIST=false', '-L', 'DEBUG', '--node-id', id, '-o', `${id}.jsonl`),
      );
      const idle = await waitFor(
        async () => {
          const { nodes: live, done } = await here.look((frontier) => frontier.snapshot(), 'walk');
          const isUnderWay = live.length === 3 && done === 1 && release !== undefined;
          return isUnderWay && live.find(({ leased }) => leased === 0)?.id;
        },
        { what: 'two idle nodes beside the one of the slow page' },
      );
      nodes[names.indexOf(idle)]!.kill('SIGKILL');
      release?.();
      const ends = await Promise.all(nodes.map((node) => node.wait()));
      expect(ends.map(({ signal, code }) => signal ?? code).sort()).toEqual([0, 0, 'SIGKILL']);
      expect(ends.filter(hasCleared)).toHaveLength(1);
      expect(await stats()).toMatchObject({ seen: 0, done: 0, counters: { item_scraped_count: 2 } });
      await sound();
    });
    return;
  }

  it('a second run of a finished job says what to do, whether it leaves when done or stays', async () => {
    await open({ pages: 6 });
    await crawlHere('--job', 'may');
    const again = await crawlHere('--job', 'may', '-s', 'START_TIMEOUT=100');
    expect(again.code).toBe(0);
    expect(again.stdout).toMatch(/^walk@may: finished, this node: 0 of 6 pages/);
    expect(again.stdout).toContain('all 6 requests known from earlier runs are done or failed');
    expect(again.stdout).toContain('"crawlnode reset walk --job may"');
    const staying = service('--job', 'may');
    await staying.waitForOutput(/all 6 requests known.*waits for seeds/);
    staying.kill();
    expect((await staying.wait()).code).toBe(0);
    const fresh = await crawlHere('--job', 'may', '-a', 'refresh=/$');
    expect(fresh.stdout).toMatch(/^walk@may: finished, this node: 1 of 7 pages/);
  });

  it('seed waits while the queue is full, pushes as nodes make room, and drops nothing', async () => {
    await open({ pages: 100, extraLinks: 0 });
    const limited = ['-s', 'SCHEDULER_QUEUE_LIMIT=20'];
    const seed = startCli(['seed', 'walk', '--stdin', ...limited], {
      cwd: here.project.dir,
      input: site.urls.join('\n'),
    });
    await seed.waitForOutput(
      /the queue is full \(20 requests wait, SCHEDULER_QUEUE_LIMIT is 20\).*no node is/,
    );
    expect((await stats()).pending).toBe(20);
    const node = startCli(['crawl', 'walk', ...limited], { cwd: here.project.dir });
    const { code, stdout } = await seed.wait();
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^walk: \d+ accepted, /) });
    await waitFor(() => site.compare().missing.length === 0, { what: 'all pages' });
    node.kill();
    await node.wait();
    await sound();
  });

  it('Ctrl-C on a seed that waits says what was taken', async () => {
    await open({ pages: 30 });
    const seed = startCli(['seed', 'walk', '--stdin', '-s', 'SCHEDULER_QUEUE_LIMIT=10'], {
      cwd: here.project.dir,
      input: site.urls.join('\n'),
    });
    await seed.waitForOutput('the queue is full');
    seed.kill('SIGINT');
    const { code, stdout, stderr } = await seed.wait();
    expect({ code, stdout }).toEqual({ code: 130, stdout: 'walk: 10 accepted, 0 duplicate, 0 bad\n' });
    expect(stderr).toContain('interrupted: ');
    expect((await stats()).pending).toBe(10);
  });

  it('under SCHEDULER_FLUSH_ON_START the file of -O holds the items of the latest run alone', async () => {
    await open({ pages: 5 });
    // The seeds go by the start_urls key, where nobody knows who put them there.
    const flush = ['-s', 'SCHEDULER_FLUSH_ON_START=true', '-s', 'ALLOW_PRIVATE_ADDRESSES=true'];
    for (const [round, workers] of ['1', '2', '1'].entries()) {
      const files = ['-O', 'latest.jsonl', '-O', 'latest.json'];
      const args = [...flush, ...files, '--workers', workers];
      const { code, stdout } = await (workers === '1' ? crawlHere(...args) : crawl(...args).wait());
      expect({ code, stdout, round }).toMatchObject({ code: 0, stdout: expect.stringContaining('5 items') });
      expect(await here.project.readJsonLines('latest.jsonl')).toHaveLength(5);
      expect(JSON.parse(await here.project.read('latest.json'))).toHaveLength(5);
    }
    // No start request: this run has no page, and so its file no item.
    const none = ['-s', 'START_TIMEOUT=0', '-O', 'latest.json'];
    const empty = await command('crawl', 'walk', '--exit-when-done', ...flush, ...none);
    expect(empty.code).toBe(0);
    expect(JSON.parse(await here.project.read('latest.json'))).toEqual([]);
    await sound();
  });

  it('rules and values that make no sense are refused before anything is begun', async () => {
    await open({ pages: 1 });
    await here.project.write('spiders/broken.ts', broken);
    for (const [args, said] of [
      [['broken'], 'refresh[0] of the spider \\"broken\\": allow: Invalid regular expression'],
      [
        ['walk', '--max-pages', '-1'],
        "'--max-pages <n>' argument '-1' is invalid. Expected a whole number, at least 1",
      ],
      [['walk', '--max-pages', 'ten'], 'Expected a whole number, at least 1'],
      [['walk', '-s', 'CLOSESPIDER_ITEMCOUNT=1.5'], 'a whole number'],
      [['walk', '-s', 'CLOSESPIDER_TIMEOUT=soon'], 'a number of at least 0'],
      [['walk', '-s', 'MAX_IDLE_TIME_BEFORE_CLOSE=-5'], 'of at least 0'],
      [['walk', '-s', 'SCHEDULER_QUEUE_LIMIT=lots'], 'of at least 0'],
      [['walk', '-s', 'SCHEDULER_FLUSH_ON_START=maybe'], 'true or false'],
      [['walk', '-s', 'USER_AGENT=mine\nX-More: yes'], 'USER_AGENT: headers.User-Agent has a line break'],
      [
        ['walk', '-s', 'DEFAULT_REQUEST_HEADERS={"a b":"c"}'],
        'DEFAULT_REQUEST_HEADERS: headers has \\"a b\\"',
      ],
    ] as const) {
      expect(await command('crawl', ...args)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining(said),
      });
    }
    expect(here.project.exists(path.join('.crawlnode', 'frontier.db'))).toBe(false);
  });
});
