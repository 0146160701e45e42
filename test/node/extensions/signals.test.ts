/** What extensions hear of a crawl, what their errors cost, and what hooks for an idle crawl add. */
import { describe, expect, it } from 'vitest';
import { CloseSpider } from '../../../src/errors.js';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import type { OpenOptions } from '../../../src/frontier/open-options.js';
import { Request } from '../../../src/http/message/request.js';
import type { Response } from '../../../src/http/message/response.js';
import type { Extension } from '../../../src/node/extensions/extension.js';
import { Spider } from '../../../src/spider/spider.js';
import { crawl, freshStore, nodeOptions, startNode } from '../../helpers/node.js';
import { startSite } from '../../helpers/sites/site.js';
import { waitFor } from '../../helpers/wait-for.js';

async function snapshotOf(store: OpenOptions) {
  const frontier = await openFrontier(store);
  try {
    return await frontier.snapshot();
  } finally {
    await frontier.close();
  }
}

const pathOf = (url: string) => new URL(url).pathname;

describe('extensions', () => {
  it('hear of every event of a crawl, and what they count is committed with the page', async () => {
    const site = await startSite({ pages: 4 });
    class Shop extends Spider {
      override name = 'shop';
      override startUrls = [site.url];
      override allowedDomains = [site.host];
      override *parse(response: Response) {
        yield { path: pathOf(response.url) };
        yield response.follow('http://other.example/', this.parse);
        yield response.follow('mailto:me@example.org', this.parse);
        for (const page of [1, 2, 3]) yield response.follow(`/page/${page}.html`, this.parse);
        if (response.url.endsWith('/3.html')) throw new TypeError('bad page');
      }
    }
    const heard: string[] = [];
    const noting: Extension = {
      spiderOpened: ({ spider }) => heard.push(`opened ${spider.name}`),
      spiderClosed: ({ reason }) => heard.push(`closed ${reason}`),
      spiderError: ({ error, response }) =>
        heard.push(`${error.name} ${error.message} on ${pathOf(response?.url ?? '')}`),
      responseReceived: ({ response, request }) => heard.push(`${response.status} ${pathOf(request.url)}`),
      requestDropped: ({ url, reason }) => heard.push(`${reason}: ${url}`),
      itemScraped: async ({ item, response, spider }) => {
        await new Promise(setImmediate);
        spider.stats.incValue('items');
        heard.push(`scraped ${item.path} of ${pathOf(response?.url ?? '')}`);
      },
    };
    const store = await freshStore();
    const options = { concurrency: 1 };
    const result = await crawl(store, Shop, { options, extensions: { './noting.ts': noting } });
    expect(result).toMatchObject({ reason: 'finished', pages: 4, items: 3, failed: 1 });
    expect([heard[0], heard.at(-1)]).toEqual(['opened shop', 'closed finished']);
    expect(heard.toSorted()).toEqual(
      [
        ...['opened shop', 'closed finished', 'TypeError bad page on /page/3.html'],
        ...['200 /', '200 /page/1.html', '200 /page/2.html', '200 /page/3.html'],
        ...['scraped / of /', 'scraped /page/1.html of /page/1.html', 'scraped /page/2.html of /page/2.html'],
        ...Array<string>(3).fill('offsite (not in allowedDomains): http://other.example/'),
        ...Array<string>(3).fill('not an http or https URL: mailto:me@example.org'),
      ].toSorted(),
    );
    expect((await snapshotOf(store)).custom).toEqual({ items: 3 });
  });

  it('cost no page what they throw: it is logged once and counted', async () => {
    const site = await startSite({ pages: 3 });
    class Shop extends Spider {
      override name = 'shop';
      override startUrls = [...site.urls];
      override *parse(response: Response) {
        yield { url: response.url };
      }
    }
    const errors: string[] = [];
    const noop = () => {};
    const log = {
      debug: noop,
      info: noop,
      warn: noop,
      error: (_: object, text: string) => errors.push(text),
    };
    const failing: Extension = {
      spiderOpened: () => {
        throw new Error('opened');
      },
      itemScraped: async () => {
        throw new Error('no disk');
      },
    };
    const store = await freshStore();
    const result = await crawl(store, Shop, { log, extensions: { './failing.ts': failing } });
    expect(result).toMatchObject({ reason: 'finished', exitCode: 0, pages: 3, items: 3, failed: 0 });
    expect(errors).toEqual([
      expect.stringMatching(/^\.\/failing\.ts: spiderOpened failed: opened.*; the crawl goes on$/),
      expect.stringMatching(/^\.\/failing\.ts: itemScraped failed: no disk/),
    ]);
    expect((await snapshotOf(store)).counters['extension_exceptions/count']).toBe(3);
  });

  it('close the crawl with CloseSpider, by the page and without one', async () => {
    const site = await startSite({ pages: 20 });
    class Shop extends Spider {
      override name = 'shop';
      override startUrls = [site.url];
      override *parse(response: Response) {
        yield { url: response.url };
        yield* response.followAll('a', this.parse);
      }
    }
    const closing = () => {
      throw new CloseSpider('enough');
    };
    for (const extension of [{ itemScraped: closing }, { spiderOpened: closing }] as Extension[]) {
      const store = await freshStore();
      const options = { concurrency: 1 };
      const result = await crawl(store, Shop, { options, extensions: { './quota.ts': extension } });
      const pages = extension.itemScraped === undefined ? 0 : 1;
      expect(result).toMatchObject({ reason: 'enough', exitCode: 0, pages, items: pages });
    }
  });
});

