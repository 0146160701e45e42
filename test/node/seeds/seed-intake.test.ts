/** What a node makes of external seeds: whatever a seed is and whatever the spider makes of it, the rest proceeds. */
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { BadSeed } from '../../../src/frontier/bad-seed-entry.js';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import type { Frontier } from '../../../src/frontier/frontier.js';
import type { OpenOptions } from '../../../src/frontier/open-options.js';
import { type CallbackResults, Request } from '../../../src/http/message/request.js';
import type { Response } from '../../../src/http/message/response.js';
import { Spider, type SpiderClass } from '../../../src/spider/spider.js';
import { type Engine, engines } from '../../helpers/engine-project.js';
import { crawl, freshStore, type RunningNode, startNode } from '../../helpers/node.js';
import { openOptions } from '../../helpers/open-options.js';
import { startSite } from '../../helpers/sites/site.js';
import { type TempDir, tempDir } from '../../helpers/temp-dir.js';
import { waitFor } from '../../helpers/wait-for.js';

class News extends Spider {
  override name = 'news';
  override parse(_response: Response): CallbackResults {
    return [];
  }
  other(): void {}
  broken(): void {}
}

/** One for all tests: the heartbeat thread of a node may open its store late, and must find the folder then. */
let folder: TempDir | undefined;
let crawls = 0;
afterAll(() => folder?.remove());

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function stage(engine: Engine, more: Partial<OpenOptions> = {}) {
  let open: OpenOptions;
  if (engine === 'redis') open = { ...(await freshStore()), ...more };
  else {
    folder ??= tempDir('seed-intake');
    crawls += 1;
    open = openOptions(folder.dir, `news${crawls}`, more);
  }
  const outsider = await openFrontier(open);
  await outsider.push([], 'links');
  cleanups.push(async () => {
    expect(await outsider.verify()).toEqual([]);
    await outsider.close();
  });
  return { open, outsider };
}

/** A node that takes seeds in and downloads nothing: all its requests wait behind a delay of their domain. */
async function nodeOf(
  open: OpenOptions,
  outsider: Frontier,
  SpiderOf: SpiderClass,
  more = {},
): Promise<RunningNode> {
  for (const domain of ['a.example', 'b.example'])
    await outsider.throttle(domain, { forMs: 600_000, source: 'retry-after' });
  return startNode(open, SpiderOf, { options: { exitWhenDone: false, graceMs: 100, ...more } });
}

const emptied = (outsider: Frontier) =>
  waitFor(async () => (await outsider.snapshot()).startUrls === 0, { what: 'all seeds to be taken in' });

async function badOf(outsider: Frontier): Promise<BadSeed[]> {
  return (await outsider.badSeeds(0, 100)).map((text) => JSON.parse(text) as BadSeed);
}

async function end(node: RunningNode): Promise<void> {
  node.drain();
  await node.result;
}

