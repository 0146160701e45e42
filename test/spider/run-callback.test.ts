/** Whatever a callback gives becomes items and requests, or an error that names where. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DropItem } from '../../src/errors.js';
import { type CallbackResults, Request } from '../../src/http/message/request.js';
import { Response } from '../../src/http/message/response.js';
import { silentLogger, spiderLogger } from '../../src/log.js';
import { LinkExtractor } from '../../src/spider/rules/link-extractor.js';
import {
  callbackName,
  type Failure,
  type PageLimits,
  runCallback,
  runErrback,
} from '../../src/spider/run-callback.js';
import { Spider } from '../../src/spider/spider.js';

const page = '<html><head><title>T</title></head><body><a href="/a">A</a><a href="/b">B</a></body></html>';

function response(url = 'https://example.org/'): Response {
  const headers = { 'content-type': 'text/html; charset=utf-8' };
  return new Response({ url, status: 200, headers, body: Buffer.from(page), request: new Request(url) });
}

/** A spider whose parse is the given function. */
function spiderOf(parse: (this: Probe, response: Response) => unknown): Probe {
  class Parsing extends Probe {
    override parse(page: Response): CallbackResults {
      return parse.call(this, page) as CallbackResults;
    }
  }
  return new Parsing();
}

class Probe extends Spider {
  override name = 'probe';

  override parse(_response: Response): CallbackResults {
    return undefined;
  }

  parsePage(): void {}
  failed(): void {}
  inField = () => {};
}

