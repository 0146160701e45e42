/** The loop: nodes of one crawl on a real site, from joining to leaving. */
import type http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { noBudgets } from '../../src/frontier/budgets.js';
import { openFrontier } from '../../src/frontier/choose-engine.js';
import type { Request, Yielded } from '../../src/http/message/request.js';
import type { Response } from '../../src/http/message/response.js';
import { Spider } from '../../src/spider/spider.js';
import { joinAs } from '../helpers/joining.js';
import { crawl, freshStore, nodeOptions, startNode } from '../helpers/node.js';
import { openOptions } from '../helpers/open-options.js';
import { startRedis } from '../helpers/redis/redis-server.js';
import { startSite } from '../helpers/sites/site.js';
import { waitFor } from '../helpers/wait-for.js';

/** A frontier of its own, and a client to look at it with. */
async function stage() {
  const open = await freshStore();
  const outsider = await openFrontier(open);
  return { open, outsider, closeOutsider: () => outsider.close() };
}

/** A spider that follows every link and yields every page. */
function walker(...startUrls: (string | Request)[]) {
  return class Walk extends Spider {
    override name = 'walk';
    override startUrls = startUrls;
    override *parse(response: Response): Generator<Yielded> {
      yield { url: response.url };
      yield* response.followAll(response.links());
    }
  };
}

/** Requests that the site holds back until the test lets them go. */
function gate() {
  const held: (() => void)[] = [];
  let isOpen = false;
  return {
    get held() {
      return held.length;
    },
    /** Answer now, or when the gate opens. */
    pass(answer: () => void) {
      if (isOpen) answer();
      else held.push(answer);
    },
    open() {
      isOpen = true;
      for (const answer of held) answer();
    },
  };
}

const page = (response: http.ServerResponse, links: readonly string[] = []) => {
  const body = links.map((link) => `<a href="${link}">link</a>`).join('');
  response.writeHead(200, { 'content-type': 'text/html' }).end(body);
};

/** Whether a promise is still open. */
async function isOpen(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol('open');
  return (await Promise.race([promise, Promise.resolve(open)])) === open;
}

describe('a domain with a delay', () => {
  it('is asked at its distance also after a download that began late', async () => {
    const delayMs = 800;
    const site = await startSite({ pages: 5 });
    const { tunables } = nodeOptions();
    const node = await startNode(await freshStore(), walker(site.url), {
      options: { tunables: { ...tunables, delayMs } },
    });
    const lease = node.frontier.lease.bind(node.frontier);
    let answers = 0;
    node.frontier.lease = async (max, holding) => {
      const answer = await lease(max, holding);
      // As on a node that is busy just then: late, and not too late to begin.
      if (answer.leases.length > 0 && answers++ % 2 === 0) await sleep(150);
      return answer;
    };
    expect(await node.result).toMatchObject({ reason: 'finished' });
    const times = site.log.map(({ atMs }) => atMs).sort((a, b) => a - b);
    const gaps = times.slice(1).map((at, n) => at - times[n]!);
    expect(gaps).toHaveLength(4);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(delayMs - 50);
  });
});

