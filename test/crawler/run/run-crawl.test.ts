/** A program crawls, seeds and reads the numbers without the command line: no terminal, no signals, no environment. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { feedTargets } from '../../../src/crawler/feeds/feed-targets.js';
import {
  configureSpider,
  type LoadedSpider,
  loadProject,
  type ProjectSource,
} from '../../../src/crawler/project/load-spider.js';
import { openOptions, withFrontier } from '../../../src/crawler/project/open-frontier.js';
import { type CrawlPlan, runCrawl } from '../../../src/crawler/run/run-crawl.js';
import { nodeIdOf } from '../../../src/crawler/run/run-node.js';
import { openSeeding } from '../../../src/crawler/seeds/open-seeding.js';
import type { SeedText } from '../../../src/crawler/seeds/seed-text.js';
import { statsOf } from '../../../src/crawler/stats/crawl-stats.js';
import type { Frontier } from '../../../src/frontier/frontier.js';
import type { Response } from '../../../src/http/message/response.js';
import { silentLogger } from '../../../src/log.js';
import { noRecords } from '../../../src/pipelines/feeds/feed-records.js';
import { Spider } from '../../../src/spider/spider.js';
import { startSite } from '../../helpers/sites/site.js';
import { tempDir } from '../../helpers/temp-dir.js';

class Pages extends Spider {
  override name = 'pages';
  override customSettings = { CONCURRENT_REQUESTS_PER_DOMAIN: 16 };

  override *parse(response: Response) {
    yield { url: response.url };
    yield* response.followAll('a', this.parse);
  }
}

it('seeds a crawl, runs it to its end and writes its items, each once', async () => {
  const { spider, dir } = await loadPages();
  const { settings } = spider.loaded;
  const site = await startSite({ pages: 20 });
  await withFrontier(openOptions(settings, 'pages'), async (frontier) => {
    const counts = await seed(spider, frontier, [site.url, 'not a URL', site.url]);
    expect(counts).toEqual({ accepted: 1, duplicates: 1, bad: 1 });

    const targets = feedTargets(dir, ['pages.jsonl'], [], settings);
    const { result, unwritten } = await runCrawl({ ...planOf(spider, frontier), targets });
    expect(unwritten).toBeNull();
    expect(result).toMatchObject({ reason: 'finished', pages: 20, items: 20, failed: 0, exitCode: 0 });
    expect(site.compare()).toEqual({ missing: [], twice: [] });
    expect(linesOf(path.join(dir, 'pages.jsonl')).sort()).toEqual(
      site.urls.map((url) => JSON.stringify({ url })).sort(),
    );

    const stats = statsOf({ spider: 'pages', job: settings.JOB, frontier }, await frontier.snapshot());
    expect(stats).toMatchObject({ engine: 'embedded', done: 20, pending: 0, failed: 0 });
  });
});

it('drains when its signal is aborted: what is pending stays for the next crawl', async () => {
  const { spider } = await loadPages();
  const site = await startSite({ pages: 40, delayMs: 50 });
  await withFrontier(openOptions(spider.loaded.settings, 'pages'), async (frontier) => {
    await seed(spider, frontier, [site.url]);
    const drain = new AbortController();
    const timer = setInterval(() => site.log.length >= 5 && drain.abort(), 5);
    const { result } = await runCrawl({ ...planOf(spider, frontier), drain: drain.signal });
    clearInterval(timer);
    expect(result).toMatchObject({ reason: 'shutdown', exitCode: 0 });
    expect((await frontier.snapshot()).pending).toBeGreaterThan(0);

    const { result: next } = await runCrawl(planOf(spider, frontier));
    expect(next.reason).toBe('finished');
    expect(site.compare()).toEqual({ missing: [], twice: [] });
  });
});

/** A spider given by its class alone, in a folder without settings or spiders. */
async function loadPages(): Promise<{ spider: LoadedSpider; dir: string }> {
  const { dir } = tempDir('program');
  const source: ProjectSource = { cwd: dir, env: {}, cli: { ALLOW_PRIVATE_ADDRESSES: 'true' } };
  const found = { name: 'pages', file: import.meta.filename, SpiderClass: Pages };
  return { spider: await configureSpider(source, found, {}, (await loadProject(source)).settings), dir };
}

async function seed(spider: LoadedSpider, frontier: Frontier, texts: readonly string[]) {
  const { settings } = spider.loaded;
  const plan = { frontier, spider: await spider.create(), settings, toStartUrls: false };
  const counts = { accepted: 0, duplicates: 0, bad: 0 };
  const seeding = await openSeeding(plan);
  await seeding.take(seedTexts(texts), counts, {
    onBad: () => {},
    onWait: () => {},
    stop: new AbortController().signal,
  });
  return counts;
}

async function* seedTexts(texts: readonly string[]): AsyncGenerator<SeedText> {
  for (const [at, text] of texts.entries()) yield { text, where: `seed ${at}` };
}

function planOf(spider: LoadedSpider, frontier: Frontier): CrawlPlan {
  return {
    ...{ spider, frontier, open: openOptions(spider.loaded.settings, 'pages'), targets: [] },
    records: noRecords,
    ...{ nodeId: nodeIdOf(null), crawlArguments: 'pages', exitWhenDone: true, speaksJson: false },
    ...{ writer: null, siblings: null, log: silentLogger, onTrouble: () => {} },
    drain: new AbortController().signal,
    force: new AbortController().signal,
    graceLeftMs: (graceMs) => graceMs,
  };
}

function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}
