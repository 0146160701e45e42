/** `crawlnode crawl` through the real executable, on both engines. */
import { execFile } from 'node:child_process';
import { existsSync, linkSync, symlinkSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runHere } from '../../helpers/cli/run-here.js';
import { executable, runCli, startCli } from '../../helpers/cli.js';
import { onEachEngine, projectOn } from '../../helpers/engine-project.js';
import { descendants } from '../../helpers/leftovers.js';
import { type Site, startSite } from '../../helpers/sites/site.js';
import { waitFor } from '../../helpers/wait-for.js';

const PAGES = 60;
const docs = `
import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = 'docs';
  startUrls = [this.args.start].filter(Boolean);
  *parse(response: Response) {
    yield { url: response.url, title: response.css('title::text').get() };
    yield* response.followAll(response.links(), this.parse);
  }
}
`;
/** One page throws, one breaks the schema, one is no HTML; the others are fine. */
const moody = `
import { Spider, type Response } from 'crawlnode';
import { z } from 'zod';
export default class extends Spider {
  name = 'moody';
  startUrls = [1, 2, 3, 4, 5].map((n) => this.args.origin + '/page/' + n + '.html').concat(this.args.origin + '/binary');
  item = z.object({ title: z.string() });
  parse(response: Response) {
    if (response.url.endsWith('/1.html')) throw new Error('the page has changed');
    if (response.url.endsWith('/2.html')) return { title: 7 };
    return { title: response.css('title::text').get() ?? 'none' };
  }
}
`;