describe('a crawl to its end', () => {
  it('fetches every page once, commits every item once, and leaves a sound frontier', async () => {
    const site = await startSite({ pages: 80 });
    const { open, outsider, closeOutsider } = await stage();
    const result = await crawl(open, walker(site.url));
    expect(result).toMatchObject({ reason: 'finished', exitCode: 0, pages: 80, items: 80, failed: 0 });
    expect(site.compare()).toEqual({ missing: [], twice: [] });
    expect(await outsider.snapshot()).toMatchObject({
      done: 80,
      items: 80,
      pending: 0,
      leased: 0,
      nodes: [],
    });
    expect(await outsider.verify()).toEqual([]);
    await closeOutsider();
  });

  it('tells its progress', async () => {
    const site = await startSite({ pages: 20 });
    const { open, closeOutsider } = await stage();
    const seen: number[] = [];
    const onProgress = ({ pages }: { pages: number }) => void seen.push(pages);
    await crawl(open, walker(site.url), { onProgress });
    expect(seen[0]).toBe(0);
    await closeOutsider();
  });

  it('is shared by two nodes, and neither leaves before the slow page has yielded its links', async () => {
    const slow = gate();
    const links = Array.from({ length: 12 }, (_, n) => `/late/${n}`);
    const site = await startSite({
      pages: 0,
      handler: ({ url }, response) => {
        if (url === '/slow') slow.pass(() => page(response, links));
        else page(response, url === '/' ? ['/slow', '/quick'] : []);
        return true;
      },
    });
    const { open, outsider, closeOutsider } = await stage();
    const Walk = walker(`${site.origin}/`);
    const one = await startNode(open, Walk, { id: 'one' });
    const two = await startNode(open, Walk, { id: 'two' });

    // Both have had their say by then: all but the slow page is done, and both nodes ask in vain.
    await waitFor(async () => slow.held === 1 && (await outsider.snapshot()).done === 2);
    await waitFor(async () => (await outsider.snapshot()).nodes.length === 2);
    for (let looks = 0; looks < 20; looks++) await outsider.snapshot();
    expect([await isOpen(one.result), await isOpen(two.result)]).toEqual([true, true]);

    slow.open();
    const results = await Promise.all([one.result, two.result]);
    expect(results.map(({ reason }) => reason)).toEqual(['finished', 'finished']);
    expect(results[0].pages + results[1].pages).toBe(15);
    expect(site.log.map(({ path }) => path).sort()).toEqual(['/', '/quick', '/slow', ...links].sort());
    await closeOutsider();
  });

  it('resumes with what was pending, and a job that is complete says what to do', async () => {
    const site = await startSite({ pages: 30 });
    const { open, outsider, closeOutsider } = await stage();
    const first = await crawl(open, walker(site.url), {
      options: { budgets: { ...noBudgets, maxPages: 7 } },
    });
    expect(first).toMatchObject({ reason: 'closespider_pagecount', exitCode: 0, pages: 7 });
    expect(await crawl(open, walker(site.url))).toMatchObject({ reason: 'finished', pages: 23 });
    expect(site.compare()).toEqual({ missing: [], twice: [] });

    const again = await crawl(open, walker(site.url));
    expect(again).toMatchObject({
      reason: 'finished',
      pages: 0,
      message: expect.stringContaining('reset walk'),
    });
    expect(await outsider.verify()).toEqual([]);
    await closeOutsider();
  });

  it('turns a node away that comes when its budget has just closed the run', async () => {
    const site = await startSite({ pages: 30 });
    const { open, closeOutsider } = await stage();
    const choice = { options: { budgets: { ...noBudgets, maxPages: 3 } } };
    await crawl(open, walker(site.url), choice);
    const late = await crawl(open, walker(site.url), choice);
    expect(late).toMatchObject({ reason: 'closespider_pagecount', exitCode: 0, pages: 0 });
    await closeOutsider();
  });
});

describe('seeds', () => {
  it('are waited for, and when none comes the node says how to seed', async () => {
    const { open, closeOutsider } = await stage();
    const result = await crawl(open, walker());
    expect(result).toMatchObject({ reason: 'finished', exitCode: 0, pages: 0 });
    expect(result.message).toContain('crawlnode seed walk');
    await closeOutsider();
  });

  it('are taken in while the crawl runs; a bad one is put aside and hurts no other', async () => {
    const site = await startSite({ pages: 3, extraLinks: 0 });
    const { open, outsider, closeOutsider } = await stage();
    const warnings: unknown[] = [];
    const log = { debug() {}, info() {}, warn: (fields: object) => void warnings.push(fields), error() {} };
    const node = await startNode(open, walker(), { log, options: { exitWhenDone: false } });

    await outsider.appendSeeds([site.url]);
    await waitFor(async () => (await outsider.snapshot()).done === 3);
    const again = `${site.origin}/page/1.html?again`; // answers 404
    await outsider.appendSeeds(['no url', '123', again]);
    await waitFor(async () => (await outsider.snapshot()).done + (await outsider.snapshot()).failed === 4);
    expect(await outsider.snapshot()).toMatchObject({ startUrls: 0, badSeeds: 2 });
    expect(warnings).toMatchObject([{ seed: 'no url' }, { seed: '123' }, { url: again }]);

    node.drain();
    expect(await node.result).toMatchObject({ reason: 'shutdown', exitCode: 0 });
    await closeOutsider();
  });
});

