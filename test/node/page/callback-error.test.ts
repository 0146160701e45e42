/** CALLBACK_ERROR: what an error of spider code or of a pipeline costs. */
import { describe, expect, it } from 'vitest';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import type { Response } from '../../../src/http/message/response.js';
import { Spider } from '../../../src/spider/spider.js';
import { crawlLines, createProject } from '../../helpers/cli/crawled-project.js';
import { crawl, freshStore } from '../../helpers/node.js';
import { startSite } from '../../helpers/sites/site.js';

async function brokenSite() {
  const site = await startSite({ pages: 3, extraLinks: 0 });
  class Broken extends Spider {
    override name = 'broken';
    override startUrls = [site.url];
    override *parse(response: Response) {
      yield { url: response.url };
      yield* response.followAll('ul a', this.parse);
      if (response.url === site.url) throw new TypeError('no price here');
      yield { second: response.url };
    }
  }
  return { site, Broken };
}

describe('an error of a callback', () => {
  it('commits nothing of its page unless told to keep it', async () => {
    const { site, Broken } = await brokenSite();
    const result = await crawl(await freshStore(), Broken);
    expect(result).toMatchObject({ pages: 1, failed: 1, items: 0 });
    expect(site.fetched().size).toBe(1);
  });

  it('keeps what was yielded before it, and marks the page as kept in the failed list', async () => {
    const { site, Broken } = await brokenSite();
    const store = await freshStore();
    const result = await crawl(store, Broken, { options: { keepsErrors: true } });
    expect(result).toMatchObject({ pages: 3, failed: 1, items: 5 });
    expect(site.compare()).toEqual({ missing: [], twice: [] });
    const frontier = await openFrontier(store);
    const { requests } = await frontier.failed.list(null, 10);
    const { counters } = await frontier.snapshot();
    expect(await frontier.verify()).toEqual([]);
    await frontier.close();
    expect(requests).toMatchObject([
      { reason: 'callback_error_kept', status: 200, detail: expect.stringContaining('no price here') },
    ]);
    expect(counters).toMatchObject({ 'spider_exceptions/TypeError': 1, item_scraped_count: 5 });
  });
});

describe('CALLBACK_ERROR keep, on the command line', () => {
  const spider = (url: string) => `
    import { Spider } from 'crawlnode';
    export default class extends Spider {
      name = 'broken';
      startUrls = ['${url}'];
      customSettings = { CALLBACK_ERROR: 'keep', ALLOW_PRIVATE_ADDRESSES: true };
      *parse(response) {
        yield { n: 1 };
        yield { n: 2 };
        yield { n: 3 };
        throw new Error('after the items');
      }
    }`;
  const pipeline = `
    export default ({ item }) => { if (item.n === 2) throw new Error('cannot store 2'); };`;

  it('a pipeline error costs its item, and "failed retry" skips what was kept unless told', async () => {
    const site = await startSite({ pages: 1 });
    const project = await createProject({
      settings: { ITEM_PIPELINES: { './pipelines/store.js': 100 } },
      files: { 'spiders/broken.js': spider(site.url), 'pipelines/store.js': pipeline },
    });
    const { summary, lines, run } = await crawlLines(project, 'broken');
    expect(lines).toEqual([{ n: 1 }, { n: 3 }]);
    expect(summary).toMatchObject({ pages: 1, items: 2, failed: 1 });

    expect((await run('failed', 'broken', 'list', '--reason', 'callback_error', '--json')).stdout).toContain(
      '"reason":"callback_error_kept"',
    );
    const skipped = await run('failed', 'broken', 'retry');
    expect(skipped.stdout).toContain('0 back to pending');
    expect(skipped.stderr).toContain('1 stay, because their items were committed (CALLBACK_ERROR keep)');
    expect((await run('failed', 'broken', 'retry', '--kept')).stdout).toContain('1 back to pending');
  });
});
