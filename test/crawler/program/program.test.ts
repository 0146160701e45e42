/** A program crawls, seeds, reads the numbers and tests its spiders by the exported functions. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type CrawlOptions,
  CrawlSpider,
  crawl,
  failed,
  items,
  RefusedError,
  Request,
  Response,
  runSpider,
  SettingsError,
  Spider,
  SpiderLoadError,
  seed,
  stats,
} from '../../../src/index.js';
import { createProject } from '../../helpers/project.js';
import { startSite } from '../../helpers/sites/site.js';
import { tempDir } from '../../helpers/temp-dir.js';
import { waitFor } from '../../helpers/wait-for.js';

class Pages extends Spider {
  override name = 'pages';
  override startUrls = this.args.url === undefined ? [] : [this.args.url];
  override *parse(response: Response) {
    yield { url: response.url, from: response.meta.from };
    yield* response.followAll('ul a', this.parse, { meta: { from: response.url } });
  }
}

/** Options for a crawl in a folder of its own, on sites of this machine. */
function options(more: CrawlOptions = {}): CrawlOptions {
  const { dir } = tempDir('program');
  const settings = {
    ALLOW_PRIVATE_ADDRESSES: true,
    START_TIMEOUT: 0,
    ROBOTSTXT_OBEY: false,
    ...more.settings,
  };
  return { cwd: dir, config: false, ...more, settings };
}