describe('a signal', () => {
  it('has a node finish what is in progress and leave the rest to the next', async () => {
    const slow = gate();
    const site = await startSite({
      pages: 0,
      handler: ({ url }, response) => {
        if (url === '/') page(response, ['/a', '/b', '/c', '/d']);
        else slow.pass(() => page(response));
        return true;
      },
    });
    const { open, outsider, closeOutsider } = await stage();
    const Walk = walker(`${site.origin}/`);
    const node = await startNode(open, Walk, { options: { concurrency: 2 } });
    await waitFor(() => slow.held === 2);
    node.drain();
    expect(await isOpen(node.result)).toBe(true);
    slow.open();
    expect(await node.result).toMatchObject({ reason: 'shutdown', exitCode: 0, pages: 3 });
    expect(await outsider.snapshot()).toMatchObject({ done: 3, pending: 2, leased: 0, nodes: [] });

    expect(await crawl(open, Walk)).toMatchObject({ reason: 'finished', pages: 2 });
    expect(site.log.map(({ path }) => path).sort()).toEqual(['/', '/a', '/b', '/c', '/d']);
    await closeOutsider();
  });

  it('given twice, or when the grace time is over, has it give back what is in progress', async () => {
    const hanging = gate();
    const site = await startSite({
      pages: 0,
      handler: (_, response) => {
        hanging.pass(() => page(response));
        return true;
      },
    });
    const { open, outsider, closeOutsider } = await stage();
    const Walk = walker(`${site.origin}/`);
    const forced = await startNode(open, Walk);
    await waitFor(() => hanging.held === 1);
    forced.drain();
    forced.force();
    expect(await forced.result).toMatchObject({ reason: 'shutdown', pages: 0 });
    expect(await outsider.snapshot()).toMatchObject({ pending: 1, leased: 0 });

    const patient = await startNode(open, Walk, { options: { graceMs: 50 } });
    await waitFor(() => hanging.held === 2);
    patient.drain();
    expect(await patient.result).toMatchObject({ reason: 'shutdown', pages: 0 });
    expect(await outsider.snapshot()).toMatchObject({ pending: 1, leased: 0 });
    expect(await outsider.verify()).toEqual([]);
    await closeOutsider();
  });
});

describe('control', () => {
  it('pauses, resumes and stops every node', async () => {
    const site = await startSite({ pages: 40, delayMs: 5 });
    const { open, outsider, closeOutsider } = await stage();
    const node = await startNode(open, walker(site.url), {
      options: { concurrency: 1, exitWhenDone: false },
    });
    await waitFor(async () => (await outsider.snapshot()).done > 2);
    await outsider.control('paused');
    await waitFor(async () => (await outsider.snapshot()).leased === 0);
    const { done } = await outsider.snapshot();
    for (let looks = 0; looks < 20; looks++) await outsider.snapshot();
    expect((await outsider.snapshot()).done).toBe(done);

    await outsider.control('running');
    await waitFor(async () => (await outsider.snapshot()).done > done);
    await outsider.control('stopping');
    expect(await node.result).toMatchObject({ reason: 'stopped', exitCode: 0 });
    await closeOutsider();
  });

  it('a node that is started after a stop waits for the end of its nodes, and for a signal', async () => {
    const site = await startSite({ pages: 3, delayMs: 0 });
    const { open, outsider, closeOutsider } = await stage();
    const last = await openFrontier(open);
    await joinAs(last, { id: 'last' });
    await outsider.control('stopping');
    const said: string[] = [];
    const info = (_: object, text: string) =>
      void (text.startsWith('somebody has stopped') && said.push(text));
    const log = { debug() {}, info, warn() {}, error() {} };
    const impatient = await startNode(open, walker(site.url), { log });
    const next = await startNode(open, walker(site.url), { log });
    await waitFor(() => said.length === 2);
    impatient.drain();
    expect(await impatient.result).toMatchObject({ reason: 'shutdown', exitCode: 0 });
    // So that the time of a stop is over at once.
    const limited = { graceMs: -2 * nodeOptions().tunables.nodeTimeoutMs };
    const refused = await startNode(open, walker(site.url), { log, options: limited });
    await expect(refused.result).rejects.toMatchObject({
      code: 'live_nodes',
      message: expect.stringContaining('it hangs in its stop'),
    });
    await last.leave('stopped');
    expect(await next.result).toMatchObject({ reason: 'finished', exitCode: 0 });
    expect(said[0]).toMatch(
      /^somebody has stopped this crawl, and a node of it has not ended yet: the crawl of walk begins/,
    );
    await last.close();
    await closeOutsider();
  });
});

