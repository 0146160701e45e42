/** How a crawl ends by itself, and how it begins again: budgets, idleness, a full queue, a second run, refresh rules. */
import { describe, expect, it } from 'vitest';
import { noBudgets } from '../../../src/frontier/budgets.js';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import type { Budgets } from '../../../src/frontier/frontier.js';
import type { CallbackResults, Yielded } from '../../../src/http/message/request.js';
import type { Response } from '../../../src/http/message/response.js';
import { type Logger, silentLogger } from '../../../src/log.js';
import type { NodeOptions } from '../../../src/node/node-options.js';
import type { RefreshRule } from '../../../src/spider/refresh.js';
import { Spider } from '../../../src/spider/spider.js';
import { defaultTunables, joinAs } from '../../helpers/joining.js';
import { crawl, freshStore, startNode } from '../../helpers/node.js';
import { defaultShape } from '../../helpers/open-options.js';
import { startSite } from '../../helpers/sites/site.js';
import { waitFor } from '../../helpers/wait-for.js';

/** A frontier of its own, and a client to look at it with. */
async function stage() {
  const open = await freshStore();
  const outsider = await openFrontier(open);
  return { open, outsider, closeOutsider: () => outsider.close() };
}

/** A spider that follows every link and yields every page. */
function walker(startUrls: string[], more: { refresh?: RefreshRule[]; thrower?: boolean } = {}) {
  return class Walk extends Spider {
    override name = 'walk';
    override startUrls = startUrls;
    constructor() {
      super();
      if (more.refresh !== undefined) this.refresh = more.refresh;
    }
    override *parse(response: Response): Generator<Yielded> {
      yield { url: response.url };
      yield* response.followAll(response.links());
      if (more.thrower) throw new TypeError('not today');
    }
  };
}

class SeedsOnly extends Spider {
  override name = 'walk';
  override parse(response: Response): CallbackResults {
    return { url: response.url };
  }
}

const budgets = (some: Partial<Budgets>) => ({ options: { budgets: { ...noBudgets, ...some } } });
const service = (some: Partial<NodeOptions>) => ({ options: { exitWhenDone: false, ...some } });

/** A logger that keeps its warnings. */
function warnings() {
  const said: string[] = [];
  const quiet = () => {};
  const log: Logger = { debug: quiet, info: quiet, warn: (_, text) => said.push(text ?? ''), error: quiet };
  return { said, log };
}

describe('a budget over two nodes', () => {
  it('of items is exact where each page gives one, and what was in progress waits for the next run', async () => {
    const site = await startSite({ pages: 60, delayMs: 20 });
    const { open, outsider, closeOutsider } = await stage();
    const Walk = walker([site.url]);
    const ends = await Promise.all([
      crawl(open, Walk, { id: 'one', ...budgets({ maxItems: 7 }) }),
      crawl(open, Walk, { id: 'two', ...budgets({ maxItems: 7 }) }),
    ]);
    for (const { reason, exitCode } of ends) {
      expect({ reason, exitCode }).toEqual({ reason: 'closespider_itemcount', exitCode: 0 });
    }
    expect(ends.reduce((sum, { items }) => sum + items, 0)).toBe(7);
    const left = await outsider.snapshot();
    expect(left).toMatchObject({ items: 7, leased: 0, counters: { item_scraped_count: 7 } });
    expect(left.run?.closed).toBe('closespider_itemcount');

    await crawl(open, Walk);
    expect((await outsider.snapshot()).items).toBe(60);
    expect(site.compare().missing).toEqual([]);
    expect(await outsider.verify()).toEqual([]);
    await closeOutsider();
  });

  it('of errors counts what spider code throws', async () => {
    const site = await startSite({ pages: 40 });
    const { open, outsider, closeOutsider } = await stage();
    const { reason } = await crawl(open, walker(site.urls.slice(), { thrower: true }), {
      options: { concurrency: 1, budgets: { ...noBudgets, maxErrors: 3 } },
    });
    expect(reason).toBe('closespider_errorcount');
    expect(await outsider.snapshot()).toMatchObject({ failed: 3, pending: 37, items: 0 });
    await closeOutsider();
  });

  it('of time ends a crawl that would go on, finishing what is in progress', async () => {
    const site = await startSite({ pages: 500, delayMs: 50 });
    const { open, outsider, closeOutsider } = await stage();
    const choice = service({ concurrency: 2, budgets: { ...noBudgets, maxRunMs: 400 } });
    const { reason, exitCode } = await crawl(open, walker([site.url]), choice);
    expect({ reason, exitCode }).toEqual({ reason: 'closespider_timeout', exitCode: 0 });
    const left = await outsider.snapshot();
    expect(left.done).toBe(site.fetched().size);
    expect(left.leased).toBe(0);
    expect(left.pending).toBeGreaterThan(0);
    await closeOutsider();
  });

  it('that has just closed the run turns a late node away, which says why', async () => {
    const site = await startSite({ pages: 20 });
    const { open, closeOutsider } = await stage();
    await crawl(open, walker([site.url]), budgets({ maxItems: 3 }));
    const late = await crawl(open, walker([site.url]), budgets({ maxItems: 3 }));
    expect(late).toMatchObject({ reason: 'closespider_itemcount', exitCode: 0, pages: 0 });
    expect(late.message).toMatch(/the same budget closed the run less than 5 s ago/);
    await closeOutsider();
  });
});