describe('hooks for an idle crawl', () => {
  it('add requests until they give none; the dupefilter judges them', async () => {
    const site = await startSite({ pages: 6 });
    let asked = 0;
    class Shop extends Spider {
      override name = 'shop';
      override startUrls = [site.url];
      override *parse(response: Response) {
        yield { path: pathOf(response.url) };
      }
      override *idle() {
        asked += 1;
        yield site.url;
        if (asked < 3) yield `${site.origin}/page/${asked}.html`;
      }
    }
    const extension: Extension = {
      spiderIdle: async () => (asked === 1 ? [new Request(`${site.origin}/page/5.html`)] : undefined),
    };
    const store = await freshStore();
    const result = await crawl(store, Shop, { extensions: { './more.ts': extension } });
    expect(result).toMatchObject({ reason: 'finished', pages: 4, items: 4 });
    expect(asked).toBe(3);
    expect([...site.fetched().values()]).toEqual([1, 1, 1, 1]);
  });

  it('are asked by one of several nodes at a time', async () => {
    const site = await startSite({ pages: 3 });
    let asking = 0;
    let most = 0;
    let asked = 0;
    class Shop extends Spider {
      override name = 'shop';
      override startUrls = [site.url];
      override *parse() {}
      override async idle() {
        asking += 1;
        asked += 1;
        most = Math.max(most, asking);
        await new Promise(setImmediate);
        asking -= 1;
        return asked === 1 ? [`${site.origin}/page/1.html`] : [];
      }
    }
    const store = await freshStore();
    const nodes = await Promise.all(['one', 'two', 'three'].map((id) => startNode(store, Shop, { id })));
    const results = await Promise.all(nodes.map(({ result }) => result));
    expect(results.map(({ reason }) => reason)).toEqual(['finished', 'finished', 'finished']);
    expect({ asked, most }).toEqual({ asked: 2, most: 1 });
    expect([...site.fetched().values()]).toEqual([1, 1]);
  });

  it('may close the crawl; an error of idle() ends the node, and that of an extension is logged', async () => {
    class Closing extends Spider {
      override name = 'closing';
      override idle(): never {
        throw new CloseSpider('nothing more');
      }
    }
    expect(await crawl(await freshStore(), Closing)).toMatchObject({ reason: 'nothing more', exitCode: 0 });
    class Failing extends Spider {
      override name = 'failing';
      override async idle(): Promise<string[]> {
        throw new Error('no database');
      }
    }
    await expect(crawl(await freshStore(), Failing)).rejects.toThrow(
      /idle\(\) of the spider "failing" failed: no database/,
    );
    class Quiet extends Spider {
      override name = 'quiet';
    }
    const extensions = { './failing.ts': { spiderIdle: () => Promise.reject(new Error('no database')) } };
    expect(await crawl(await freshStore(), Quiet, { extensions })).toMatchObject({ reason: 'finished' });
  });

  it('are asked again and again by a node that stays', async () => {
    const site = await startSite({ pages: 3 });
    let asked = 0;
    class Shop extends Spider {
      override name = 'shop';
      override *parse() {}
      override idle() {
        asked += 1;
        return asked === 2 ? [site.url] : [];
      }
    }
    const options = { ...nodeOptions(), exitWhenDone: false };
    const node = await startNode(await freshStore(), Shop, { options });
    await waitFor(() => site.fetched().size === 1, { timeoutMs: 20_000 });
    node.drain();
    expect(await node.result).toMatchObject({ reason: 'shutdown', pages: 1 });
  });
});
