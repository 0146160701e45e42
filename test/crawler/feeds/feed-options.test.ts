/** Options of FEEDS, and items on standard output. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runHere } from '../../helpers/cli/run-here.js';
import { runCli } from '../../helpers/cli.js';
import { projectOn } from '../../helpers/engine-project.js';
import { type Site, startSite } from '../../helpers/sites/site.js';

const spider = `
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = 'news';
  startUrls = [this.args.start];
  *parse() { for (let n = 0; n < 8; n++) yield { n }; }
}
`;

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => ({ n: n + from }));

describe('feeds', () => {
  const here = projectOn('embedded', {
    settings: {
      FEEDS: { 'out/%(name)s-%(batch_id)03d.json': { batch_item_count: 3, item_filter: './filters/odd.ts' } },
    },
    files: {
      'spiders/news.ts': spider,
      'filters/odd.ts': `export default class { accepts(item: { n: number }) { return item.n !== 1; } }\n`,
      'filters/wrong.ts': `export default () => 'yes';\n`,
    },
  });
  const command = (site: Site, ...more: string[]) => [
    ...['crawl', 'news', '-a', `start=${site.origin}/`, '--exit-when-done', ...more],
  ];
  const crawl = (site: Site, ...more: string[]) => runHere(command(site, ...more), { cwd: here.project.dir });
  /** In a process of its own, whose standard output takes items. */
  const crawlAlone = (site: Site, ...more: string[]) =>
    runCli(command(site, ...more), { cwd: here.project.dir });

  it('batch_item_count and item_filter', async () => {
    const site = await startSite({ pages: 1 });
    expect(await crawl(site)).toMatchObject({ code: 0 });
    const batches = [1, 2, 3].map((batch) =>
      readFileSync(here.project.path(`out/news-00${batch}.json`), 'utf8'),
    );
    expect(batches.map((text) => JSON.parse(text))).toEqual([
      [{ n: 0 }, { n: 2 }, { n: 3 }],
      range(4, 7),
      range(7, 8),
    ]);
    expect(here.project.exists('out/news-004.json')).toBe(false);
  });

  it('a filter that gives no answer holds the items back and is named', async () => {
    const site = await startSite({ pages: 1 });
    const FEEDS = `FEEDS=${JSON.stringify({ 'a.jsonl': { item_filter: './filters/wrong.ts' } })}`;
    const { code, stderr } = await crawl(site, '-s', FEEDS, '-s', 'WAIT_TIMEOUT=1');
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /filters\/wrong.ts failed.*; waited 1 s for it \(WAIT_TIMEOUT\); the items committed so far wait in the frontier/,
      ),
    });
    expect(await here.look(async (frontier) => (await frontier.snapshot()).outbox)).toMatchObject([
      { waiting: 8 },
    ]);
  });

  it('standard output gets the items and nothing else, in each format', async () => {
    const site = await startSite({ pages: 1 });
    const lines = await crawlAlone(site, '-o', '-', '--job', 'a');
    expect(lines).toMatchObject({ code: 0, stderr: expect.stringContaining('finished') });
    expect(lines.stdout).toBe(
      range(0, 8)
        .map((item) => `${JSON.stringify(item)}\n`)
        .join(''),
    );
    expect(JSON.parse((await crawlAlone(site, '-o', '-:json', '--job', 'b')).stdout)).toEqual(range(0, 8));
    const ofSettings = await crawlAlone(
      site,
      '--job',
      'c',
      '-s',
      `FEEDS=${JSON.stringify({ 'stdout:': { format: 'csv' } })}`,
    );
    expect(ofSettings.stdout).toBe(['n', ...range(0, 8).map(({ n }) => n), ''].join('\r\n'));
  });

  it('a crawl whose output nobody reads any more ends, and its items wait', async () => {
    const site = await startSite({ pages: 1, delayMs: 300 });
    const bin = new URL('../../../bin/crawlnode.js', import.meta.url).pathname;
    const args = [bin, 'crawl', 'news', '-a', `start=${site.origin}/`, '-o', '-', '-s', 'SHUTDOWN_TIMEOUT=0'];
    const env = { ...process.env, ROBOTSTXT_OBEY: 'false' };
    const child = spawn(process.execPath, args, {
      cwd: here.project.dir,
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    child.stdout.destroy();
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(code).toBe(1);
    const again = await crawlAlone(site, '-o', '-');
    expect(again.stdout).toBe(
      range(0, 8)
        .map((item) => `${JSON.stringify(item)}\n`)
        .join(''),
    );
  });
});