describe('a cluster that is idle for too long', () => {
  it('is left by all its nodes, with a sentence; never while one still has a page in progress', async () => {
    let release = () => {};
    const site = await startSite({
      pages: 3,
      extraLinks: 0,
      handler: ({ url }, response) => {
        if (url !== '/page/2.html') return false;
        release = () => void response.writeHead(200, { 'content-type': 'text/html' }).end('last');
        return true;
      },
    });
    const { open, closeOutsider } = await stage();
    const choice = service({ maxIdleMs: 300 });
    const nodes = [
      await startNode(open, walker([site.url]), { id: 'one', ...choice }),
      await startNode(open, walker([site.url]), { id: 'two', ...choice }),
    ];
    const ended: number[] = [];
    for (const [n, { result }] of nodes.entries()) void result.then(() => ended.push(n));
    await waitFor(() => site.fetched().size === 2, { what: 'the two quick pages' });
    const releasedAt = performance.now();
    await waitFor(() => performance.now() - releasedAt > 900, { what: 'three times the idle time' });
    expect(ended).toEqual([]);
    release();
    for (const { result } of nodes) {
      expect(await result).toMatchObject({
        ...{ reason: 'finished', exitCode: 0 },
        message: 'there was nothing to do on any node for 0.3 s (MAX_IDLE_TIME_BEFORE_CLOSE)',
      });
    }
    await closeOutsider();
  });

  it('stays while a request is delayed, and while the crawl is paused', async () => {
    const site = await startSite({ pages: 1, failing: { '/': 1 } });
    const { open, outsider, closeOutsider } = await stage();
    const retry = { enabled: true, times: 2, httpCodes: [503], priorityAdjust: -1 };
    const slow = { ...retry, baseMs: 1_200, capMs: 1_200, retryAfterCapMs: 0 };
    const node = await startNode(open, walker([site.url]), service({ maxIdleMs: 300, retry: slow }));
    await waitFor(() => site.fetched().size === 1, { what: 'the page that is tried again' });
    await outsider.control('paused');
    await waitFor(async () => (await node.frontier.lease(0, 0)).crawl.idleMs > 600, { what: 'idleness' });
    expect((await outsider.snapshot()).nodes).toHaveLength(1);
    await outsider.control('running');
    expect(await node.result).toMatchObject({ reason: 'finished' });
    await closeOutsider();
  });
});

