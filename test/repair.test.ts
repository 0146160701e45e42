/** A crawl damaged by hand, structure by structure, is repaired: it is sound, and crawled to its end nothing is lost. */
import { beforeEach, describe, expect, it } from 'vitest';
import { Table } from '../src/frontier/embedded/keys.js';
import { spacesOf } from '../src/frontier/embedded/spaces.js';
import { openStore } from '../src/frontier/embedded/store.js';
import { Tables } from '../src/frontier/embedded/tables.js';
import { openFrontier } from '../src/frontier/open.js';
import { reading } from './frontier-contract/repair.js';
import {
  Crawl,
  commit,
  failed,
  nameOf,
  request,
  retry,
  sha1,
  take,
  until,
  worldOf,
} from './frontier-contract/world.js';
import { openOptions } from './helpers/open-options.js';
import { redisOfFile } from './helpers/redis-of-file.js';
import { tempDir } from './helpers/temp-dir.js';

const { server, admin } = await redisOfFile();

const pages = Array.from({ length: 40 }, (_, n) =>
  request(`p${n}`, { domain: `d${n % 4}.example`, priority: n % 3 }),
);

/** A crawl in a Redis or a folder, whose node holds requests; @returns the names that are left to fetch. */
async function fill(crawl: Crawl): Promise<string[]> {
  const { frontier } = await crawl.node();
  await frontier.push(pages, 'links');
  const [one, two, three, ...held] = await take(frontier, 6);
  await commit(frontier, one!);
  await commit(frontier, two!, failed());
  await commit(frontier, three!, retry(three!, 100));
  expect(held).toHaveLength(3);
  const gone = [one!, two!].map(nameOf);
  return pages.map(nameOf).filter((name) => !gone.includes(name));
}

/** Repair, then crawl to the end. @returns the names fetched, and how many failed. */
async function repairAndCrawl(crawl: Crawl): Promise<{ names: string[]; failed: number }> {
  const outsider = await crawl.outsider();
  await outsider.repair(reading(...pages), { force: true });
  expect(await outsider.verify()).toEqual([]);
  const { frontier } = await crawl.node();
  const names: string[] = [];
  await until(
    async () => {
      const { leases } = await frontier.lease(10, 0);
      for (const lease of leases) {
        await commit(frontier, lease);
        names.push(nameOf(lease));
      }
      return frontier.snapshot();
    },
    ({ pending, delayed }) => pending + delayed === 0,
  );
  return { names: names.sort(), failed: (await frontier.snapshot()).failed };
}

const crawlAt = (place: string, spider: string) =>
  new Crawl(worldOf(() => openFrontier(openOptions(place, spider))));

describe('in Redis, a crawl', { timeout: 30_000 }, () => {
  let crawl: Crawl;
  let left: string[];
  let spider = '';
  let crawls = 0;
  beforeEach(async () => {
    crawls += 1;
    spider = `s${crawls}`;
    crawl = crawlAt(server.url, spider);
    left = (await fill(crawl)).sort();
  });
  const key = (word: string) => `${spider}:requests:~${word}`;

  it.each([
    ...['meta', 'queue', 'chunks', 'domains', 'ready', 'waiting', 'suspects', 'leases', 'nodes', 'dead'],
    ...['node-info', 'held', 'pages', 'crashes', 'answers', 'delayed', 'failed', 'failures'],
  ])('whose key %s was deleted, or holds something else', async (word) => {
    await admin.del(key(word));
    const { names, failed: lost } = await repairAndCrawl(crawl);
    expect({ names, lost }).toEqual({ names: left, lost: 1 });
    await admin.set(key(word), 'of somebody else');
    await (await crawl.outsider()).repair(() => null, { force: true });
    expect(await (await crawl.outsider()).verify()).toEqual([]);
    await crawl.end();
  });

  it('whose counters, domains and leases were overwritten, and whose keys are to expire', async () => {
    await admin.hset(key('meta'), {
      pending: 'many',
      accepted: 3,
      done: 'x',
      limit: 'none',
      control: 'running',
    });
    await admin.hset(key('domains'), 'd1.example', 'junk', 'd2.example', Buffer.from([0x93, 1, 2, 3]));
    for (const id of await admin.hkeysBuffer(key('leases'))) await admin.hset(key('leases'), id, 'junk');
    await admin.zadd(key('delayed'), 0, 'short', 1, Buffer.alloc(40));
    for (const word of ['requests', 'stats', 'dupefilter']) await admin.expire(`${spider}:${word}`, 1_000);
    const { names, failed: lost } = await repairAndCrawl(crawl);
    expect({ names, lost }).toEqual({ names: left, lost: 1 });
    await crawl.end();
  });

  it('with a record nobody can read: it fails, and says so', async () => {
    await admin.hset(`${spider}:requests`, Buffer.from(sha1('stranger'), 'hex'), 'junk');
    const { names, failed: lost } = await repairAndCrawl(crawl);
    expect({ names, lost }).toEqual({ names: left, lost: 2 });
    const { requests } = await (await crawl.outsider()).failed.list(null, 10);
    expect(requests.map(({ reason }) => reason)).toContain('bad_record');
    await crawl.end();
  });

  it('whose records were deleted has nothing left, and is sound', async () => {
    await admin.del(`${spider}:requests`);
    expect((await repairAndCrawl(crawl)).names).toEqual([]);
    await crawl.end();
  });

  it('whose repair broke off stays paused, says so, and is repaired by the next', async () => {
    const outsider = await crawl.outsider();
    const broken = () => {
      throw new Error('killed');
    };
    await expect(outsider.repair(broken, { force: true })).rejects.toThrow('killed');
    expect(await outsider.verify()).toContain('a repair broke off: repair again');
    expect((await outsider.snapshot()).control).toBe('paused');
    const { names } = await repairAndCrawl(crawl);
    expect(names).toEqual(left);
    expect((await outsider.snapshot()).control).toBe('running');
    await crawl.end();
  });
});

describe('in a folder, a crawl', { timeout: 30_000 }, () => {
  const names = [
    'state',
    'meta',
    'incarnation',
    'domain',
    'ready',
    'waiting',
    'idle',
    'queue',
    'suspect',
  ] as const;
  const tables = [...names, 'delayed', 'lease', 'failed'].map(
    (name) => [name, Table[name as keyof typeof Table]] as const,
  );

  it.each(tables)('whose table %s was wiped', async (_, table) => {
    const folder = tempDir('repair');
    const crawl = crawlAt(folder.dir, 'news');
    const left = (await fill(crawl)).sort();
    const store = openStore(folder.dir);
    store.transact(() =>
      new Tables(store.db).wipe(table, spacesOf(openOptions(folder.dir, 'news').keys).crawl),
    );
    await store.close();
    const { names, failed: lost } = await repairAndCrawl(crawl);
    expect({ names, lost }).toEqual({ names: left, lost: 1 });
    await crawl.end();
    await folder.remove();
  });
});
