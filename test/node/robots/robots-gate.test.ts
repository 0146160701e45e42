/** Nodes that obey robots.txt, against real sites: what is asked for, what is not, and what the site sees of it. */
import type http from 'node:http';
import zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import type { OpenOptions } from '../../../src/frontier/open-options.js';
import { Request } from '../../../src/http/message/request.js';
import type { Response } from '../../../src/http/message/response.js';
import type { NodeOptions } from '../../../src/node/node.js';
import type { Failure } from '../../../src/spider/run-callback.js';
import { Spider } from '../../../src/spider/spider.js';
import { crawl, freshStore, type NodeChoice, nodeOptions, startNode } from '../../helpers/node.js';
import { openOptions } from '../../helpers/open-options.js';
import { httpAnswer, rawSite } from '../../helpers/sites/raw-site.js';
import { type Site, type SiteOptions, startSite } from '../../helpers/sites/site.js';
import { tempDir } from '../../helpers/temp-dir.js';

const obeys = { userAgent: null, defaultUserAgent: 'crawlnode (+https://a.test)', crawlDelayMaxMs: 60_000 };

/** A node that obeys robots.txt. */
function node(some: Partial<NodeOptions> = {}, more: NodeChoice = {}): NodeChoice {
  return { ...more, options: { robots: obeys, ...some } };
}

type Answer = (response: http.ServerResponse, nth: number) => void;

/** A site whose robots.txt is this. */
function site(robots: string | Answer, options: SiteOptions = {}): Promise<Site> {
  let asked = 0;
  return startSite({
    pages: 8,
    ...options,
    handler: (request, response) => {
      if (request.url !== '/robots.txt') return options.handler?.(request, response) ?? false;
      asked += 1;
      if (typeof robots === 'string') response.writeHead(200, { 'content-type': 'text/plain' }).end(robots);
      else robots(response, asked);
      return true;
    },
  });
}

/** A spider that follows every link, and notes the failures of its pages. */
function follower(startUrls: readonly string[], failures: Failure[] = [], seen: string[] = []) {
  return class extends Spider {
    override name = 'follower';
    override startUrls = [...startUrls];
    override *parse(response: Response) {
      seen.push(response.url);
      yield* response.followAll('a', this.parse, { errback: this.failed });
    }
    failed(failure: Failure) {
      failures.push(failure);
    }
  };
}

async function countersOf(open: OpenOptions): Promise<Readonly<Record<string, number>>> {
  const frontier = await openFrontier(open);
  try {
    return (await frontier.snapshot()).counters;
  } finally {
    await frontier.close();
  }
}

/**
 * Each request came a whole delay after the one before, by the instants at which they were allowed. A busy machine brings a
 * request late, and so nearer to the next one, but never early: the nth comes no sooner than n delays after the beginning.
 */
function expectDelays({ log }: Site, beganAtMs: number, delayMs: number): void {
  const times = log.map(({ atMs }) => atMs - beganAtMs).sort((a, b) => a - b);
  for (const [n, atMs] of times.entries()) expect(atMs, `${times}`).toBeGreaterThanOrEqual(n * delayMs - 20);
}

const askedFor = (site: Site, path: string): number => site.log.filter((entry) => entry.path === path).length;
const stores = {
  redis: freshStore,
  embedded: async () => openOptions(tempDir('robots').dir, 'crawl'),
};