describe('a finished crawl that does not persist', () => {
  const shape = { ...defaultShape, persist: false };

  /** A crawl of three pages beside a node that has joined and is heard of no more. */
  async function besideSilent(nodeTimeoutMs: number) {
    const site = await startSite({ pages: 3, extraLinks: 0 });
    const { open: plain, outsider, closeOutsider } = await stage();
    const open = { ...plain, shape };
    const tunables = { ...defaultTunables, nodeTimeoutMs };
    const silent = await openFrontier(open);
    await joinAs(silent, { id: 'silent', shape, tunables, hasStart: true });
    const said: string[] = [];
    const log: Logger = { ...silentLogger, info: (_, text) => said.push(text ?? '') };
    const node = await startNode(open, walker([site.url]), { log, options: { shape, tunables } });
    const waits = () => said.filter((text) => /silent:.* did not leave and send no heartbeat/.test(text));
    const close = async () => {
      await silent.close();
      await closeOutsider();
    };
    return { site, open, outsider, node, waits, close };
  }

  it('is cleared by the last node that lives, once the silent one counts as dead; it says once why it stays', async () => {
    const { outsider, node, waits, close } = await besideSilent(4_000);
    expect(await node.result).toMatchObject({ reason: 'finished', exitCode: 0, pages: 3 });
    expect(waits()).toEqual([expect.stringMatching(/stays until they count as dead, \d s at most/)]);
    expect(await outsider.snapshot()).toMatchObject({ seen: 0, done: 0, items: 3, nodes: [], silent: [] });
    await close();
  });

  it('holds its last node no longer than until a signal', async () => {
    const { outsider, node, waits, close } = await besideSilent(600_000);
    await waitFor(() => waits().length > 0, { what: 'a word on why it stays' });
    node.drain();
    expect(await node.result).toMatchObject({ reason: 'shutdown', exitCode: 0, pages: 3 });
    expect(await outsider.snapshot()).toMatchObject({ seen: 3, nodes: [{ id: 'silent' }] });
    await close();
  });

  it('goes on when work comes while its last node stays', async () => {
    const { site, outsider, node, waits, close } = await besideSilent(600_000);
    await waitFor(() => waits().length > 0, { what: 'a word on why it stays' });
    await outsider.appendSeeds([`${site.origin}/page/1.html?again`]);
    await waitFor(async () => (await outsider.snapshot()).done === 4, { what: 'the page of the seed' });
    expect(waits()).toHaveLength(1);
    node.drain();
    await node.result;
    await close();
  });

  it('holds none of two that live, and the second clears', async () => {
    const site = await startSite({ pages: 20 });
    const { open: plain, outsider, closeOutsider } = await stage();
    const open = { ...plain, shape };
    const choice = { options: { shape, tunables: { ...defaultTunables, nodeTimeoutMs: 600_000 } } };
    const ends = await Promise.all([1, 2].map(() => crawl(open, walker([site.url]), choice)));
    expect(ends.map(({ reason }) => reason)).toEqual(['finished', 'finished']);
    expect(await outsider.snapshot()).toMatchObject({ seen: 0, items: 20, nodes: [], silent: [] });
    await closeOutsider();
  });

  it('may be cleared under a node that slept too long, which says so', async () => {
    const { outsider, node, waits, close } = await besideSilent(600_000);
    await waitFor(() => waits().length > 0, { what: 'a word on why it stays' });
    await outsider.clear(['queue', 'dupefilter'], { force: true });
    const { reason, exitCode, message } = await node.result;
    expect({ reason, exitCode }).toEqual({ reason: 'frontier_gone', exitCode: 1 });
    expect(message).toMatch(/reset .*counted this one as dead, finished the crawl and cleared it/);
    await close();
  });

  it('lets one go that leaves when done beside a service node, which goes on', async () => {
    const site = await startSite({ pages: 3, extraLinks: 0 });
    const { open: plain, outsider, closeOutsider } = await stage();
    const open = { ...plain, shape };
    const tunables = { ...defaultTunables, nodeTimeoutMs: 600_000 };
    const options = { shape, tunables, heartbeatMs: 300_000 };
    const stays = await startNode(open, walker([site.url]), { id: 'stays', ...service(options) });
    expect(await crawl(open, walker([site.url]), { options })).toMatchObject({ reason: 'finished' });
    expect(await outsider.snapshot()).toMatchObject({ seen: 3, nodes: [{ id: 'stays' }] });
    stays.drain();
    await stays.result;
    await closeOutsider();
  });
});

