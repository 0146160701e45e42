/** Pages with large bodies: their callbacks do not hold trees at the same time, and one of too many nodes fails by name. */
import { expect, it } from 'vitest';
import type { Response } from '../../../src/http/message/response.js';
import { Spider } from '../../../src/spider/spider.js';
import { crawl, freshStore } from '../../helpers/node.js';
import { startSite } from '../../helpers/sites/site.js';

const KB = 1024;

/** A site whose pages are as long as their paths say, in KB. */
const siteOfLengths = () =>
  startSite({
    pages: 0,
    handler: (request, response) => {
      const length = Number(/\d+/.exec(request.url ?? '')?.[0] ?? 0) * KB;
      response.writeHead(200, { 'content-type': 'text/html' }).end('x'.repeat(length));
      return true;
    },
  });

/** Crawls the pages, whose callbacks take a while. @returns the pages whose callbacks were running at the same time, at each start */
async function runningTogether(paths: readonly string[], bufferBytes: number): Promise<string[][]> {
  const site = await siteOfLengths();
  const running = new Set<string>();
  const seen: string[][] = [];
  class Slow extends Spider {
    override name = 'slow';
    override startUrls = paths.map((path) => new URL(path, site.url).href);
    override async parse(response: Response): Promise<void> {
      const path = new URL(response.url).pathname;
      running.add(path);
      seen.push([...running]);
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      running.delete(path);
    }
  }
  const result = await crawl(await freshStore(), Slow, { downloader: { bufferBytes } });
  expect(result).toMatchObject({ pages: paths.length, failed: 0 });
  await site.close();
  return seen;
}

it('a page with a large body does not run beside another one, and small ones do not wait', async () => {
  const large = ['/600/a', '/600/b', '/600/c', '/400/d', '/400/e'];
  const seen = await runningTogether([...large, '/1/f', '/1/g'], 16 * KB * KB);
  for (const together of seen) {
    const counted = together.filter((path) => !path.startsWith('/1/'));
    expect(counted.length).toBeLessThanOrEqual(1);
  }
});

it('pages with bodies of 32 KB and more count together', async () => {
  const paths = ['/100/a', '/100/b', '/100/c', '/100/d', '/100/e', '/100/f'];
  const seen = await runningTogether(paths, 8 * KB * KB);
  expect(Math.max(...seen.map((together) => together.length))).toBeLessThanOrEqual(2);
});

it('a page with a large body lets others go first while they get through', async () => {
  const ended: string[] = [];
  let endedBefore = 0;
  const site = await startSite({
    pages: 0,
    handler: (request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      if (request.url !== '/large') response.end('small');
      else {
        response.end('x'.repeat(16 * KB * KB), () => {
          endedBefore = ended.length;
        });
      }
      return true;
    },
  });
  const paths = ['/large', ...Array.from({ length: 300 }, (_, n) => `/${n}`)];
  class Links extends Spider {
    override name = 'links';
    override startUrls = paths.map((path) => new URL(path, site.url).href);
    override parse(response: Response): void {
      ended.push(new URL(response.url).pathname);
    }
  }
  const downloader = { maxBodyBytes: 64 * KB * KB, bufferBytes: 128 * KB * KB };
  await crawl(await freshStore(), Links, { downloader });
  await site.close();
  expect(ended).toHaveLength(301);
  expect(ended.indexOf('/large')).toBeGreaterThan(endedBefore);
});

it('a page that waits for its turn holds no slot', async () => {
  const ended: string[] = [];
  const site = await siteOfLengths();
  class Links extends Spider {
    override name = 'links';
    override startUrls = ['/4096/large', '/1/a', '/1/b'].map((path) => new URL(path, site.url).href);
    override parse(response: Response): void {
      ended.push(new URL(response.url).pathname);
    }
  }
  const downloader = { bufferBytes: 128 * KB * KB };
  await crawl(await freshStore(), Links, { downloader, options: { concurrency: 1 } });
  await site.close();
  expect(ended[0]).toBe('/1/a');
  expect(ended).toHaveLength(3);
});

it('all pages run together without a limit', async () => {
  const seen = await runningTogether(['/600/a', '/600/b', '/600/c', '/600/d'], 0);
  expect(seen.some((together) => together.length > 1)).toBe(true);
});

it('a page of too many nodes fails as too_complex, and the others are crawled', async () => {
  const site = await startSite({
    pages: 0,
    handler: (request, response) => {
      const body = request.url === '/bomb' ? '<b>'.repeat(1_001) : '<b>'.repeat(1_000);
      response.writeHead(200, { 'content-type': 'text/html' }).end(body);
      return true;
    },
  });
  class Trees extends Spider {
    override name = 'trees';
    override startUrls = ['/bomb', '/page'].map((path) => new URL(path, site.url).href);
    override *parse(response: Response): Generator<object> {
      yield { n: response.css('b').length };
    }
  }
  const choice = { options: { maxNodes: 1_000 } };
  const { pages, failed, items } = await crawl(await freshStore(), Trees, choice);
  expect({ pages, failed, items }).toEqual({ pages: 2, failed: 1, items: 1 });
  await site.close();
});
