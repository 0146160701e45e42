/** What a node tells its user while it crawls: pages it gave up, peers that died, a crawl that runs dry, a store that restarts. */
import { describe, expect, it } from 'vitest';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import { Request, type Yielded } from '../../../src/http/message/request.js';
import type { Response } from '../../../src/http/message/response.js';
import type { Logger } from '../../../src/log.js';
import { Spider } from '../../../src/spider/spider.js';
import { defaultTunables, joinAs } from '../../helpers/joining.js';
import { crawl, freshStore, startNode } from '../../helpers/node.js';
import { openOptions } from '../../helpers/open-options.js';
import { startRedis } from '../../helpers/redis/redis-server.js';
import { startSite } from '../../helpers/sites/site.js';
import { waitFor } from '../../helpers/wait-for.js';

/** A logger that keeps its lines as `level message`. */
function recorder(): { readonly said: string[]; readonly log: Logger } {
  const said: string[] = [];
  const keep = (level: string) => (_: object, text?: string) => void said.push(`${level} ${text}`);
  return { said, log: { debug: () => {}, info: keep('info'), warn: keep('warn'), error: keep('error') } };
}

/** Fetches these pages of a site; none of them is a start page. */
function fetcher(start: string, paths: readonly string[]) {
  return class Fetch extends Spider {
    override name = 'fetch';
    override startUrls = [start];
    override *parse(response: Response): Generator<Yielded> {
      yield { url: response.url };
      if (response.url !== start) return;
      for (const path of paths) {
        yield new Request(response.urljoin(path), path.endsWith('?errback') ? { errback: this.lost } : {});
      }
    }
    lost() {}
  };
}

describe('the log of a node', () => {
  it('warns of a page that was given up, tells of one that no callback wants, and of a Retry-After', async () => {
    let refused = 0;
    const site = await startSite({
      pages: 1,
      handler: ({ url }, response) => {
        if (url === '/broken') response.writeHead(500).end();
        else if (url?.startsWith('/none')) response.writeHead(404).end();
        else if (url === '/busy' && refused++ === 0) response.writeHead(429, { 'retry-after': '1' }).end();
        else return false;
        return true;
      },
    });
    const { said, log } = recorder();
    const Fetch = fetcher(site.url, ['/broken', '/none', '/none?errback', '/busy']);
    expect(await crawl(await freshStore(), Fetch, { log })).toMatchObject({ failed: 1 });
    const broken = `${site.origin}/broken`;
    expect(said).toContainEqual(
      expect.stringMatching(
        new RegExp(`^warn gave up on a page after \\d+ attempts: ${broken} answered 500`),
      ),
    );
    expect(said).toContainEqual(`info no callback is called for this page: ${site.origin}/none answered 404`);
    expect(said).toContainEqual(
      `info the errback, not the callback, is called for this page: ${site.origin}/none?errback answered 404`,
    );
    expect(said).toContainEqual(
      `info ${new URL(site.url).host} answered 429 with Retry-After: no requests to it for 1 s`,
    );
    await site.close();
  });

  it('has no line for a page that went well, and one at most for any other', async () => {
    const site = await startSite({
      pages: 4,
      handler: ({ url }, response) => {
        if (url !== '/none') return false;
        response.writeHead(404).end();
        return true;
      },
    });
    const { said, log } = recorder();
    const good = [1, 2, 3].map((n) => `/page/${n}.html`);
    expect(await crawl(await freshStore(), fetcher(site.url, [...good, '/none']), { log })).toMatchObject({
      pages: 5,
    });
    const linesOf = (path: string) => said.filter((line) => line.includes(path)).length;
    expect([...good, '/none'].map(linesOf)).toEqual([0, 0, 0, 1]);
    await site.close();
  });

  it('names a peer that died, with what goes back', async () => {
    const site = await startSite({ pages: 1 });
    const open = await freshStore();
    const Fetch = fetcher(site.url, []);
    const tunables = { ...defaultTunables, nodeTimeoutMs: 1_000 };
    const doomed = await openFrontier(open);
    await joinAs(doomed, { id: 'doomed', tunables });
    const { said, log } = recorder();
    const node = await startNode(open, Fetch, {
      log,
      options: { tunables, heartbeatMs: 200, exitWhenDone: false },
    });
    await waitFor(() => said.some((line) => line.includes('the node doomed counts as dead')));
    expect(said).toContainEqual('warn the node doomed counts as dead: it had nothing in progress');
    node.drain();
    await node.result;
    await doomed.close();
    await site.close();
  });

  it('says each time that the crawl has run dry, with totals and time', async () => {
    const site = await startSite({ pages: 3 });
    const { said, log } = recorder();
    const Fetch = fetcher(site.url, ['/page/2.html', '/none']);
    const node = await startNode(await freshStore(), Fetch, { log, options: { exitWhenDone: false } });
    await waitFor(() => said.some((line) => line.includes('nothing is left to crawl')));
    expect(said).toContainEqual(
      expect.stringMatching(
        /^info nothing is left to crawl, after [\d.]+ s: 3 pages, 2 items, 0 failed in the whole crawl; this node waits for seeds/,
      ),
    );
    node.drain();
    expect(await node.result).toMatchObject({
      crawl: { pages: 3, items: 2, failed: 0 },
      run: { items: 2, failed: 0, isOver: true },
    });
    await site.close();
  });

  it('blames a Redis that was restarted, not its own silence', async () => {
    const redis = await startRedis({ persist: true });
    const site = await startSite({ pages: 40, delayMs: () => 30 });
    const { said, log } = recorder();
    const Fetch = fetcher(site.url, site.urls.slice(1));
    const node = await startNode(openOptions(redis.url, 'restarted'), Fetch, {
      log,
      options: { concurrency: 2, heartbeatMs: 500 },
    });
    await waitFor(() => site.log.length > 5);
    await redis.restart();
    expect(await node.result).toMatchObject({ reason: 'finished' });
    expect(said.filter((line) => /joins the crawl anew/.test(line))).toEqual([
      expect.stringMatching(/^warn the Redis server was restarted or replaced/),
    ]);
    expect(said.join('\n')).not.toMatch(/count it as dead|declared dead/);
    expect(site.compare()).toMatchObject({ missing: [] });
    await redis.stop();
    await site.close();
  });
});