describe('a queue with a limit', () => {
  it('drops links at twice as many, says so once, and is never larger', async () => {
    const site = await startSite({ pages: 200, extraLinks: 40 });
    const { open, outsider, closeOutsider } = await stage();
    const { said, log } = warnings();
    const tunables = { delayMs: 0, randomizeDelay: false, concurrencyPerDomain: 2, nodeTimeoutMs: 5_000 };
    let most = 0;
    const end = await crawl(open, walker([site.url]), {
      log,
      options: {
        concurrency: 2,
        tunables: {
          ...tunables,
          failedLimit: 10,
          queueLimit: 10,
          memoryLimit: 0,
          pagesPerDomain: 0,
          slots: null,
          autothrottle: null,
        },
      },
      onProgress: () => void outsider.snapshot().then(({ pending }) => (most = Math.max(most, pending))),
    });
    expect(end.reason).toBe('finished');
    expect(said.filter((text) => text.includes('scheduler/dropped'))).toHaveLength(1);
    const { counters, seen, done } = await outsider.snapshot();
    expect(counters['scheduler/dropped']).toBeGreaterThan(0);
    expect(seen).toBe(done);
    expect(most).toBeLessThanOrEqual(20);
    await closeOutsider();
  });

  it('leaves seeds in their key until it has room', async () => {
    const site = await startSite({ pages: 40, delayMs: 20 });
    const { open, outsider, closeOutsider } = await stage();
    await outsider.appendSeeds(site.urls);
    const tunables = { delayMs: 0, randomizeDelay: false, concurrencyPerDomain: 2, nodeTimeoutMs: 5_000 };
    const looks: number[] = [];
    const node = await startNode(open, SeedsOnly, {
      options: {
        concurrency: 2,
        seedBatch: 4,
        tunables: {
          ...tunables,
          failedLimit: 10,
          queueLimit: 5,
          memoryLimit: 0,
          pagesPerDomain: 0,
          slots: null,
          autothrottle: null,
        },
      },
    });
    await waitFor(
      async () => {
        const { pending, startUrls } = await outsider.snapshot();
        looks.push(pending);
        return startUrls === 0;
      },
      { what: 'all seeds taken in' },
    );
    expect((await node.result).reason).toBe('finished');
    expect(site.compare()).toEqual({ missing: [], twice: [] });
    // A batch is taken in when there is room for one of it.
    expect(Math.max(...looks)).toBeLessThanOrEqual(5 - 1 + 4);
    await closeOutsider();
  });
});

describe('a second run', () => {
  it('of a finished job ends at once, saying that everything was seen and what to do', async () => {
    const site = await startSite({ pages: 5 });
    const { open, closeOutsider } = await stage();
    const Walk = walker([site.url]);
    await crawl(open, Walk);
    const patient = { options: { startTimeoutMs: 60_000 } };
    const again = await crawl(open, Walk, patient);
    expect(again).toMatchObject({ reason: 'finished', exitCode: 0, pages: 0 });
    expect(again.message).toMatch(/all 5 requests known from earlier runs are done or failed/);
    expect(again.message).toMatch(/crawlnode reset walk/);
    await closeOutsider();
  });

  it('as a service says so at once, and goes on', async () => {
    const site = await startSite({ pages: 5 });
    const { open, outsider, closeOutsider } = await stage();
    await crawl(open, walker([site.url]));
    const { said, log } = warnings();
    const node = await startNode(open, walker([site.url]), { log, ...service({}) });
    await waitFor(() => said.some((text) => /all 5 requests .* waits for seeds/.test(text)), {
      what: 'a word',
    });
    await outsider.appendSeeds([site.urls[1]!]);
    await waitFor(() => site.compare().twice.includes('/page/1.html'), { what: 'the seed fetched again' });
    node.drain();
    await node.result;
    await closeOutsider();
  });

  it('that begins from nothing fetches all pages again, and keeps items and counters', async () => {
    const site = await startSite({ pages: 5 });
    const { open, outsider, closeOutsider } = await stage();
    const Walk = walker([site.url]);
    for (const pages of [5, 5]) {
      expect(await crawl(open, Walk, { options: { flushOnStart: true } })).toMatchObject({ pages });
    }
    expect(await outsider.snapshot()).toMatchObject({ items: 10, done: 5, seen: 5 });
    await closeOutsider();
  });
});