describe('a callback', () => {
  it.each<[string, (response: Response) => unknown]>([
    [
      'a generator',
      function* () {
        yield { n: 1 };
        yield new Request('https://example.org/1');
      },
    ],
    [
      'an async generator',
      async function* () {
        yield { n: 1 };
        yield new Request('https://example.org/1');
      },
    ],
    ['an array', () => [{ n: 1 }, new Request('https://example.org/1')]],
    ['nested arrays', () => [[{ n: 1 }], [[new Request('https://example.org/1')]], []]],
    ['a set', () => new Set<unknown>([{ n: 1 }, new Request('https://example.org/1')])],
    ['a promise of an array', async () => [{ n: 1 }, new Request('https://example.org/1')]],
    [
      'a generator of promises and generators',
      function* () {
        yield Promise.resolve({ n: 1 });
        yield (function* () {
          yield new Request('https://example.org/1');
        })();
      },
    ],
  ])('may return %s', async (_what, parse) => {
    const { items, requests } = await runCallback(spiderOf(parse), null, response());
    expect(items).toEqual([{ n: 1 }]);
    expect(requests.map(({ request }) => request.url)).toEqual(['https://example.org/1']);
  });

  it('may return one item, one request, or nothing', async () => {
    const run = (value: unknown) =>
      runCallback(
        spiderOf(() => value),
        null,
        response(),
      );
    expect((await run({ n: 1 })).items).toEqual([{ n: 1 }]);
    expect((await run(new Request('https://example.org/1'))).requests).toHaveLength(1);
    for (const nothing of [undefined, null, [], Promise.resolve()]) {
      expect(await run(nothing)).toMatchObject({ items: [], requests: [] });
    }
  });

  it('keeps items and requests in the order in which they were yielded', async () => {
    const spider = spiderOf(async function* (page) {
      for (let n = 0; n < 300; n++) {
        yield { n };
        yield page.follow(`/${n}`);
      }
    });
    const { items, requests } = await runCallback(spider, null, response());
    expect(items.map((item) => item.n)).toEqual(Array.from({ length: 300 }, (_, n) => n));
    expect(requests.map(({ request }) => request.url)).toEqual(
      Array.from({ length: 300 }, (_, n) => `https://example.org/${n}`),
    );
  });

  it('is called by name, as a method of the spider', async () => {
    class Named extends Probe {
      seen = 0;
      parseOther(page: Response) {
        this.seen += 1;
        return { url: page.url };
      }
    }
    const spider = new Named();
    expect((await runCallback(spider, 'parseOther', response())).items).toEqual([
      { url: 'https://example.org/' },
    ]);
    expect(spider.seen).toBe(1);
  });

  it('that throws is named with its spider, the page and the place, a password in the URL masked', async () => {
    const spider = spiderOf(() => {
      throw new TypeError('no price');
    });
    await expect(
      runCallback(spider, null, response('https://me:secret@example.org/x')),
    ).rejects.toMatchObject({
      code: 'callback_failed',
      message: expect.stringMatching(
        /^probe\.parse failed on https:\/\/\*\*\*@example\.org\/x: TypeError: no price \(.*run-callback\.test\.ts:\d+:\d+\)$/,
      ),
      cause: { name: 'TypeError' },
    });
  });

  it.each<[string, () => unknown, string]>([
    ['a string', () => 'text', 'not a string'],
    ['strings', () => ['https://example.org/'], 'not a string'],
    ['a number', () => 7, 'not a number'],
    ['a function', () => () => {}, 'not a function'],
  ])('may not yield %s', async (_what, parse, message) => {
    await expect(runCallback(spiderOf(parse), null, response())).rejects.toThrow(message);
  });

  it('that the spider no longer has fails the page, with the nearest name', async () => {
    await expect(runCallback(new Probe(), 'parsPage', response())).rejects.toMatchObject({
      code: 'unknown_callback',
      message: expect.stringContaining('did you mean parsePage?'),
    });
  });

  it('that calls a method of Scrapy is told what it is called here', async () => {
    // biome-ignore lint/suspicious/noExplicitAny: what somebody writes who comes from Scrapy.
    type Untyped = any;
    for (const [call, hint] of [
      [(page: Untyped) => page.css('a').getall(), /getall is not a function: it is getAll\(\) here/],
      [(page: Untyped) => page.css('a').extract_first(), /extract_first is not a function: use get\(\)/],
      [(page: Untyped) => page.follow_all('a'), /follow_all is not a function: it is followAll\(\) here/],
      [(page: Untyped) => page.meta.get('x'), /meta\.get is not a function: meta is a plain object/],
      [(page: Untyped) => page.css('a').re_first(/a/), /re_first is not a function: it is reFirst\(\) here/],
      [
        (page: Untyped) => page.css('a').get('').re(/a/),
        /re is not a function: it is a method of selections/,
      ],
      [(page: Untyped) => page.css('a').attrib.href, /an attribute of a selection is attr\('href'\)/],
      [(page: Untyped) => page.css('a')[0].get(), /the first of a selection is at\(0\)/],
      [(page: Untyped) => page.selector.css('a'), /response\.css\(\) needs no selector before it/],
      [(page: Untyped) => page.headers.get('x'), /headers is a plain object: response\.header\(/],
      [
        (_: Untyped, self: Untyped) => self.log.warning('x'),
        /log\.warning is not a function: it is warn\(\)/,
      ],
      [
        (page: Untyped) => {
          for (const _ of (new LinkExtractor() as Untyped).extract_links(page)) return;
        },
        /extract_links is not a function.*: it is extractLinks\(\) here/,
      ],
      [(_: Untyped, self: Untyped) => self.stats.inc('n'), /inc is not a function: it is incValue\(\) here/],
      [(_: Untyped, self: Untyped) => self.pushData({}), /pushData is not a function: write yield item/],
      [({ enqueueLinks }: Untyped) => enqueueLinks(), /enqueueLinks is not a function: write yield\* resp/],
      [
        (page: Untyped) => page.meta.css('a'),
        /css is not a function: css\(\) is a method of the Response.*Failure/,
      ],
    ] as [(page: Untyped, self: Untyped) => unknown, RegExp][]) {
      const spider = spiderOf(function parse(page) {
        return call(page, this);
      });
      await expect(runCallback(spider, null, response())).rejects.toMatchObject({
        ...{ code: 'callback_failed', message: expect.stringMatching(hint) },
      });
    }
  });

  it('that yields an item without a value warns once', async () => {
    const said: unknown[] = [];
    class Empty extends Probe {
      override log = spiderLogger({ ...silentLogger, warn: (...given) => void said.push(given) });
      override *parse(page: Response) {
        yield { title: (page as unknown as { titel?: string }).titel };
      }
    }
    const spider = new Empty();
    expect((await runCallback(spider, null, response())).items).toEqual([{}]);
    await runCallback(spider, null, response());
    expect(said).toEqual([
      [{ url: 'https://example.org/' }, expect.stringContaining('no field with a value')],
    ]);
  });

  describe('that follows links', () => {
    const html = '<ul><li class="next"><a href="/2">2</a></li></ul><a href="/a">A</a><img src="/i">';
    const warningsOf = async (parse: (page: Response) => unknown, limits: PageLimits = {}) => {
      const said: string[] = [];
      class Following extends Probe {
        override log = spiderLogger({
          ...silentLogger,
          warn: (fields, message) => void said.push(`${JSON.stringify(fields)} ${message}`),
        });
        override parse(page: Response): CallbackResults {
          return parse(page) as CallbackResults;
        }
      }
      const spider = new Following();
      for (const url of ['https://a.example/', 'https://b.example/']) {
        const headers = { 'content-type': 'text/html' };
        await runCallback(spider, null, new Response({ url, headers, body: html }), limits);
      }
      return said;
    };

    it.each<[string, (page: Response) => unknown]>([
      ['followAll()', (page) => void page.followAll('a')],
      [
        'follow() in a loop',
        async (page) => {
          for (const a of page.css('a')) page.follow(a, 'parse');
          return { n: 1 };
        },
      ],
    ])('and yields none of them warns once: %s', async (_what, parse) => {
      expect(await warningsOf(parse)).toEqual([
        expect.stringMatching(
          /^{"url":"https:\/\/a\.example\/","requests":2} parse made requests .* is yield or yield\* missing\?/,
        ),
      ]);
    });

    it('and yields some, or whose requests middleware drops, warns of nothing', async () => {
      expect(await warningsOf((page) => page.followAll('a').slice(1))).toEqual([]);
      expect(
        await warningsOf((page) =>
          page.url.includes('b.') ? page.followAll('a') && [] : page.followAll('a'),
        ),
      ).toEqual([]);
      expect(await warningsOf((page) => page.followAll('a'), { through: async function* () {} })).toEqual([]);
    });

    it('warns once of elements that are no links, and not of links without a URL or an empty selection', async () => {
      expect(await warningsOf((page) => page.followAll('li.next'))).toEqual([
        expect.stringContaining('"li.next" selects elements other than a, area, link and img'),
      ]);
      expect(await warningsOf((page) => page.followAll(page.css('li')))).toHaveLength(1);
      for (const selector of ['a.none', 'img', 'li, a']) {
        expect(await warningsOf((page) => page.followAll(selector))).toEqual([]);
      }
      expect(await warningsOf((page) => page.followAll(page.css('a::attr(name)')))).toEqual([]);
    });
  });

  it.each<[string, (page: Response) => unknown, string]>([
    [
      'what followAll() does not take',
      (page) => page.followAll({ css: 'a' } as never),
      'was given an instance of a class; give a CSS selector, a selection or a list of URLs',
    ],
    [
      'a method as a field',
      (page) => ({ a: page.css('a').get }),
      'item.a is a function, which JSON cannot hold; is () missing',
    ],
    [
      'a selector that is undefined',
      (page) => page.css(undefined as never),
      'undefined is not valid: it is no text',
    ],
    [
      'an XPath that is wrong',
      (page) => page.xpath('//div[contains(@class "x")]'),
      'parse error, after "//div"',
    ],
    ['a selector that ends too early', (page) => page.css('h1['), 'Expected name, found its end'],
    ['a selection as a field', (page) => ({ a: page.css('a') }), 'item.a is a SelectorList'],
    [
      'a URL as a field',
      () => ({ a: new URL('http://a.example/') }),
      'item.a is a URL, which does not survive JSON; give its href',
    ],
    [
      'a method as options',
      (page) => new Request(page.url, (() => {}) as never),
      '{ callback: this.parsePage }',
    ],
  ])('that gives %s is told what it is', async (_what, parse, says) => {
    await expect(runCallback(spiderOf(parse), null, response())).rejects.toThrow(says);
  });

  it('that uses a selector which is none has failed like any other', async () => {
    const failing = runCallback(
      spiderOf((page) => page.css('a[').get()),
      null,
      response(),
    );
    await expect(failing).rejects.toMatchObject({ code: 'callback_failed' });
  });

  it('keeps the code of what crawlnode refuses within it', async () => {
    const date = spiderOf((page) => page.follow('/a', null, { meta: { when: new Date() } }));
    await expect(runCallback(date, null, response())).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('meta.when is a Date'),
    });
    const dropped = spiderOf(() => {
      throw new DropItem('old');
    });
    await expect(runCallback(dropped, null, response())).rejects.toMatchObject({ code: 'drop_item' });
  });

  it('that yields more items than a page may is stopped there', async () => {
    let yielded = 0;
    let closed = false;
    const spider = spiderOf(async function* () {
      try {
        for (;;) {
          yielded += 1;
          yield { n: yielded };
        }
      } finally {
        closed = true;
      }
    });
    await expect(runCallback(spider, null, response(), { maxItems: 10 })).rejects.toMatchObject({
      code: 'too_many_items',
    });
    expect({ yielded, closed }).toEqual({ yielded: 11, closed: true });
  });

  it('gives the requests of a page with very many as they were made', async () => {
    class Marked extends Request {}
    const make = (spider: Probe) => [
      new Request('https://example.org/plain'),
      new Request('https://example.org/method', { callback: spider.parsePage }),
      new Request('https://example.org/meta', { meta: { n: 1 }, errback: 'failed' }),
      new Request('https://example.org/post', { json: { n: 1 } }),
      new Request('https://example.org/head', { method: 'HEAD', headers: { 'X-A': 'b' } }),
      new Request('https://example.org/more', { priority: 1, dontFilter: true, cookies: { a: 'b' } }),
      new Request('https://example.org/body', { method: 'GET', body: Buffer.alloc(0) }),
      new Marked('https://example.org/marked'),
    ];
    const many = Array.from({ length: 10_000 }, (_, n) => new Request(`https://example.org/${n}`));
    const spider = spiderOf(function () {
      return [...make(this), many, ...make(this)];
    });
    const { requests } = await runCallback(spider, null, response());
    const plain = ({ request, callback, errback }: (typeof requests)[number]) => ({
      request,
      callback,
      errback,
    });
    expect(requests.slice(-8).map(plain)).toEqual(requests.slice(0, 8).map(plain));
    expect(requests.at(-1)?.request).toBeInstanceOf(Marked);
    expect(requests.at(-8)?.request).toBeInstanceOf(Request);
  });

  it('may yield 10,000 items, and any number of requests', async () => {
    const items = Array.from({ length: 10_000 }, (_, n) => ({ n }));
    const spider = spiderOf((page) => [items, Array.from({ length: 20_000 }, () => page.follow('/a'))]);
    const result = await runCallback(spider, null, response());
    expect([result.items.length, result.requests.length]).toEqual([10_000, 20_000]);
    await expect(
      runCallback(
        spiderOf(() => [items, { n: -1 }]),
        null,
        response(),
      ),
    ).rejects.toMatchObject({ code: 'too_many_items' });
  });
});