/** Crawl one page whose callback blocks the main loop for twice the node timeout, then see whether a peer recovers it. */
async function blockMainLoop(mainLoopTimeoutMs: number) {
  // Longer than a heartbeat thread that is compiled from source takes to start on a busy machine.
  const nodeTimeoutMs = 5_000;
  const site = await startSite({ pages: 1, extraLinks: 0 });
  const { open, outsider, closeOutsider } = await stage();
  const age = async () => (await outsider.snapshot()).nodes[0]?.heartbeatAgeMs ?? Number.POSITIVE_INFINITY;
  let moved: number | null = null;
  class Blocking extends Spider {
    override name = 'walk';
    override startUrls = [site.url];
    override async parse(response: Response) {
      if (moved === null) {
        // Until the heartbeat thread is up: the age of the last beat falls from one look to the next.
        let last = await age();
        await waitFor(async () => {
          const before = last;
          last = await age();
          return last < before;
        });
        const until = performance.now() + 1.5 * nodeTimeoutMs;
        while (performance.now() < until);
        moved = await outsider.recover();
      }
      return { url: response.url };
    }
  }
  const tunables = {
    delayMs: 0,
    randomizeDelay: false,
    concurrencyPerDomain: 8,
    nodeTimeoutMs,
    failedLimit: 10,
    queueLimit: 0,
    memoryLimit: 0,
    pagesPerDomain: 0,
    slots: null,
    autothrottle: null,
  };
  const result = await crawl(open, Blocking, { options: { heartbeatMs: 100, mainLoopTimeoutMs, tunables } });
  await closeOutsider();
  return { moved, asked: site.log.length, result };
}