describe('crawl()', () => {
  it('crawls a class to its end, and calls onItem with each committed item', async () => {
    const site = await startSite({ pages: 12 });
    const seen: [unknown, number | undefined][] = [];
    const how = options({
      args: { url: site.url },
      onItem: (item, response) => {
        seen.push([item.url, response?.status]);
        throw new Error('not the business of the crawl');
      },
    });
    const result = await crawl(Pages, how);
    expect(result).toMatchObject({ reason: 'finished', pages: 12, items: 12, failed: 0, message: null });
    expect(result.stats).toMatchObject({ spider: 'pages', engine: 'embedded', done: 12, state: 'ended' });
    expect(seen.sort()).toEqual(site.urls.map((url) => [url, 200]).sort());
    expect(await stats(Pages, how)).toMatchObject({ done: 12, counters: { item_scraped_count: 12 } });
    expect((await crawl(Pages, how)).message).toContain('nothing to crawl');
  });

  it('drains when its signal is aborted, and ends after maxPages', async () => {
    const site = await startSite({ pages: 40, delayMs: 30 });
    const how = options({ args: { url: site.url } });
    const stop = new AbortController();
    const drained = await crawl(Pages, { ...how, signal: stop.signal, onItem: () => stop.abort() });
    expect(drained.reason).toBe('shutdown');
    expect(drained.stats.pending).toBeGreaterThan(0);
    expect(await crawl(Pages, { ...how, maxPages: 3 })).toMatchObject({
      reason: 'closespider_pagecount',
      pages: 3,
    });
    expect(await crawl(Pages, how)).toMatchObject({ reason: 'finished' });
    expect(site.compare()).toEqual({ missing: [], twice: [] });
  });

  it('refuses a file of items that another crawl writes', async () => {
    const site = await startSite({ pages: 3, delayMs: 100 });
    const shared = tempDir('shared');
    const FEEDS = { [path.join(shared.dir, 'all.jsonl')]: { format: 'jsonl' } } as const;
    const how = options({ args: { url: site.url }, settings: { FEEDS } });
    const first = crawl(Pages, how);
    await waitFor(() => site.log.length > 0);
    await expect(crawl(Pages, { ...options({ settings: { FEEDS } }), job: 'other' })).rejects.toMatchObject({
      code: 'feed_held',
    });
    expect(await first).toMatchObject({ reason: 'finished', items: 3 });
    expect(readFileSync(path.join(shared.dir, 'all.jsonl'), 'utf8').trim().split('\n')).toHaveLength(3);
  });

  it('refuses what is no spider, and options that would have no effect', async () => {
    await expect(crawl(new Pages() as never)).rejects.toThrow(
      'crawl() takes a class that extends Spider, or the name of a spider, not a spider that was made already',
    );
    await expect(crawl(class A {} as never)).rejects.toThrow(/not A, which does not extend Spider/);
    await expect(crawl(undefined as never)).rejects.toThrow(SpiderLoadError);
    await expect(crawl(Pages, { maxpages: 3 } as never)).rejects.toThrow(
      'crawl() has no option maxpages; did you mean maxPages?',
    );
    await expect(crawl(Pages, options({ args: { n: 5 } as never }))).rejects.toThrow(
      'args.n of crawl() must be a text, as -a gives it, not a number',
    );
    // As a variable of the environment that is not set gives it.
    const unset = { ...options(), job: '' };
    await expect(crawl(Pages, unset)).rejects.toThrow(/JOB: expected a name .*, got ""/);
    await expect(failed(Pages, unset).next()).rejects.toThrow(/JOB: expected a name .*, got ""/);
    await expect(items('nosuch', options()).next()).rejects.toThrow('there is no spider "nosuch"');
    const { cwd } = options();
    await expect(stats(Pages, { cwd: `${cwd}/none` })).rejects.toThrow(`there is no folder ${cwd}/none`);
    const wrong: [unknown, string][] = [
      [null, 'the options of crawl() are null, not an object'],
      [{ maxPages: 0 }, 'maxPages of crawl() must be a whole number of at least 1, not 0'],
      [{ maxPages: '3' }, 'maxPages of crawl() must be a whole number of at least 1, not a string'],
      [{ onItem: 5 }, 'onItem of crawl() must be a function, not 5'],
      [{ args: ['a=5'] }, 'args of crawl() must be an object of texts, such as { tag: "love" }, not a list'],
      [{ settings: 'x' }, 'settings of crawl() must be an object of settings, not a string'],
      [{ signal: {} }, 'signal of crawl() must be an AbortSignal, not an object'],
      [{ exitWhenDone: 'no' }, 'exitWhenDone of crawl() must be true or false, not a string'],
    ];
    for (const [given, message] of wrong) await expect(crawl(Pages, given as never)).rejects.toThrow(message);
  });

  it('takes no harm from a logger that throws, and refuses one that lacks a method', async () => {
    const site = await startSite({ pages: 3 });
    const fail = () => {
      throw new Error('no log today');
    };
    const log = { debug: fail, info: fail, warn: fail, error: fail };
    const how = options({ args: { url: site.url }, log });
    expect(await crawl(Pages, how)).toMatchObject({ reason: 'finished', items: 3, failed: 0 });
    await expect(crawl(Pages, { ...how, log: { info: fail } as never })).rejects.toThrow(
      'the option log lacks the method debug, warn, error',
    );
  });

  it('logs the warnings that the command line prints', async () => {
    const site = await startSite({ pages: 1 });
    const warnings: unknown[] = [];
    const log = {
      debug() {},
      info() {},
      warn: (_: unknown, text: unknown) => warnings.push(text),
      error() {},
    };
    const settings = { SCHEDULER_SERIALIZER: 'pickle' };
    await crawl(Pages, options({ args: { url: site.url }, log: log as never, settings }));
    expect(warnings).toContainEqual(expect.stringContaining('SCHEDULER_SERIALIZER has no effect'));
  });

  it('leaves items and failed requests to be read, one by one', async () => {
    const site = await startSite({ pages: 5 });
    const how = options({ args: { url: site.url }, settings: { RETRY_TIMES: 0 } });
    await crawl(Pages, how);
    await seed(Pages, ['http://127.0.0.1:1/gone'], how);
    await crawl(Pages, how).catch(() => {});
    const read: unknown[] = [];
    for await (const item of items(Pages, how)) read.push(item.url);
    expect(read.sort()).toEqual([...site.urls].sort());
    for await (const { url, reason, status } of failed(Pages, how)) {
      expect({ url, reason, status }).toEqual({
        url: 'http://127.0.0.1:1/gone',
        reason: 'connection_refused',
        status: null,
      });
      read.length = 0;
    }
    expect(read).toEqual([]);
    await expect(items(Pages, { ...how, jbo: 'x' } as never).next()).rejects.toThrow('did you mean job');
  });

  it('reads a crawl whose spider is gone, and refuses a spider that neither the project nor the store has', async () => {
    const site = await startSite({ pages: 2 });
    const how = options({ args: { url: site.url } });
    await expect(stats('pages', how)).rejects.toBeInstanceOf(SpiderLoadError);
    await expect(items('pages', how).next()).rejects.toBeInstanceOf(SpiderLoadError);
    await expect(failed('pages', how).next()).rejects.toBeInstanceOf(SpiderLoadError);
    await crawl(Pages, how);
    expect(await stats('pages', how)).toMatchObject({ done: 2 });
    expect((await items('pages', how).next()).value).toMatchObject({ url: site.url });
    await expect(stats('page', how)).rejects.toThrow('page');
  });

  it('refuses a second crawl of the same spider and job in one process', async () => {
    const site = await startSite({ pages: 3, delayMs: 50 });
    const how = options({ args: { url: site.url } });
    const first = crawl(Pages, how);
    await expect(crawl(Pages, how)).rejects.toBeInstanceOf(RefusedError);
    const other = crawl(Pages, { ...how, job: 'other' });
    expect(await Promise.all([first, other])).toMatchObject([{ pages: 3 }, { pages: 3 }]);
    expect((await crawl(Pages, how)).reason).toBe('finished');
  });

  it('throws the exported errors', async () => {
    const how = options();
    const wrong = { settings: { DOWNLOAD_DELY: 1 } } as CrawlOptions;
    await expect(crawl(Pages, options(wrong))).rejects.toThrow(
      /the settings of the program: unknown setting DOWNLOAD_DELY; did you mean DOWNLOAD_DELAY/,
    );
    await expect(crawl(Pages, options(wrong))).rejects.toBeInstanceOf(SettingsError);
    await expect(crawl('nobody', how)).rejects.toBeInstanceOf(SpiderLoadError);
    class Nameless extends Spider {}
    await expect(crawl(Nameless, how)).rejects.toThrow('the name "" of the spider Nameless');
    class Old extends Pages {
      from_crawler() {}
    }
    await expect(crawl(Old, how)).rejects.toThrow('the class Old: its spider has from_crawler');
    class Errbacks extends Spider {
      override name = 'errbacks';
      override *start() {
        yield new Request('http://127.0.0.1:1/', { errback: 'onError' });
      }
      *onError() {
        yield { failed: true };
      }
    }
    await expect(crawl(Errbacks, options({ settings: { RETRY_TIMES: 0 } }))).rejects.toMatchObject({
      code: 'nothing_succeeded',
    });
    class Broken extends Pages {
      override opened() {
        throw new Error('no database');
      }
    }
    await expect(crawl(Broken, how)).rejects.toMatchObject({ code: 'hook_error' });
  });

  it('reads the project as the command line does, unless told not to', async () => {
    const site = await startSite({ pages: 5 });
    const spider = `import { Spider } from 'crawlnode';
      export default class extends Spider {
        name = 'shop';
        startUrls = ['${site.url}'];
        parse(response) { return { bot: this.settings.USER_AGENT, tag: this.args.tag }; }
      }`;
    const project = await createProject({
      settings: { USER_AGENT: 'from-file', ALLOW_PRIVATE_ADDRESSES: true, FEEDS: { 'out.jsonl': {} } },
      files: { 'spiders/shop.ts': spider },
    });
    expect(await crawl('shop', { cwd: project.dir, args: { tag: 'a' } })).toMatchObject({
      pages: 1,
      items: 1,
    });
    expect(await project.readJsonLines('out.jsonl')).toEqual([{ bot: 'from-file', tag: 'a' }]);
    const nested = { cwd: project.dir, job: 'two', settings: { USER_AGENT: 'from-code' } };
    expect(await crawl('shop', nested)).toMatchObject({ pages: 1 });
    expect((await project.readJsonLines('out.jsonl'))[1]).toEqual({ bot: 'from-code' });
  });
});