describe.each(Object.entries(stores))('a crawl that obeys robots.txt (%s)', (_, store) => {
  it('asks for it once, whatever the number of nodes, and for no page that it forbids', async () => {
    const served = await site('User-agent: *\nDisallow: /page/3.html\nDisallow: /page/5.html', {
      delayMs: 5,
    });
    const open = await store();
    const failures: Failure[] = [];
    const Follower = follower([served.url], failures);
    const nodes = await Promise.all(
      [1, 2, 3, 4].map((n) => startNode(open, Follower, node({ concurrency: 4 }, { id: `node-${n}` }))),
    );
    const results = await Promise.all(nodes.map(({ result }) => result));
    expect(askedFor(served, '/robots.txt')).toBe(1);
    expect(served.compare()).toEqual({ missing: ['/page/3.html', '/page/5.html'], twice: [] });
    expect(failures.map(({ reason, status }) => [reason, status])).toEqual([
      ['robots_forbidden', null],
      ['robots_forbidden', null],
    ]);
    const ends = results.flatMap(({ deadEnds }) => deadEnds);
    expect(ends.reduce((sum, { count }) => sum + count, 0)).toBe(2);
    expect(ends[0]).toMatchObject({
      what: 'forbidden by robots.txt',
      example: expect.stringMatching(/[35]/),
    });
    const counters = await countersOf(open);
    expect(counters).toMatchObject({
      'robotstxt/request_count': 1,
      'robotstxt/response_count': 1,
      'robotstxt/response_status_count/200': 1,
      'robotstxt/forbidden': 2,
      'downloader/request_count': 6,
    });
    expect(results.reduce((sum, { failed }) => sum + failed, 0)).toBe(0);
  });

  it('counts neither robots.txt nor a forbidden page against the budget of pages', async () => {
    const served = await site('User-agent: *\nDisallow: /page/1.html', { pages: 20 });
    const open = await store();
    const budgets = { maxPages: 5, maxItems: 0, maxErrors: 0, maxRunMs: 0 };
    const result = await crawl(open, follower([served.url]), node({ budgets }));
    expect(result.reason).toBe('closespider_pagecount');
    expect(served.log).toHaveLength(6);
  });

  it('keeps the delay of the domain between robots.txt, its redirects and the pages', async () => {
    const moved: Answer = (response) => response.writeHead(301, { location: '/r.txt' }).end();
    const served = await site(moved, {
      pages: 3,
      handler: (request, response) => {
        if (request.url !== '/r.txt') return false;
        response.writeHead(200).end('User-agent: *\nDisallow: /page/2.html');
        return true;
      },
    });
    const delayMs = 300;
    const tunables = { ...nodeOptions().tunables, delayMs };
    const open = await store();
    const beganAtMs = Date.now();
    await crawl(open, follower([served.url]), node({ tunables }));
    expect(served.log.map(({ path }) => path)).toEqual(['/robots.txt', '/r.txt', '/', '/page/1.html']);
    expectDelays(served, beganAtMs, delayMs);
  });

  it('makes a Crawl-delay the delay of the domain, cut to the longest that is obeyed', async () => {
    const served = await site('User-agent: crawlnode\nCrawl-delay: 3600', { pages: 3 });
    const robots = { ...obeys, crawlDelayMaxMs: 200 };
    const open = await store();
    const beganAtMs = Date.now();
    await crawl(open, follower([served.url]), node({ robots }));
    expect(served.compare()).toEqual({ missing: [], twice: [] });
    expect(askedFor(served, '/robots.txt')).toBe(1);
    expect(served.log).toHaveLength(4);
    expectDelays(served, beganAtMs, 200);
  });

  it('waits for a robots.txt that fails for a while, and crawls other sites meanwhile', async () => {
    const broken = await site((response, nth) => response.writeHead(nth < 3 ? 503 : 200).end(''), {
      pages: 2,
    });
    const good = await site('', { pages: 4, host: '127.0.0.2' });
    const open = await store();
    await crawl(open, follower([broken.url, good.url]), node());
    expect(broken.compare().missing).toEqual([]);
    expect(good.compare().missing).toEqual([]);
    expect(askedFor(broken, '/robots.txt')).toBe(3);
    const firstPage = broken.log.find(({ path }) => path === '/')!.atMs;
    expect(good.log.at(-1)!.atMs).toBeLessThan(firstPage);
    const counters = await countersOf(open);
    expect(counters).toMatchObject({
      'robotstxt/request_count': 4,
      'robotstxt/response_status_count/503': 2,
    });
  });

  it('fails the pages of a robots.txt that goes on failing, after as many attempts as a page has', async () => {
    const broken = await site((response) => response.writeHead(500).end('User-agent: *\nAllow: /'));
    const open = await store();
    const urls = broken.urls.slice(0, 3);
    const failures: Failure[] = [];
    const result = await crawl(open, follower(urls, failures), node());
    expect(result).toMatchObject({ reason: 'finished', failed: 3 });
    expect(broken.log.map(({ path }) => path)).toEqual(['/robots.txt', '/robots.txt', '/robots.txt']);
    const frontier = await openFrontier(open);
    const { requests } = await frontier.failed.list(null, 10);
    expect(requests.map(({ reason }) => reason)).toEqual(Array(3).fill('robots_unreachable'));
    expect(requests[0]!.detail).toContain('answered 500');
    await frontier.close();
  });

  it('tells an errback why the host of a robots.txt cannot be asked, and the failed list both', async () => {
    const start = await site('', {
      handler: ({ url }, response) => {
        if (url !== '/') return false;
        const links = ['a', 'b'].map((path) => `<a href="http://127.0.0.1:1/${path}">${path}</a>`);
        response.writeHead(200, { 'content-type': 'text/html' }).end(links.join(''));
        return true;
      },
    });
    const open = await store();
    const failures: Failure[] = [];
    await crawl(open, follower([start.url], failures), node());
    const refused = { reason: 'connection_refused', status: null, response: null };
    expect(failures).toEqual([expect.objectContaining(refused), expect.objectContaining(refused)]);
    const frontier = await openFrontier(open);
    const { requests } = await frontier.failed.list(null, 10);
    const both = { reason: 'robots_unreachable', detail: expect.stringContaining('(connection_refused)') };
    expect(requests).toEqual([expect.objectContaining(both), expect.objectContaining(both)]);
    await frontier.close();
  });
});