onEachEngine('crawl on the %s engine', (engine) => {
  const here = projectOn(engine, {
    settings: { NODE_TIMEOUT: 4, HEARTBEAT_INTERVAL: 1, RETRY_BACKOFF: 0.1, START_TIMEOUT: 1 },
    files: { 'spiders/docs.ts': docs, 'spiders/moody.ts': moody },
  });
  let site: Site;
  beforeEach(async () => {
    site = await startSite({
      pages: PAGES,
      handler: ({ url }, response) => {
        if (url !== '/binary') return false;
        response
          .writeHead(200, { 'content-type': 'image/png' })
          .end(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255]));
        return true;
      },
    });
  });
  afterEach(() => site.close());

  const run = (...args: string[]) => runCli(args, { cwd: here.project.dir });
  /** A command line that needs no process of its own. */
  const command = (...args: string[]) => runHere(args, { cwd: here.project.dir });
  const stats = async (spider: string) => JSON.parse((await command('stats', spider, '--json')).stdout);
  const crawl = (...args: string[]) => [
    'crawl',
    'docs',
    '-a',
    `start=${site.url}`,
    '--exit-when-done',
    ...args,
  ];
  const urls = async (file = 'items.jsonl') =>
    (await here.project.readJsonLines<{ url: string }>(file)).map(({ url }) => url).sort();
  const allUrls = () => [...site.urls].sort();
  const logLines = (stderr: string) =>
    stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('fetches every page once, writes the files, logs JSON lines, and sums up', async () => {
    const { code, stdout, stderr } = await run(
      ...crawl('-o', 'items.jsonl', '-O', 'items.csv', '-o', 'items.json', '--job', 'j1'),
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(
        `^docs@j1: finished, ${PAGES} pages, ${PAGES} items, 0 failed, [\\d.]+ s\\n(items: .*\\n){3}$`,
      ),
    );
    expect(site.compare()).toEqual({ missing: [], twice: [] });
    expect(await urls()).toEqual(allUrls());
    expect((await here.project.read('items.csv')).trim().split('\r\n')).toHaveLength(PAGES + 1);
    expect(JSON.parse(await here.project.read('items.json'))).toHaveLength(PAGES);
    for (const line of logLines(stderr)) {
      expect(line).toMatchObject({
        spider: 'docs',
        job: 'j1',
        node: expect.any(String),
        msg: expect.any(String),
      });
    }
  });

  it('a crawl that is done says so the next time, and what to do', async () => {
    await command(...crawl());
    const { code, stdout } = await command(...crawl('--json'));
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ spider: 'docs', job: null, reason: 'finished', pages: 0, items: 0, failed: 0, nodes: 1 },
      message: expect.stringContaining('crawlnode reset docs'),
    });
    expect(site.fetched().size).toBe(PAGES);
  });

  it('--workers: several processes, one file, one summary', async () => {
    const { code, stdout, stderr } = await run(
      ...crawl('--workers', '2', '--node-id', 'n', '-O', 'items.jsonl'),
    );
    expect({ code, stderr: stderr.match(/died/) }).toEqual({ code: 0, stderr: null });
    expect(stdout).toMatch(
      new RegExp(`^docs: finished, ${PAGES} pages, ${PAGES} items, 0 failed, [\\d.]+ s on 2 nodes\\n`),
    );
    expect(await urls()).toEqual(allUrls());
    expect(site.compare()).toEqual({ missing: [], twice: [] });
    expect(new Set(logLines(stderr).map(({ node }) => node))).toEqual(new Set(['n', 'n-1', 'n-2']));
  });

  it('--workers: a node that is killed is reported and replaced, and nothing is missing or twice', async () => {
    const parent = startCli(
      crawl(
        '--workers',
        '2',
        '-O',
        'items.jsonl',
        '-s',
        'CONCURRENT_REQUESTS_PER_DOMAIN=2',
        '-s',
        'DOWNLOAD_DELAY=0.02',
      ),
      {
        cwd: here.project.dir,
      },
    );
    const child = await waitFor(
      () =>
        site.log.length > 5 ? descendants(parent.pid).find(({ parent: of }) => of === parent.pid) : null,
      { what: 'some pages and a worker' },
    );
    process.kill(child.pid, 'SIGKILL');
    const { code, stdout, stderr } = await parent.wait();
    expect(stderr).toMatch(/worker \d died \(SIGKILL\) and is replaced/);
    expect({ code, pages: stdout.match(/ (\d+) pages/)?.[1] }).toEqual({ code: 0, pages: String(PAGES) });
    expect(await urls()).toEqual(allUrls());
  });

  it('a callback that throws, an item that breaks its schema: the page fails, the crawl goes on; no HTML is no failure', async () => {
    const { code, stdout, stderr } = await command(
      'crawl',
      'moody',
      '-a',
      `origin=${site.origin}`,
      '--exit-when-done',
      '-o',
      'items.jsonl',
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^moody: finished, 6 pages, 4 items, 2 failed, .*\nfailed requests of the run: .*\. They are kept /,
    );
    expect(stderr).toContain('the page has changed');
    expect(stderr).toMatch(/schema.*title/);
    expect((await here.project.readJsonLines('items.jsonl')).map(({ title }) => title).sort()).toEqual([
      'Page 3',
      'Page 4',
      'Page 5',
      'none',
    ]);
  });

  it('a crawl that is cleared at its end does not say that its failed requests are kept', async () => {
    const cleared = ['--job', 'cleared', '-s', 'SCHEDULER_PERSIST=false'];
    const { stdout } = await command(
      'crawl',
      'moody',
      '-a',
      `origin=${site.origin}`,
      '--exit-when-done',
      ...cleared,
    );
    expect(stdout).toMatch(/^moody.*: finished, 6 pages, 4 items, 2 failed/);
    expect(stdout).toContain('They are cleared with the finished crawl; SCHEDULER_PERSIST: true');
    expect(stdout).not.toContain('are kept with the crawl');
  });

  it('--min-items and --max-failed judge the run of all nodes: exit 1, with both numbers', async () => {
    const moods = ['crawl', 'moody', '-a', `origin=${site.origin}`, '--exit-when-done'];
    await here.project.write('good.jsonl', '{"title":"of last night"}\n');
    const few = await command(...moods, '-O', 'good.jsonl', '--min-items', '5', '--job', 'few');
    expect(few).toMatchObject({ code: 1, stdout: expect.stringContaining('moody@few: finished, ') });
    expect(JSON.parse(few.stderr.trim().split('\n').at(-1) ?? '')).toMatchObject({
      ...{ level: 'fatal', code: 'too_few_items', exitCode: 1 },
      msg: expect.stringMatching(
        /^the run gave 4 items over all its nodes, fewer than --min-items 5; -O began .*good\.jsonl anew/,
      ),
    });

    const many = await run(...moods, '--workers', '2', '--max-failed', '1', '--min-items', '4', '--json');
    expect(many.code).toBe(1);
    expect(many.stderr).toMatch(/2 requests failed in the run over all its nodes, more than --max-failed 1/);
    expect(JSON.parse(many.stdout)).toMatchObject({
      gate: expect.stringContaining('--max-failed 1'),
      run: { items: 4, failed: 2, isOver: true },
      ...{ pages: 6, items: 4, failed: 2 },
    });

    const enough = await command(...moods, '--min-items', '4', '--max-failed', '2', '--job', 'enough');
    expect(enough.code).toBe(0);
    // Nothing is left for a second run of the same job: its own totals count, not those of the job.
    const again = await command(...moods, '--min-items', '1', '--job', 'enough');
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('the run gave 0 items') });
    expect(again.stdout).toContain('this node: 0 of 6 pages, 0 of 4 items, 0 of 2 failed');
    expect(await command(...moods, '--min-items', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--min-items'),
    });
  });

  it('SIGTERM drains, here and with workers: exit 0, nothing leased, and the next run goes on', async () => {
    for (const workers of ['1', '2']) {
      const slow = ['--workers', workers, '-o', 'items.jsonl', '-s', 'DOWNLOAD_DELAY=0.1'];
      const started = site.log.length;
      const node = startCli(crawl(...slow), { cwd: here.project.dir });
      await waitFor(() => site.log.length > started + 2, { what: 'some pages' });
      node.kill('SIGTERM');
      const { code, stdout } = await node.wait();
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('docs: shutdown, ') });
      expect(await stats('docs')).toMatchObject({ leased: 0, nodes: [] });
    }
    const { stderr } = await command(...crawl('-o', 'items.jsonl'));
    expect(stderr).toMatch(/crawling docs: [\d,]+ requests? (is|are) /);
    expect(await urls()).toEqual(allUrls());
    expect(site.compare()).toEqual({ missing: [], twice: [] });
  });

  it('another shape than the crawl has is exit 3, naming both', async () => {
    await command(...crawl('--max-pages', '2'));
    const { code, stderr } = await command(...crawl('-s', 'SCHEDULER_QUEUE_CLASS=LifoQueue'));
    expect(code).toBe(3);
    expect(stderr).toMatch(/PriorityQueue/);
    expect(stderr).toMatch(/LifoQueue/);
  });

  // What follows does not depend on the store, or the contract suite has it for both.
  if (engine !== 'embedded') return;

  it('a node that leaves while another goes on says that it could not check its gates', async () => {
    await site.close();
    site = await startSite({ pages: PAGES });
    const slow = ['-s', 'DOWNLOAD_DELAY=0.2', '--min-items', '1000'];
    const other = startCli(crawl('-s', 'DOWNLOAD_DELAY=0.2'), { cwd: here.project.dir });
    const node = startCli(crawl(...slow), { cwd: here.project.dir });
    await waitFor(() => site.log.length > 5, { what: 'some pages' });
    for (const each of [other, node]) await each.waitForOutput(/(joining|crawling) /);
    node.kill('SIGTERM');
    const { code, stderr } = await node.wait();
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('the run goes on on other nodes, so --min-items was not checked here'),
    });
    other.kill('SIGTERM');
    expect(await other.wait()).toMatchObject({ code: 0 });
  });

  it('--logfile takes the log, a path as the user typed it; -L warning leaves out the rest', async () => {
    await here.project.write('sub/crawlnode.yaml', await here.project.read('crawlnode.yaml'));
    const quiet = [
      '-c',
      'sub/crawlnode.yaml',
      '-s',
      'SPIDER_MODULES=../spiders',
      '--logfile',
      'crawl.log',
      '-L',
      'WARNING',
    ];
    const { code, stderr } = await command(
      ...crawl('--max-pages', '1', ...quiet, '-s', 'SCHEDULER_IDLE_BEFORE_CLOSE=10'),
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = await here.project.readJsonLines<{ level: string; msg: string }>('crawl.log');
    expect(lines.map(({ level }) => level)).toEqual(['warn']);
    expect(lines[0]!.msg).toContain('SCHEDULER_IDLE_BEFORE_CLOSE has no effect');
  });

  it('what a crawl ends with stands in its --logfile too', async () => {
    expect((await run(...crawl('--max-pages', '2', '--workers', '2', '--logfile', 'well.log'))).code).toBe(0);
    expect((await here.project.readJsonLines('well.log')).at(-1)).toMatchObject({
      ...{ level: 'info', reason: 'closespider_pagecount', pages: 2, nodes: 2 },
      msg: 'ended: closespider_pagecount, 2 pages, 2 items, 0 failed',
    });

    const { code, stderr } = await command(...crawl('--logfile', 'crawl.log', '-o', '/dev/null/out.jsonl'));
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^{"level":"fatal".*out\.jsonl/),
    });
    const lines = await here.project.readJsonLines<{ level: string }>('crawl.log');
    expect(lines.at(-1)).toMatchObject({
      level: 'fatal',
      exitCode: 1,
      msg: expect.stringContaining('out.jsonl'),
    });
  });

  it.runIf(existsSync('/dev/full'))('a full disk behind the log or stdout ends no crawl', async () => {
    const args = crawl('--logfile', '/dev/full', '-o', 'items.jsonl').map((arg) => JSON.stringify(arg));
    const script = `"${process.execPath}" "${executable}" ${args.join(' ')} >/dev/full`;
    const { stderr } = await promisify(execFile)('bash', ['-c', script], { cwd: here.project.dir });
    expect(JSON.parse(stderr).msg).toMatch(/^crawlnode: LOG_FILE: cannot write \/dev\/full: ENOSPC/);
    expect(await urls()).toEqual(allUrls());
  });

  it('--workers: what no other node could mend is said and not tried again', async () => {
    const body = "opened() { throw new Error('no such database'); }";
    await here.project.write(
      'spiders/lost.ts',
      docs.replace('docs', 'lost').replace('*parse', `${body} *parse`),
    );
    const { code, stderr } = await run('crawl', 'lost', '--workers', '2');
    expect(code).toBe(1);
    expect(stderr.match(/no such database/g)?.length).toBeGreaterThanOrEqual(2);
    expect(stderr).not.toContain('replaced');
  });

  it('--workers: nodes are started with bounds on their memory, unless told otherwise', async () => {
    const bounds =
      "this.log.warn('bounds: ' + process.env.MALLOC_ARENA_MAX + process.execArgv + process.env.NODE_OPTIONS);";
    await here.project.write(
      'spiders/bounds.ts',
      docs.replace('docs', 'bounds').replace('*parse', `opened() { ${bounds} } *parse`),
    );
    const args = ['crawl', 'bounds', '--workers', '2', '--exit-when-done'];
    const { stderr } = await run(...args);
    expect(stderr.match(/bounds: 1--max-semi-space-size=16undefined/g)).toHaveLength(2);
    const env = { MALLOC_ARENA_MAX: '4', NODE_OPTIONS: '--max-semi-space-size=9' };
    const told = await runCli(args, { cwd: here.project.dir, env });
    expect(told.stderr.match(/bounds: 4--max-semi-space-size=9/g)).toHaveLength(2);
  });

  it('a second signal exits at once, with its code, and gives back what was in progress', async () => {
    await site.close();
    site = await startSite({ pages: PAGES, delayMs: (path) => (path === '/' ? 0 : 600_000) });
    const node = startCli(crawl('--workers', '2'), { cwd: here.project.dir });
    await node.waitForOutput('pushed the start requests');
    const leased = async () => (await stats('docs')).leased;
    await waitFor(async () => (await leased()) > 0, { what: 'pages in progress' });
    node.kill('SIGINT');
    await node.waitForOutput('again exits at once');
    node.kill('SIGINT');
    expect(await node.wait()).toMatchObject({ code: 130 });
    expect(await leased()).toBe(0);
  });

  it('Ctrl-C reaches parent and workers at once, and still drains', async () => {
    const node = startCli(crawl('--workers', '2', '-s', 'DOWNLOAD_DELAY=0.1'), { cwd: here.project.dir });
    await waitFor(() => site.log.length > 2, { what: 'some pages' });
    node.killGroup('SIGINT');
    expect(await node.wait()).toMatchObject({ code: 0, stdout: expect.stringContaining('docs: shutdown, ') });
  });

  it('when the parent is killed, its workers drain and leave', async () => {
    const node = startCli(crawl('--workers', '2', '-s', 'DOWNLOAD_DELAY=0.1'), { cwd: here.project.dir });
    await waitFor(() => site.log.length > 2, { what: 'some pages' });
    const workers = descendants(node.pid).map(({ pid }) => pid);
    node.kill('SIGKILL');
    await waitFor(() => workers.every((pid) => !isAlive(pid)), { what: 'the workers to end' });
    expect(await stats('docs')).toMatchObject({ leased: 0, nodes: [] });
    await node.wait();
  });

  it('a file that cannot be written is exit 1, one without a format exit 2, one with another writer exit 3', async () => {
    writeFileSync(here.project.path('file'), '');
    const unwritable = await command(...crawl('-o', 'file/items.jsonl'));
    expect(unwritable).toMatchObject({ code: 1, stderr: expect.stringContaining('file/items.jsonl') });
    expect(unwritable.stderr).not.toMatch(/^\s+at /m);
    expect(await command(...crawl('-o', 'items.txt'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('.jsonl'),
    });
    expect(await command(...crawl('-o', 'a.jsonl', '-O', './a.jsonl'))).toMatchObject({ code: 2 });
    symlinkSync('items.jsonl', here.project.path('link.jsonl'));
    expect(await command(...crawl('-o', 'items.jsonl', '-o', 'link.jsonl'))).toMatchObject({ code: 2 });
    expect(site.log).toEqual([]);

    const first = startCli(['crawl', 'docs', '-o', 'items.jsonl'], { cwd: here.project.dir });
    await first.waitForOutput('crawling docs');
    for (const name of ['items.jsonl', 'link.jsonl']) {
      expect(await command('crawl', 'docs', '-o', name)).toMatchObject({
        code: 3,
        stderr: expect.stringContaining(`process ${first.pid}`),
      });
    }
    // Another crawl has its own outbox, and meets the first only at the file.
    linkSync(here.project.path('items.jsonl'), here.project.path('hard.jsonl'));
    expect(await command('crawl', 'docs', '--job', 'other', '-O', 'hard.jsonl')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`process ${first.pid}`),
    });
    first.kill();
    expect(await first.wait()).toMatchObject({ code: 0 });
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