describe('trouble', () => {
  it('a node that is declared dead aborts its work and joins anew; the page is committed once', async () => {
    let asked = 0;
    const site = await startSite({
      pages: 0,
      handler: ({ url }, response) => {
        if (url === '/') page(response, ['/slow']);
        // The first request is never answered.
        else if (++asked > 1) page(response);
        return true;
      },
    });
    const { open, outsider, closeOutsider } = await stage();
    // It beats once at its start and then too late.
    const tunables = {
      delayMs: 0,
      randomizeDelay: false,
      concurrencyPerDomain: 8,
      nodeTimeoutMs: 1_500,
      failedLimit: 10,
      queueLimit: 0,
      memoryLimit: 0,
      pagesPerDomain: 0,
      slots: null,
      autothrottle: null,
    };
    const node = await startNode(open, walker(`${site.origin}/`), {
      options: { heartbeatMs: 60_000, tunables },
    });
    await waitFor(() => asked === 1);
    await waitFor(async () => {
      await outsider.recover();
      return asked === 2;
    });
    expect(await node.result).toMatchObject({ reason: 'finished', pages: 2, items: 2 });
    expect(await outsider.snapshot()).toMatchObject({ done: 2, items: 2, failed: 0 });
    await closeOutsider();
  });

  it('a page whose parsing blocks the node for longer than the node timeout does not look like its death', async () => {
    const { moved, asked, result } = await blockMainLoop(60_000);
    expect({ moved, asked }).toEqual({ moved: 0, asked: 1 });
    expect(result).toMatchObject({ reason: 'finished', pages: 1, items: 1 });
  });

  it('a node whose main loop stands still for the main-loop timeout loses its work, and joins anew', async () => {
    const { moved, asked, result } = await blockMainLoop(200);
    expect({ moved, asked }).toEqual({ moved: 1, asked: 2 });
    expect(result).toMatchObject({ reason: 'finished', pages: 1, items: 1 });
  });

  it('a heartbeat that fails in an unforeseen way is told once, and beats go on when it has passed', async () => {
    const redis = await startRedis();
    const open = openOptions(redis.url, 'walk');
    const outsider = await openFrontier(open);
    const lines: string[] = [];
    const error = (_: object, message: string) => void lines.push(message);
    const log = { debug() {}, info() {}, warn() {}, error };
    const node = await startNode(open, walker(), { log, options: { exitWhenDone: false, heartbeatMs: 50 } });
    const age = async () => (await outsider.snapshot()).nodes[0]?.heartbeatAgeMs;
    await waitFor(async () => (await age()) !== undefined);

    const db = new Redis(redis.url);
    // The verb of the heartbeat alone is broken.
    const [library] = (await db.function('LIST', 'WITHCODE')) as [string[]];
    const code = library[library.indexOf('library_code') + 1]!;
    const broken = code.replace(/(register\('heartbeat',.*)/, "$1 error('unforeseen')");
    expect(broken).not.toBe(code);
    await db.function('LOAD', 'REPLACE', broken);
    await waitFor(() => lines.length > 0);
    const before = await db.zrange('walk:requests:~nodes', 0, 0, 'WITHSCORES');
    await db.function('LOAD', 'REPLACE', code);
    await waitFor(async () => {
      const [, now] = await db.zrange('walk:requests:~nodes', 0, 0, 'WITHSCORES');
      return Number(now) > Number(before[1]) + 200;
    });
    expect(lines).toHaveLength(1);
    db.disconnect();
    node.drain();
    expect(await node.result).toMatchObject({ reason: 'shutdown' });
    await outsider.close();
    await redis.stop();
  });

  it('a node whose crawl was reset under it stops and says so', async () => {
    const site = await startSite({ pages: 0, handler: () => true });
    const { open, outsider, closeOutsider } = await stage();
    const node = await startNode(open, walker(`${site.origin}/`));
    await waitFor(() => outsider.snapshot().then(({ leased }) => leased === 1));
    await outsider.clear(['queue', 'dupefilter', 'start_urls', 'items', 'stats', 'failed'], { force: true });
    expect(await node.result).toMatchObject({ reason: 'frontier_gone', exitCode: 1 });
    await closeOutsider();
  });

  it('a feed that cannot be written for WAIT_TIMEOUT ends the node, with nothing lost', async () => {
    const site = await startSite({ pages: 10 });
    const { open, closeOutsider } = await stage();
    const feedsFailing = () => ({ why: 'items.jsonl: no space left on device', isFinal: false });
    const result = await crawl(open, walker(site.url), { feedsFailing, options: { waitTimeoutMs: 100 } });
    expect(result).toMatchObject({ reason: 'feed_unwritable', exitCode: 1 });
    expect(result.message).toContain('no space left');
    expect(await crawl(open, walker(site.url))).toMatchObject({ reason: 'finished', exitCode: 0 });
    expect(site.compare()).toEqual({ missing: [], twice: [] });
    await closeOutsider();
  });

  it('what a spider throws while opening reaches the caller, and the node has left', async () => {
    const { open, outsider, closeOutsider } = await stage();
    class Broken extends Spider {
      override name = 'walk';
      override opened() {
        throw new Error('no database');
      }
    }
    await expect(crawl(open, Broken)).rejects.toThrow('no database');
    expect((await outsider.snapshot()).nodes).toEqual([]);
    await closeOutsider();
  });

  it('what a spider throws while closing is said with its place, and takes nothing of the crawl back', async () => {
    const site = await startSite({ pages: 3 });
    const { open, outsider, closeOutsider } = await stage();
    class Broken extends walker(site.url) {
      override closed() {
        throw new Error('no mail server');
      }
    }
    expect(await crawl(open, Broken)).toMatchObject({
      ...{ reason: 'finished', exitCode: 1, pages: 3 },
      message: expect.stringMatching(
        /^closed\(\) of the spider "walk" failed at .*node\.test\.ts:.*no mail server$/,
      ),
    });
    expect(await outsider.snapshot()).toMatchObject({ nodes: [], done: 3 });
    await closeOutsider();
  });

  const never = () => new Promise<void>(() => {});
  it.each(['opened', 'closed'] as const)(
    'a spider whose %s() never ends has the grace time once the node is told to leave, and less when told twice',
    async (hook) => {
      for (const times of ['once', 'twice']) {
        const site = await startSite({ pages: 3 });
        const { open, outsider, closeOutsider } = await stage();
        let waits = false;
        class Endless extends walker(site.url) {
          override opened = () => this.#stop('opened');
          override closed = () => this.#stop('closed');
          #stop(now: typeof hook) {
            if (now !== hook) return Promise.resolve();
            waits = true;
            return never();
          }
        }
        const graceMs = times === 'once' ? 0 : 3_600_000;
        const node = await startNode(open, Endless, { options: { graceMs } });
        await waitFor(() => waits);
        node.drain();
        if (times === 'twice') node.force();
        const reason = hook === 'opened' ? 'shutdown' : 'finished';
        expect(await node.result).toMatchObject({ reason, exitCode: 0 });
        expect(await outsider.snapshot()).toMatchObject({ nodes: [], leased: 0 });
        await closeOutsider();
      }
    },
  );

  it('a Redis that is killed and comes back is waited for, with one line in the log for each', async () => {
    const redis = await startRedis({ persist: true });
    const site = await startSite({ pages: 60, delayMs: 10 });
    const lines: string[] = [];
    const note = (_: object, message: string) => void lines.push(message);
    const log = { debug() {}, info: note, warn: note, error: note };
    const open = openOptions(redis.url, 'walk');
    const node = await startNode(open, walker(site.url), {
      log,
      options: { concurrency: 4 },
    });
    await waitFor(() => site.log.length > 10);
    await redis.kill();
    await waitFor(() => lines.some((line) => line.includes('cannot be reached')));
    await redis.restart();
    expect(await node.result).toMatchObject({ reason: 'finished', exitCode: 0 });
    expect(site.compare().missing).toEqual([]);
    expect(lines.filter((line) => line.includes('cannot be reached'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('can be reached again'))).toHaveLength(1);

    const outsider = await openFrontier(open);
    expect(await outsider.snapshot()).toMatchObject({ done: 60, items: 60 });
    expect(await outsider.verify()).toEqual([]);
    await outsider.close();
    await redis.stop();
  });
});
