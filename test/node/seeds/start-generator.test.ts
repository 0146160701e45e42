/** `start()`: a generator of start requests, run by one node and read as fast as it is crawled. */
import { describe, expect, it } from 'vitest';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import { Request } from '../../../src/http/message/request.js';
import type { Response } from '../../../src/http/message/response.js';
import { silentLogger } from '../../../src/log.js';
import { Spider } from '../../../src/spider/spider.js';
import { crawl, freshStore, nodeOptions, startNode } from '../../helpers/node.js';
import { startSite } from '../../helpers/sites/site.js';
import { waitFor } from '../../helpers/wait-for.js';

const { tunables: slow } = nodeOptions();

/** A site that has every page asked for. */
const siteOfAll = () =>
  startSite({
    pages: 0,
    handler: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('ok');
      return true;
    },
  });

describe('start()', () => {
  it.each(['sync', 'async', 'list'])(
    'of a %s kind replaces startUrls, and the crawl ends after it',
    async (kind) => {
      const site = await siteOfAll();
      const urls = Array.from({ length: 1_200 }, (_, n) => `${site.origin}/${n}`);
      class Start extends Spider {
        override name = 'start';
        override startUrls = [`${site.origin}/not-this`];
        override start() {
          if (kind === 'sync') return this.sync();
          return kind === 'async' ? this.async() : Promise.resolve(urls);
        }
        *sync() {
          for (const url of urls) yield new Request(url, { callback: this.parseItem });
        }
        async *async() {
          for (const url of urls) {
            await Promise.resolve();
            yield url;
          }
        }
        override parse(response: Response) {
          return { url: response.url };
        }
        parseItem(response: Response) {
          return { url: response.url };
        }
      }
      const open = await freshStore();
      expect(await crawl(open, Start)).toMatchObject({ reason: 'finished', items: urls.length, failed: 0 });
      expect(new Set(site.log.map(({ path }) => path)).size).toBe(urls.length);
      expect(await crawl(open, Start)).toMatchObject({
        pages: 0,
        message: expect.stringContaining('an earlier run pushed the start requests'),
      });
    },
  );

  it('is read no further while many of its requests wait', async () => {
    const site = await siteOfAll();
    let given = 0;
    class Endless extends Spider {
      override name = 'endless';
      override *start() {
        for (;;) yield `${site.origin}/${given++}`;
      }
      override parse() {}
    }
    const open = await freshStore();
    const options = { tunables: { ...slow, queueLimit: 1_000 } };
    const { frontier, drain, result } = await startNode(open, Endless, { options });
    await waitFor(async () => (await frontier.snapshot()).pending >= 1_000);
    await waitFor(() => site.log.length >= 20);
    // The limit, a batch of start requests in excess of it, and one that is read ahead.
    expect(given).toBeLessThanOrEqual(3_000);
    drain();
    expect((await result).reason).toBe('shutdown');
  });

  it('gives what it has while it waits for more', async () => {
    const site = await siteOfAll();
    let more: () => void = () => {};
    class Slow extends Spider {
      override name = 'slow';
      override async *start() {
        yield `${site.origin}/first`;
        await new Promise<void>((resolve) => {
          more = resolve;
        });
        yield `${site.origin}/second`;
      }
      override parse() {}
    }
    const { result } = await startNode(await freshStore(), Slow);
    await waitFor(() => site.log.length === 1);
    more();
    expect(await result).toMatchObject({ reason: 'finished', pages: 2 });
  });

  it.each(['a generator', 'a function'])(
    'of %s that gives nothing and never ends is named in warnings, ever more rarely',
    async (kind) => {
      const never = () => new Promise<never>(() => {});
      class Silent extends Spider {
        override name = 'silent';
        override start() {
          return kind === 'a generator' ? this.generator() : never();
        }
        async *generator(): AsyncGenerator<string> {
          yield await never();
        }
        override parse() {}
      }
      const warnings: string[] = [];
      const log = { ...silentLogger, warn: (_: object, text: string) => void warnings.push(text) };
      const options = { callbackTimeoutMs: 100 };
      const { drain, result } = await startNode(await freshStore(), Silent, { options, log });
      await waitFor(() => warnings.length >= 3);
      drain();
      await result;
      const told =
        /^start\(\) of the spider "silent" has given nothing and has not ended for ([\d.]+) s; the crawl is not complete/;
      for (const [n, text] of warnings.entries()) {
        expect(Number(told.exec(text)?.[1])).toBeGreaterThanOrEqual(0.1 * 2 ** n);
      }
    },
  );

  it('that throws ends the node; what it gave before is pushed, and the next node runs it from its beginning', async () => {
    const site = await siteOfAll();
    let isBroken = true;
    class Broken extends Spider {
      override name = 'broken';
      override *start() {
        yield `${site.origin}/1`;
        if (isBroken) throw new Error('the database is gone');
        yield `${site.origin}/2`;
      }
      override parse() {}
    }
    const open = await freshStore();
    await expect(crawl(open, Broken)).rejects.toMatchObject({
      code: 'start_failed',
      message: expect.stringMatching(
        /start\(\) of the spider "broken" failed after 1 request: the database is gone/,
      ),
    });
    expect(await pendingIn(open)).toBe(1);
    isBroken = false;
    expect(await crawl(open, Broken)).toMatchObject({ reason: 'finished' });
    expect(site.log.map(({ path }) => path).sort()).toEqual(['/1', '/2']);
  });

  it('may yield requests and URLs only', async () => {
    class Items extends Spider {
      override name = 'items';
      override *start(): Generator<never> {
        yield 'http://127.0.0.1:1/before' as never;
        yield { url: 'http://a.example/' } as never;
      }
    }
    const open = await freshStore();
    await expect(crawl(open, Items)).rejects.toThrow(
      'it yielded an object where a Request or a URL is needed',
    );
    expect(await pendingIn(open)).toBe(1);
    class Nothing extends Items {
      override start() {
        return undefined as never;
      }
    }
    await expect(crawl(await freshStore(), Nothing)).rejects.toThrow('it must be a generator');
  });

  it('of 2,000 requests whose node is declared dead is run by others: each is fetched once, none is missing', async () => {
    const site = await siteOfAll();
    const count = 2_000;
    class Many extends Spider {
      override name = 'many';
      override async *start() {
        for (let n = 0; n < count; n++) {
          if (n % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
          yield new Request(`${site.origin}/${n}`, { dontFilter: n % 2 === 0 });
        }
      }
      override parse() {}
    }
    const open = await freshStore();
    const options = {
      concurrency: 8,
      heartbeatMs: 200,
      tunables: { ...slow, delayMs: 0, nodeTimeoutMs: 1_000 },
    };
    const one = await startNode(open, Many, { id: 'one', options });
    const two = await startNode(open, Many, { id: 'two', options });
    await waitFor(() => site.log.length >= 300);
    one.force();
    await one.result;
    const three = await startNode(open, Many, { id: 'three', options });
    await waitFor(() => site.log.length >= 900);
    two.force();
    await two.result;
    expect(await three.result).toMatchObject({ reason: 'finished' });
    const frontier = await openFrontier(open);
    const { done, pending } = await frontier.snapshot();
    expect(await frontier.verify()).toEqual([]);
    await frontier.close();
    expect({ done, pending }).toEqual({ done: count, pending: 0 });
    expect(new Set(site.log.filter(({ status }) => status === 200).map(({ path }) => path)).size).toBe(count);
  });
});

async function pendingIn(open: Awaited<ReturnType<typeof freshStore>>): Promise<number> {
  const frontier = await openFrontier(open);
  const { pending } = await frontier.snapshot();
  await frontier.close();
  return pending;
}