describe('seed()', () => {
  it('takes URLs, JSON texts and Requests, from any iterable', async () => {
    const site = await startSite({ pages: 4, extraLinks: 0 });
    const how = options();
    async function* seeds() {
      yield `${site.origin}/page/3.html`;
      yield new Request(`${site.origin}/page/2.html`, { meta: { from: 'code' } });
      yield JSON.stringify({ url: `${site.origin}/page/2.html` });
      yield 'not a URL';
    }
    expect(await seed(Pages, seeds(), how)).toEqual({
      ...{ accepted: 2, duplicates: 1, bad: 1 },
      badSeeds: [{ seed: 'not a URL', reason: expect.stringContaining('bad seed') }],
    });
    const items: unknown[] = [];
    await crawl(Pages, { ...how, onItem: (item) => items.push(item) });
    expect(items).toContainEqual({ url: `${site.origin}/page/2.html`, from: 'code' });
    await expect(seed(Pages, 'http://a.example/' as never, how)).rejects.toThrow('seed() takes a list');
    await expect(seed(Pages, undefined as never, how)).rejects.toThrow('seed() takes a list');
    await expect(seed(Pages, [3 as never], how)).rejects.toThrow('seed 1 is number');
  });
});

describe('runSpider()', () => {
  const { dir } = tempDir('saved');
  const file = path.join(dir, 'list.html');
  writeFileSync(
    file,
    '<title>List</title><a class=item href=/item/1>One</a><a href="mailto:me@a.example">me</a>',
  );

  class Shop extends Spider {
    override name = 'shop';
    override *parse(response: Response) {
      yield { title: response.css('title::text').get(), page: response.meta.page, tag: this.args.tag };
      for (const link of response.css('a')) yield response.follow(link, this.parseItem);
    }
    *parseItem(response: Response) {
      yield { url: response.url };
    }
  }

  it('gives what a callback yields for a saved page', async () => {
    const page = Response.fromFile(file, { url: 'http://a.example/list', meta: { page: 2 } });
    const { items, requests, unfetchable } = await runSpider(Shop, page, { args: { tag: 'new' } });
    expect(items).toEqual([{ title: 'List', page: 2, tag: 'new' }]);
    expect(requests).toMatchObject([{ url: 'http://a.example/item/1', callback: 'parseItem' }]);
    expect(unfetchable).toEqual(['mailto:me@a.example']);
    const parsed = await runSpider(Shop, page, { callback: Shop.prototype.parseItem });
    expect(parsed.items).toEqual([{ url: 'http://a.example/list' }]);
    expect(await runSpider(Shop, page, { callback: 'parseItem' })).toEqual(parsed);
    // @ts-expect-error a misspelt name does not compile; a program in JavaScript is told at run time
    await expect(runSpider(Shop, page, { callback: 'parseItm' })).rejects.toThrow('did you mean parseItem');
  });

  it('takes a response that is made of a URL and a text, and refuses what is no response', async () => {
    const body = '<title>Fake</title><a href=/item/2>Two</a>';
    const { items, requests } = await runSpider(Shop, new Response({ url: 'http://a.example/', body }));
    expect(items).toEqual([{ title: 'Fake', page: undefined, tag: undefined }]);
    expect(requests).toMatchObject([{ url: 'http://a.example/item/2' }]);
    await expect(runSpider(Shop, body as never)).rejects.toThrow('runSpider() takes a Response');
  });

  it('gives a callback no more time than CALLBACK_TIMEOUT', async () => {
    class Hanging extends Spider {
      override name = 'hanging';
      override async *parse() {
        await new Promise(() => {});
        yield {};
      }
    }
    await expect(
      runSpider(Hanging, Response.fromFile(file), { settings: { CALLBACK_TIMEOUT: 0.1 } }),
    ).rejects.toMatchObject({ code: 'callback_timeout' });
  });

  it('runs the rules of a CrawlSpider', async () => {
    class Rules extends CrawlSpider {
      override name = 'rules';
      override rules = [{ allow: /\/item\//, callback: 'parseItem' }];
      parseItem() {}
    }
    const { requests } = await runSpider(Rules, Response.fromFile(file));
    expect(requests).toMatchObject([{ url: 'http://localhost/item/1', callback: 'parseRule' }]);
  });
});
