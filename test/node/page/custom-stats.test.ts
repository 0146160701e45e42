/** Stats of a spider are committed with the page; CloseSpider closes the crawl with what the page gave. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { CloseSpider } from '../../../src/errors.js';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import type { OpenOptions } from '../../../src/frontier/open-options.js';
import type { Response } from '../../../src/http/message/response.js';
import { Spider } from '../../../src/spider/spider.js';
import { crawl, freshStore } from '../../helpers/node.js';
import { startSite } from '../../helpers/sites/site.js';

async function snapshotOf(store: OpenOptions) {
  const frontier = await openFrontier(store);
  try {
    return await frontier.snapshot();
  } finally {
    await frontier.close();
  }
}

describe('spider.stats', () => {
  it('counts each page once: not a retried download, not a failed callback, and nothing twice', async () => {
    const site = await startSite({ pages: 12, failing: { '/page/3.html': 1 } });
    let opened = 0;
    class Counting extends Spider {
      override name = 'counting';
      override startUrls = [site.url];
      override opened() {
        this.stats.incValue('opened', ++opened);
      }
      override async *parse(response: Response) {
        this.stats.incValue('pages');
        await sleep(1);
        this.stats.maxValue('longest', response.text.length);
        yield* response.followAll('a', this.parse);
        if (response.url.endsWith('/5.html')) throw new Error('bad page');
        await sleep(1);
        this.stats.incValue('ends');
        this.stats.setValue('kind', 'site');
      }
      override closed(reason: string) {
        this.stats.setValue('reason', reason);
      }
    }
    const store = await freshStore();
    const result = await crawl(store, Counting, { options: { concurrency: 4 } });
    expect(result).toMatchObject({ reason: 'finished', failed: 1, pages: 12 });
    const { custom } = await snapshotOf(store);
    expect(custom).toEqual({
      ...{ opened: 1, pages: 11, ends: 11, kind: 'site', reason: 'finished' },
      longest: expect.any(Number),
    });
    expect(result.customStats).toEqual(custom);
  });

  it('keeps what a failed page counted before its error where CALLBACK_ERROR keeps its items', async () => {
    const site = await startSite({ pages: 1 });
    class Failing extends Spider {
      override name = 'failing';
      override startUrls = [site.url];
      override *parse() {
        this.stats.incValue('before');
        yield { n: 1 };
        throw new Error('bad page');
      }
    }
    for (const keepsErrors of [true, false]) {
      const store = await freshStore();
      await crawl(store, Failing, { options: { keepsErrors } });
      expect((await snapshotOf(store)).custom).toEqual(keepsErrors ? { before: 1 } : {});
    }
  });

  it('a stat that cannot be stored fails its page, and says which', async () => {
    const site = await startSite({ pages: 1 });
    class Bad extends Spider {
      override name = 'bad';
      override startUrls = [site.url];
      override parse() {
        this.stats.incValue('price', Number.NaN);
      }
    }
    const store = await freshStore();
    await crawl(store, Bad);
    const frontier = await openFrontier(store);
    const { requests } = await frontier.failed.list(null, 1);
    await frontier.close();
    expect(requests[0]).toMatchObject({
      reason: 'invalid_stat',
      detail: expect.stringContaining('price: incValue takes a finite number, not NaN'),
    });
  });
});

describe('CloseSpider', () => {
  it('closes the run; its page is done, with the items, links and stats from before', async () => {
    const site = await startSite({ pages: 30 });
    class Closing extends Spider {
      override name = 'closing';
      override startUrls = [site.url];
      override *parse(response: Response) {
        yield { url: response.url };
        yield* response.followAll('a', this.parse);
        this.stats.incValue('pages');
        throw new CloseSpider('bandwidth\nexceeded');
      }
    }
    const store = await freshStore();
    const result = await crawl(store, Closing, { options: { concurrency: 1 } });
    expect(result).toMatchObject({
      reason: 'bandwidth exceeded',
      exitCode: 0,
      pages: 1,
      items: 1,
      failed: 0,
    });
    const snapshot = await snapshotOf(store);
    expect(snapshot).toMatchObject({
      custom: { pages: 1 },
      leased: 0,
      run: { closed: 'bandwidth exceeded' },
    });
    expect(snapshot.pending).toBeGreaterThan(1);
    expect(Object.keys(snapshot.counters).filter((name) => name.startsWith('spider_exceptions'))).toEqual([]);
    const again = await crawl(store, Closing, { options: { concurrency: 1 } });
    expect(again).toMatchObject({ reason: 'bandwidth exceeded', pages: 1 });
  });

  it('from start() closes it too', async () => {
    const site = await startSite({ pages: 3 });
    class Closing extends Spider {
      override name = 'closing';
      override *start() {
        yield site.url;
        throw new CloseSpider();
      }
      override *parse() {}
    }
    const result = await crawl(await freshStore(), Closing);
    expect(result).toMatchObject({ reason: 'cancelled', exitCode: 0 });
  });
});
