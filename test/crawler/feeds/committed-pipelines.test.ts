/** `committed` of an item pipeline: committed items of the whole crawl, at least once, in order, whatever ends. */
import { rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isPipelineOutbox } from '../../../src/feed-outbox.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { startCli } from '../../helpers/cli.js';
import { onEachEngine, projectOn } from '../../helpers/engine-project.js';
import { startSite } from '../../helpers/sites/site.js';
import { waitFor } from '../../helpers/wait-for.js';

/** It notes every batch in calls.jsonl of its project, takes it apart, and throws while there is a file `broken`. */
const notingPipeline = `
import { appendFileSync, existsSync } from 'node:fs';
export default class {
  batchItems = 4;
  batchSeconds = 0.2;
  processItem({ item }) { return { ...item, first: true }; }
  async committed(batch) {
    if (existsSync(new URL('../broken', import.meta.url))) throw new Error('the database is away');
    appendFileSync(new URL('../calls.jsonl', import.meta.url), JSON.stringify({ pid: process.pid, batch }) + '\\n');
    batch.splice(0);
  }
}
`;
const later = `export default ({ item }) => ({ ...item, later: true });\n`;

const spider = `
import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = 'news';
  *parse(response: Response) {
    const page = Number(new URL(response.url).searchParams.get('n') ?? 0);
    yield { page, part: 'a' };
    yield { page, part: 'b' };
    if (page < Number(this.args.pages ?? 5)) yield response.follow('/?n=' + (page + 1));
  }
}
`;

interface Call {
  readonly pid: number;
  readonly batch: readonly { readonly id: string; readonly item: Record<string, unknown> }[];
}