describe('a node that obeys robots.txt', () => {
  const pagesOf = async (robots: string | Answer): Promise<number> => {
    const served = await site(robots, { pages: 3 });
    await crawl(await freshStore(), follower([served.url]), node());
    return served.fetched().size;
  };

  it('is forbidden by the rules for its name, or for the one that is set', async () => {
    const served = await site('User-agent: crawlnode\nDisallow: /\n\nUser-agent: Other\nAllow: /');
    await crawl(await freshStore(), follower([served.url]), node());
    expect(served.fetched().size).toBe(0);
    await crawl(
      await freshStore(),
      follower([served.url]),
      node({ robots: { ...obeys, userAgent: 'other' } }),
    );
    expect(served.compare().missing).toEqual([]);
  });

  it('asks for what a request with dont_obey_robotstxt wants, and judges one by its own User-Agent', async () => {
    const served = await site('User-agent: crawlnode\nDisallow: /');
    class Rude extends Spider {
      override name = 'rude';
      override startUrls = [
        new Request(`${served.origin}/page/1.html`, { meta: { dont_obey_robotstxt: true } }),
        new Request(`${served.origin}/page/2.html`, { headers: { 'User-Agent': 'Friend/1.0' } }),
        new Request(`${served.origin}/page/3.html`),
        new Request(`${served.origin}/robots.txt`),
      ];
      override parse() {}
    }
    await crawl(await freshStore(), Rude, node());
    expect([...served.fetched().keys()].sort()).toEqual(['/page/1.html', '/page/2.html']);
    expect(askedFor(served, '/robots.txt')).toBe(2);
  });

  it('is forbidden nothing by a 404, by an HTML page, or by a redirect that does not end', async () => {
    expect(await pagesOf((response) => response.writeHead(404).end('User-agent: *\nDisallow: /'))).toBe(3);
    expect(await pagesOf('<!doctype html>\n<p>\nUser-agent: *\nDisallow: /')).toBe(3);
    expect(await pagesOf((response) => response.writeHead(302, { location: '/robots.txt' }).end())).toBe(3);
  });

  it('reads the beginning of an endless robots.txt, and holds on to no more', async () => {
    const endless: Answer = (response) => {
      response
        .writeHead(200, { 'content-type': 'text/plain' })
        .write('User-agent: *\nDisallow: /page/1.html\n');
      const more = () => {
        while (!response.destroyed && response.write('# more\n'.repeat(1_000)));
      };
      response.on('drain', more);
      more();
    };
    const served = await site(endless, { pages: 3 });
    await crawl(await freshStore(), follower([served.url]), node());
    expect(served.compare()).toEqual({ missing: ['/page/1.html'], twice: [] });
  });

  it('obeys the beginning of a compressed robots.txt that inflates to more than any body may', async () => {
    const rules = Buffer.concat([
      Buffer.from('User-agent: *\nDisallow: /\n'),
      Buffer.alloc(16_000_000, '# \n'),
    ]);
    const packed: Answer = (response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(zlib.gzipSync(rules));
    const served = await site(packed, { pages: 3 });
    const open = await freshStore();
    await crawl(open, follower([served.url]), node());
    expect(await countersOf(open)).toMatchObject({ 'robotstxt/forbidden': 1 });
  });

  it('reads a robots.txt that is not valid HTTP on the second attempt', async () => {
    const odd = await rawSite((socket, head) => {
      const isRobots = head.startsWith('GET /robots.txt ');
      socket.write(
        isRobots ? httpAnswer('User-agent: *\nDisallow: /', ['x-odd: a\x01b']) : httpAnswer('page'),
      );
    });
    const open = await freshStore();
    const retry = { enabled: true, times: 2, httpCodes: [], priorityAdjust: 0, retryAfterCapMs: 0 };
    await crawl(open, follower([odd.url]), node({ retry: { ...retry, baseMs: 20, capMs: 100 } }));
    expect(await countersOf(open)).toMatchObject({ 'robotstxt/request_count': 2, 'robotstxt/forbidden': 1 });
    await odd.close();
  });

  it('follows a redirect of robots.txt to another host', async () => {
    const other = await site('User-agent: *\nDisallow: /page/1.html', { host: '127.0.0.2' });
    const location = `${other.origin}/robots.txt`;
    const served = await site((response) => response.writeHead(301, { location }).end(), { pages: 3 });
    await crawl(await freshStore(), follower([served.url]), node());
    expect(served.compare()).toEqual({ missing: ['/page/1.html'], twice: [] });
    expect(other.log).toHaveLength(1);
  });

  it('fails the pages of a host that cannot be reached, and no other', async () => {
    const gone = await startSite();
    await gone.close();
    const served = await site('', { pages: 3, host: '127.0.0.2' });
    const open = await freshStore();
    const result = await crawl(open, follower([gone.url, served.url]), node());
    expect(result).toMatchObject({ failed: 1 });
    expect(served.compare().missing).toEqual([]);
    expect((await countersOf(open))['robotstxt/exception_count/connection_refused']).toBe(3);
  });

  it('lets no seed at a private address keep the pages there from a trusted start', async () => {
    const served = await site('', { pages: 2 });
    const open = await freshStore();
    const outsider = await openFrontier(open);
    await outsider.appendSeeds([`${served.origin}/page/1.html?untrusted`]);
    await outsider.close();
    const downloader = { allowPrivateAddresses: false };
    expect(await crawl(open, follower([]), node({}, { downloader }))).toMatchObject({ pages: 0, failed: 0 });
    expect(await crawl(open, follower([served.url]), node({}, { downloader }))).toMatchObject({ failed: 0 });
    expect(served.compare().missing).toEqual([]);
  });
});