describe('pages whose fingerprint has expired', () => {
  it('are fetched again by the next run, start pages among them; before that it says that nothing is new', async () => {
    const site = await startSite({ pages: 4 });
    const { open: plain, closeOutsider } = await stage();
    const crawlFor = async (expireMs: number) => {
      const shape = { ...defaultShape, dupefilter: { class: 'TimedRFPDupeFilter', expireMs } } as const;
      const open = { ...plain, shape };
      return () => crawl(open, walker([site.url]), { options: { shape } });
    };
    const run = await crawlFor(2_000);
    expect(await run()).toMatchObject({ pages: 4 });
    expect(await run()).toMatchObject({ pages: 0, message: expect.stringContaining('nothing to crawl') });
    // The start page expires first, perhaps by itself.
    const again = await waitFor(async () => {
      const end = await run();
      return [...site.fetched().values()].every((times) => times > 1) && end;
    });
    expect(again.reason).toBe('finished');
    expect(site.fetched().size).toBe(4);
    await closeOutsider();
  });
});

describe('pages that a refresh rule matches', () => {
  const classes = ['RFPDupeFilter', 'StateDupeFilter', 'CompactDupeFilter'] as const;

  it.each(classes)('are fetched once in each run, start pages among them, under %s', async (name) => {
    const site = await startSite({ pages: 8 });
    const { open: plain, outsider, closeOutsider } = await stage();
    const shape = { ...defaultShape, dupefilter: { class: name } };
    const open = { ...plain, shape };
    const Walk = walker([site.url], { refresh: [{ allow: [/\/$/, '/page/[12]\\.html$'] }] });
    const choice = { options: { shape } };
    await crawl(open, Walk, choice);
    expect(site.compare()).toEqual({ missing: [], twice: [] });
    site.clearLog();
    const ends = await Promise.all([crawl(open, Walk, choice), crawl(open, Walk, choice)]);
    expect(ends.map(({ reason }) => reason)).toEqual(['finished', 'finished']);
    expect([...site.fetched().keys()].sort()).toEqual(['/', '/page/1.html', '/page/2.html']);
    expect(site.compare().twice).toEqual([]);
    expect((await outsider.snapshot()).seen).toBe(8 + 3);
    await closeOutsider();
  });

  it('with "every" are fetched once in a period, also by another run', async () => {
    const site = await startSite({ pages: 8 });
    const { open, closeOutsider } = await stage();
    const Walk = walker([site.url], { refresh: [{ allow: /\/$/, every: 1_000_000_000 }] });
    await crawl(open, Walk);
    const again = await crawl(open, Walk);
    expect(again).toMatchObject({ reason: 'finished', pages: 0 });
    expect(site.compare()).toEqual({ missing: [], twice: [] });
    await closeOutsider();
  });

  it('with "every" are fetched again within a run, when a later page links to them', async () => {
    const site = await startSite({ pages: 40, delayMs: 60 });
    const { open, closeOutsider } = await stage();
    const Walk = walker([site.url], { refresh: [{ allow: /\/$/, every: 0.2 }] });
    await crawl(open, Walk, { options: { concurrency: 4 } });
    const counts = site.fetched();
    expect(counts.get('/')).toBeGreaterThan(1);
    counts.delete('/');
    expect([...counts.values()].every((times) => times === 1)).toBe(true);
    await closeOutsider();
  });
});