onEachEngine('on the %s engine', (engine) => {
  const here = projectOn(engine, {
    settings: {
      ROBOTSTXT_OBEY: false,
      SHUTDOWN_TIMEOUT: 1,
      WAIT_TIMEOUT: 1,
      NODE_TIMEOUT: 3,
      HEARTBEAT_INTERVAL: 1,
      ITEM_PIPELINES: { './pipelines/noting.ts': 100, './pipelines/later.ts': 200 },
    },
    files: {
      'spiders/news.ts': spider,
      'pipelines/noting.ts': notingPipeline,
      'pipelines/later.ts': later,
    },
  });
  const run = (...args: string[]) => runHere(args, { cwd: here.project.dir });
  const crawl = (...args: string[]) => run('crawl', 'news', '--exit-when-done', ...args);
  const calls = () => here.project.readJsonLines<Call>('calls.jsonl');
  const breakIt = () => writeFileSync(here.project.path('broken'), '');
  const waiting = () =>
    here.look(async (frontier) => {
      const { outbox } = await frontier.snapshot();
      return outbox.filter(({ feed }) => isPipelineOutbox(feed)).map((each) => each.waiting);
    });

  async function seeded(): Promise<Awaited<ReturnType<typeof startSite>>> {
    const site = await startSite({
      handler: (_, response) => {
        response.setHeader('content-type', 'text/html').end('<p>a page</p>');
        return true;
      },
    });
    expect(await run('seed', 'news', `${site.origin}/?n=0`)).toMatchObject({ code: 0 });
    return site;
  }

  it('gets every item once, in the order of the commits, as it is after all pipelines, before the crawl is finished', async () => {
    const site = await seeded();
    const { code, stderr } = await crawl('-o', 'out.jsonl');
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const batches = (await calls()).map(({ batch }) => batch);
    expect(Math.max(...batches.map((batch) => batch.length))).toBeLessThanOrEqual(4);
    const items = batches.flat();
    expect(items.map(({ item }) => item)).toEqual(await here.project.readJsonLines('out.jsonl'));
    expect(items[0]!.item).toEqual({ page: 0, part: 'a', first: true, later: true });
    expect(items.map(({ item }) => `${item.page}${item.part}`)).toEqual(
      [0, 1, 2, 3, 4, 5].flatMap((page) => [`${page}a`, `${page}b`]),
    );
    expect(new Set(items.map(({ id }) => id)).size).toBe(12);
    expect(items[1]!.id).toBe(items[0]!.id.replace(/-1$/, '-2'));
    expect(await waiting()).toEqual([0]);
    await site.close();
  });

  it('is called again after an error, and the log says so once', async () => {
    const site = await seeded();
    breakIt();
    const running = startCli(['crawl', 'news', '-s', 'SHUTDOWN_TIMEOUT=60', '--exit-when-done'], {
      cwd: here.project.dir,
    });
    await running.waitForOutput('the database is away');
    expect(await calls()).toEqual([]);
    rmSync(here.project.path('broken'));
    const { code, stderr } = await running.wait();
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr.match(/the database is away/g)).toHaveLength(1);
    expect(stderr).toContain('accepts committed items again');
    expect((await calls()).flatMap(({ batch }) => batch)).toHaveLength(12);
    await site.close();
  });

  it('holds items back that it does not accept: the node ends with 1, they wait, and the next run passes them on', async () => {
    const site = await seeded();
    breakIt();
    // It has waited for WAIT_TIMEOUT, and does not wait once more.
    const ended = await crawl('-s', 'SHUTDOWN_TIMEOUT=3600');
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('the database is away') });
    expect(await waiting()).toEqual([12]);
    const { stdout: stats } = await run('stats', 'news', '--json');
    expect(JSON.parse(stats)).toMatchObject({
      feeds: [],
      pipelines: [{ pipeline: './pipelines/noting.ts', waiting: 12, callerPid: null }],
    });
    expect((await run('stats', 'news')).stdout).toMatch(/noting\.ts.*12 to be accepted/);
    const doctor = await run('doctor', 'news');
    expect(doctor.stdout).toMatch(/problem.*12 committed items wait for the item pipeline .*noting\.ts/);
    const reset = await run('reset', 'news', '--yes');
    expect(reset).toMatchObject({ code: 0, stdout: expect.stringMatching(/12 committed items wait.*kept/) });
    rmSync(here.project.path('broken'));
    const { code } = await crawl('-s', 'START_TIMEOUT=1');
    expect(code).toBe(0);
    expect((await calls()).flatMap(({ batch }) => batch)).toHaveLength(12);
    await site.close();
  });

  it('pauses the crawl while more items wait than may', async () => {
    const site = await seeded();
    breakIt();
    const ended = await crawl('-a', 'pages=1000', '-s', 'FEED_OUTBOX_LIMIT=10');
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/away \(.+:\d+:\d+\) \(\d+ items wait\)/),
    });
    const [held] = await waiting();
    expect(held).toBeGreaterThan(10);
    expect(held).toBeLessThan(1000);
    const { pending } = await here.look((frontier) => frontier.snapshot());
    expect(pending).toBe(1);
    await site.close();
  });

  it('that is no longer named is missed: the next run says how many items wait for it', async () => {
    const site = await seeded();
    breakIt();
    expect(await crawl()).toMatchObject({ code: 1 });
    const [held] = await waiting();
    const others = ['-s', 'ITEM_PIPELINES={"./pipelines/later.ts":200}'];
    const { code, stderr } = await crawl(...others, '-s', 'START_TIMEOUT=1');
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(
        `${held} committed items still wait for the pipeline ./pipelines/noting.ts`,
      ),
    });
    await site.close();
  });

  it('is called on one node at a time, and on another one when that node is killed', async () => {
    const site = await seeded();
    const args = ['crawl', 'news', '-a', 'pages=100000', '-s', 'DOWNLOAD_DELAY=0.02'];
    const nodes = [0, 1].map(() => startCli(args, { cwd: here.project.dir }));
    const callers = async () => new Set((await calls()).map(({ pid }) => pid));
    await waitFor(async () => (await callers()).size > 0, { what: 'a node to call it' });
    const [first] = await callers();
    nodes.find(({ pid }) => pid === first)!.kill('SIGKILL');
    await waitFor(async () => (await callers()).size > 1, { what: 'the other node to call it' });
    const other = nodes.find(({ pid }) => pid !== first)!;
    other.kill('SIGTERM');
    expect((await other.wait()).code).toBe(0);
    const items = (await calls()).flatMap(({ batch }) => batch);
    const { counters } = await here.look((frontier) => frontier.snapshot());
    expect(new Set(items.map(({ id }) => id)).size).toBe(counters.item_scraped_count);
    await nodes.find(({ pid }) => pid === first)!.wait();
    await site.close();
  });
});