describe("a request's callbacks", () => {
  it('are stored by name, given by reference or by name; parse is the default', async () => {
    const spider = spiderOf(function* (page) {
      yield page.follow('/1', this.parsePage, { errback: this.failed });
      yield page.follow('/2', 'parsePage', { errback: 'failed' });
      yield page.follow('/3', this.parse);
      yield page.follow('/4');
      yield page.follow('/5', this.inField);
    });
    const { requests } = await runCallback(spider, null, response());
    expect(requests.map(({ callback, errback }) => [callback, errback])).toEqual([
      ['parsePage', 'failed'],
      ['parsePage', 'failed'],
      [null, null],
      [null, null],
      ['inField', null],
    ]);
  });

  it.each<[string, (spider: Probe) => unknown]>([
    ['an arrow function', () => () => {}],
    ['a bound method', (spider) => spider.parsePage.bind(spider)],
    [
      'a method of another spider',
      () =>
        new (class Other extends Spider {
          parseOther() {}
        })().parseOther,
    ],
    ['a method that is overridden', () => Spider.prototype.parse],
    ['an unknown name', () => 'parseNothing'],
    ['a name of every object', () => 'toString'],
    ['the constructor', () => 'constructor'],
    ['the prototype', () => '__proto__'],
    ['a hook', () => 'makeRequestFromData'],
    ['a field that is no method', () => 'startUrls'],
  ])('may not be %s', async (_what, callback) => {
    const spider = spiderOf((page) => page.follow('/1', callback(spider) as string));
    await expect(runCallback(spider, null, response())).rejects.toMatchObject({
      code: 'unknown_callback',
      message: expect.stringMatching(/^probe\.parse failed on https:\/\/example\.org\/: callback: /),
    });
  });

  it('have names within the chain of classes', () => {
    class Derived extends Probe {
      override parsePage(): void {}
      parseMore(): void {}
    }
    const spider = new Derived();
    expect(callbackName(spider, spider.parsePage)).toBe('parsePage');
    expect(callbackName(spider, spider.parseMore)).toBe('parseMore');
    expect(callbackName(spider, spider.failed)).toBe('failed');
    expect(callbackName(spider, spider.parse)).toBe('parse');
    expect(callbackName(spider, null)).toBeNull();
  });
});