describe.each(engines)('seeds on the %s engine', (engine) => {
  it('of every kind that is bad go aside with the reason, and the good ones beside them are taken', async () => {
    const { open, outsider } = await stage(engine);
    await outsider.appendSeeds([
      'http://a.example/1',
      '123',
      '"http://a.example/"',
      '[]',
      '{"url":"http://a.example/2","title":"x"}',
      '{"url":"http://a.example/2","callback":"nobody"}',
      '{"url":"http://a.example/2","__proto__":{"priority":9}}',
      'ftp://a.example/',
      `{"url":"http://a.example/2","meta":{"x":"${'x'.repeat(1024 * 1024)}"}}`,
      '',
      '{"url":"http://a.example/3","callback":"other","priority":7,"dont_filter":true,"meta":{"k":[1]}}',
    ]);
    const node = await nodeOf(open, outsider, News);
    await emptied(outsider);
    expect((await badOf(outsider)).map(({ reason }) => reason)).toEqual([
      ...Array.from({ length: 3 }, () => expect.stringContaining('not an object')),
      expect.stringContaining('"title" is unknown'),
      expect.stringContaining('nobody'),
      expect.stringContaining('"__proto__" is unknown'),
      expect.stringContaining('ftp://a.example/'),
      expect.stringContaining('more than 1 MB'),
      expect.stringContaining('it is empty'),
    ]);
    expect(await outsider.snapshot()).toMatchObject({ pending: 2, badSeeds: 9 });
    await end(node);
  });

  it('are what the spider makes of them: one request, several, none, later, or an error', async () => {
    const { open, outsider } = await stage(engine);
    class Own extends News {
      override makeRequestFromData(data: string): never {
        const url = `http://a.example/${data}`;
        const answers: Record<string, () => unknown> = {
          one: () => new Request(url, { callback: this.other }),
          many: () => [new Request(`${url}/1`), new Request(`${url}/2`)],
          generator: function* () {
            yield new Request(`${url}/1`);
            yield new Request(`${url}/2`);
          },
          async: async function* () {
            yield new Request(`${url}/1`);
          },
          later: async () => new Request(url),
          none: () => null,
          nothing: () => undefined,
          empty: () => [],
          text: () => url,
          mixed: () => [new Request(url), url],
          throws: () => {
            throw new Error('not mine');
          },
          rejects: () => Promise.reject(new Error('not mine either')),
          throwsText: () => Promise.reject('just text'),
          endless: function* () {
            for (;;) yield new Request(url);
          },
          never: () => new Promise(() => {}),
        };
        return answers[data]!() as never;
      }
    }
    const seeds = ['one', 'many', 'generator', 'async', 'later', 'none', 'nothing', 'empty'];
    const broken = ['text', 'mixed', 'throws', 'rejects', 'throwsText', 'endless', 'never'];
    await outsider.appendSeeds([...broken, ...seeds]);
    const node = await nodeOf(open, outsider, Own, { mainLoopTimeoutMs: 2_000 });
    await emptied(outsider);
    expect(await badOf(outsider)).toMatchObject([
      { seed: 'text', reason: expect.stringContaining('gave string where a Request is needed') },
      { seed: 'mixed', reason: expect.stringContaining('gave string') },
      { seed: 'throws', reason: 'not mine' },
      { seed: 'rejects', reason: 'not mine either' },
      { seed: 'throwsText', reason: 'just text' },
      { seed: 'endless', reason: expect.stringContaining('more than 50000 requests') },
      { seed: 'never', reason: 'bad seed: makeRequestFromData took more than 2 s' },
    ]);
    expect(await outsider.snapshot()).toMatchObject({ pending: 7, accepted: 7 });
    await end(node);
  });

  it('are fetched again though they are known, unless SEEDS_FILTERED', async () => {
    for (const [seedsFiltered, times] of [
      [false, 2],
      [true, 1],
    ] as const) {
      const site = await startSite({ pages: 1, extraLinks: 0 });
      const { open, outsider } = await stage(engine, { seedsFiltered });
      for (let run = 1; run <= 2; run += 1) {
        await outsider.appendSeeds([site.url]);
        await crawl(open, News);
      }
      expect(site.fetched().get('/')).toBe(times);
      expect(await outsider.snapshot()).toMatchObject({ done: times, startUrls: 0, badSeeds: 0 });
      await site.close();
    }
  });

  it('are committed by one of two nodes that take them in at once', async () => {
    const { open, outsider } = await stage(engine);
    await outsider.appendSeeds(Array.from({ length: 300 }, (_, n) => `http://a.example/${n}`));
    const nodes = await Promise.all([nodeOf(open, outsider, News), nodeOf(open, outsider, News)]);
    await emptied(outsider);
    const { pending, accepted, counters } = await outsider.snapshot();
    expect({ pending, accepted }).toEqual({ pending: 300, accepted: 300 });
    expect(counters['dupefilter/filtered'] ?? 0).toBe(0);
    for (const node of nodes) await end(node);
  });
});