describe('an item', () => {
  const item = async (value: unknown, schema?: z.ZodType) => {
    const spider = spiderOf(() => [value]);
    if (schema) spider.item = schema;
    return (await runCallback(spider, null, response())).items[0];
  };

  it('is copied as JSON would, fields of undefined left out', async () => {
    const deep = { a: undefined, b: null, c: [1, 'x', { d: undefined, e: true }] };
    const copied = await item(deep);
    expect(copied).toEqual({ b: null, c: [1, 'x', { e: true }] });
    expect(Object.keys(copied!)).toEqual(['b', 'c']);
    deep.c.length = 0;
    expect(copied!.c).toHaveLength(3);
  });

  it.each<[string, (page: Response) => unknown, RegExp]>([
    ['a Date', () => ({ when: { at: new Date() } }), /item\.when\.at is a Date.*toISOString/],
    ['a Map', () => ({ map: new Map() }), /item\.map is a Map/],
    ['NaN', () => ({ price: Number('n/a') }), /item\.price is NaN/],
    ['a bigint', () => ({ id: 1n }), /item\.id is a bigint/],
    ['a function', () => ({ get: () => 1 }), /item\.get is a function/],
    ['a selection', (page) => ({ title: page.css('title::text') }), /title is a selection: call \.get\(\)/],
    ['a bare selection', (page) => page.css('a'), /with \.get\(\)/],
    ['a response', (page) => ({ page }), /page is a Response/],
    [
      'a Cheerio selection',
      (page) => ({ title: page.$('title') }),
      /title is a Cheerio selection: call \.text\(\)/,
    ],
  ])('may not hold %s; the message names the field', async (_what, value, message) => {
    await expect(runCallback(spiderOf(value), null, response())).rejects.toMatchObject({
      code: 'invalid_item',
      message: expect.stringMatching(message),
    });
  });

  it('may not lie in lists within each other without an end', async () => {
    const lists: unknown = JSON.parse('['.repeat(5_000) + ']'.repeat(5_000));
    const running = runCallback(
      spiderOf(() => lists),
      null,
      response(),
    );
    await expect(running).rejects.toMatchObject({ code: 'invalid_item' });
  });

  it('may not hold itself', async () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = { cycle };
    await expect(item(cycle)).rejects.toMatchObject({ code: 'invalid_item' });
  });

  it("is what the spider's schema makes of it, with sync and with async checks", async () => {
    const schema = z.object({ price: z.coerce.number(), tags: z.array(z.string()).default([]) });
    expect(await item({ price: '12.5', extra: 1 }, schema)).toEqual({ price: 12.5, tags: [] });
    const asynchronous = schema.refine(async ({ price }) => price > 0, 'price must be positive');
    expect(await item({ price: '1' }, asynchronous)).toEqual({ price: 1, tags: [] });
    await expect(item({ price: '-1' }, asynchronous)).rejects.toThrow('price must be positive');
  });

  it('that breaks the schema fails the page, naming each field', async () => {
    const schema = z.object({ title: z.string(), book: z.object({ price: z.number() }) });
    await expect(item({ title: null, book: { price: 'x' } }, schema)).rejects.toMatchObject({
      code: 'invalid_item',
      message: expect.stringMatching(
        /^probe\.parse failed on https:\/\/example\.org\/: .*title: .*string.* \(it is null\); book\.price: .*number.* \(it is "x"\)/,
      ),
    });
    const long = item({ title: 1, book: { price: 'x'.repeat(200) } }, schema);
    await expect(long).rejects.toThrow(/title: .* \(it is 1\); book\.price: .* \(it is "x{79}…\)/);
    await expect(item({ book: {} }, schema)).rejects.toThrow('(it has no value)');
  });

  it('that breaks the schema by a selection says so', async () => {
    const spider = spiderOf((page) => ({ title: page.css('title::text') }));
    spider.item = z.object({ title: z.string() });
    await expect(runCallback(spider, null, response())).rejects.toThrow('title is a selection');
  });

  it('is JSON after the schema too', async () => {
    await expect(item({ at: '2024-01-01' }, z.object({ at: z.coerce.date() }))).rejects.toThrow(
      'item.at is a Date',
    );
  });
});

describe('an errback', () => {
  const failure: Failure = {
    reason: 'timeout',
    status: null,
    response: null,
    request: new Request('https://example.org/slow'),
    message: 'no answer within 180 s',
  };

  class Recovering extends Spider {
    override name = 'recovering';
    async *failed({ reason, request }: Failure) {
      yield { reason, url: request.url };
      yield request.replace({ dontFilter: true });
    }
    broken(): void {
      throw new Error('twice unlucky');
    }
  }

  it('yields items and requests as a callback does', async () => {
    const { items, requests } = await runErrback(new Recovering(), 'failed', failure);
    expect(items).toEqual([{ reason: 'timeout', url: 'https://example.org/slow' }]);
    expect(requests).toHaveLength(1);
  });

  it('need not be there', async () => {
    expect(await runErrback(new Recovering(), null, failure)).toMatchObject({ items: [], requests: [] });
  });

  it('that throws is named with the request', async () => {
    await expect(runErrback(new Recovering(), 'broken', failure)).rejects.toThrow(
      'recovering.broken failed on https://example.org/slow: Error: twice unlucky',
    );
  });
});

describe('a callback that is not over in time', () => {
  const limits = { callbackTimeoutMs: 50 };
  const never = () => new Promise<never>(() => {});

  it.each<[string, (response: Response) => unknown]>([
    ['a promise', never],
    [
      'an async generator',
      async function* () {
        yield { n: 1 };
        await never();
      },
    ],
    [
      'a promise that a generator yields',
      function* () {
        yield { n: 1 };
        yield never();
      },
    ],
  ])('fails: %s', async (_, parse) => {
    await expect(runCallback(spiderOf(parse), null, response(), limits)).rejects.toMatchObject({
      code: 'callback_timeout',
      message: 'probe.parse failed on https://example.org/: it was not over after 0.05 s (CALLBACK_TIMEOUT)',
    });
  });

  it('fails as an errback too', async () => {
    class Waiting extends Probe {
      override failed(): Promise<never> {
        return never();
      }
    }
    const request = new Request('https://example.org/');
    const failure: Failure = { reason: 'timeout', status: null, response: null, message: 'late', request };
    await expect(runErrback(new Waiting(), 'failed', failure, limits)).rejects.toMatchObject({
      code: 'callback_timeout',
    });
  });

  it('is stopped at what it yields next, and adds nothing to what is kept of it', async () => {
    let goOn = () => {};
    const late = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let closed = () => {};
    const isClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const spider = spiderOf(async function* () {
      try {
        yield { n: 1 };
        await late;
        for (;;) yield { n: 2 };
      } finally {
        closed();
      }
    });
    const result = await runCallback(spider, null, response(), { ...limits, keepsErrors: true });
    expect(result.error).toMatchObject({ code: 'callback_timeout' });
    goOn();
    await isClosed;
    expect(result.items).toEqual([{ n: 1 }]);
  });
});
