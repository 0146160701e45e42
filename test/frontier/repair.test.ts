/** A crawl damaged by hand, structure by structure, is repaired: it is sound, and crawled to its end nothing is lost. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect } from '../../src/disk/sqlite.js';
import { openFrontier } from '../../src/frontier/choose-engine.js';
import { fileIn } from '../../src/frontier/embedded/file/wal.js';
import { reading } from '../frontier-contract/repair.js';
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
} from '../frontier-contract/world.js';
import { openOptions } from '../helpers/open-options.js';
import { redisOfFile } from '../helpers/redis/redis-of-file.js';
import { type TempDir, tempDir } from '../helpers/temp-dir.js';

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

  it('whose repair broke off stays paused, also when it is resumed, says so, and is repaired by the next', async () => {
    const outsider = await crawl.outsider();
    const broken = () => {
      throw new Error('killed');
    };
    await expect(outsider.repair(broken, { force: true })).rejects.toThrow('killed');
    expect(await outsider.verify()).toContain('a repair broke off: repair again');
    await outsider.control('running');
    expect((await outsider.snapshot()).control).toBe('paused');
    const { names } = await repairAndCrawl(crawl);
    expect(names).toEqual(left);
    expect((await outsider.snapshot()).control).toBe('running');
    await crawl.end();
  });
});

describe('in a folder, a crawl', { timeout: 30_000 }, () => {
  let folder: TempDir;
  let crawl: Crawl;
  let left: string[];
  beforeEach(async () => {
    folder = tempDir('repair');
    crawl = crawlAt(folder.dir, 'news');
    left = (await fill(crawl)).sort();
  });
  afterEach(async () => {
    await crawl.end();
    await folder.remove();
  });

  function breakBy(sql: string): void {
    const connection = connect(fileIn(folder.dir));
    connection.exec(sql);
    connection.close();
  }

  it.each([
    [
      'counters too high',
      'UPDATE tally SET pending = pending + 3',
      /^I4: there are \d+ pending requests, and the counter says/,
    ],
    ['a wrong sum', 'UPDATE tally SET accepted = accepted - 1', /^I4: 39 accepted, but .* = 40$/],
    [
      'a wrong number of domains',
      'UPDATE tally SET domains = 9',
      /^I4: there are 4 domains, and the counter says 9/,
    ],
    ['counters gone', 'DELETE FROM tally', /^I4: the counters are gone/],
    ['domains gone', 'DELETE FROM domain', /^I7: d\d.example has \d+ pending requests and no record/],
    [
      'another first request',
      'UPDATE domain SET head_arrival = head_arrival + 1',
      /^I7: d\d.example does not know its best request/,
    ],
    [
      'domains that are idle',
      "UPDATE domain SET state = 'idle'",
      /^I7: d\d.example has pending requests and is idle/,
    ],
    [
      'domains that wait for ever',
      "UPDATE domain SET state = 'waiting', until = NULL",
      /^I7: .* says it is waiting, and is not among the waiting/,
    ],
    [
      'wrong active counts',
      'UPDATE domain SET active = active + 1',
      /^I6: d\d.example has \d leased requests and an active count of/,
    ],
    ['nodes gone', 'DELETE FROM node', /^I3: request [0-9a-f]{40} is leased to \d+, which is not registered/],
    ['a wrong count of leases', 'UPDATE node SET leased = 0', /^I3: .* is said to hold 0 leases and holds 3/],
    [
      'leases without a token',
      "UPDATE request SET token = NULL WHERE state = 'leased'",
      /^I3: request .* is leased to \d+, which is not registered/,
    ],
    [
      'no lease in what is pending',
      "UPDATE request SET node = 7 WHERE state = 'pending'",
      /^I1: request .* is in 2 places: pending, leased/,
    ],
    ['failures gone', 'DELETE FROM failure', /^I1: request .* failed but is not in the failed list/],
    [
      'delayed until no time',
      "UPDATE request SET due = NULL WHERE state = 'delayed'",
      /^I1: request .* is delayed, but until no time/,
    ],
    ['requests gone', "DELETE FROM request WHERE state = 'pending'", /^I1: the record of .* is in no queue/],
    [
      'a wrong count of fingerprints',
      'UPDATE dupefilter SET count = 7',
      /^I2: 40 fingerprints are recorded but the counter says 7/,
    ],
    [
      'lists of another length',
      "UPDATE space SET entries = 5 WHERE name = 'news:stats'",
      /^I4: there are \d+ counters in news:stats, and the counter says/,
    ],
  ] as const)('with %s', async (_, sql, breach) => {
    const outsider = await crawl.outsider();
    expect(await outsider.verify()).toEqual([]);
    breakBy(sql);
    expect(await outsider.verify()).toContainEqual(expect.stringMatching(breach));
    const { names, failed: lost } = await repairAndCrawl(crawl);
    expect({ names, lost }).toEqual({ names: left, lost: 1 });
  });

  it('whose row is gone is refused to nodes, and keeps its requests by a repair', async () => {
    breakBy('DELETE FROM crawl');
    const outsider = await crawl.outsider();
    await expect(outsider.push([request('new')], 'links')).rejects.toThrow(/row of their crawl.*--repair/);
    await expect(crawl.node()).rejects.toThrow(/row of their crawl.*--repair/);
    expect(await outsider.verify()).toContainEqual(
      expect.stringMatching(/^I1: 39 rows of the table request/),
    );
    expect((await repairAndCrawl(crawl)).names).toEqual(left);
  });

  it.each([
    ['its key', "DELETE FROM space WHERE name = 'news:requests'"],
    ['any key', 'DELETE FROM space'],
  ])(
    'whose rows have lost the name of %s has it again with the next call, and loses nothing',
    async (_, sql) => {
      const outsider = await crawl.outsider();
      const { seen } = await outsider.snapshot();
      breakBy(sql);
      expect(await outsider.verify()).toEqual([]);
      const { names, failed: lost } = await repairAndCrawl(crawl);
      expect({ names, lost }).toEqual({ names: left, lost: 1 });
      const { counters, ...after } = await outsider.snapshot();
      expect(after.seen).toBe(seen);
      expect(counters['store/unreadable']).toBeGreaterThan(0);
    },
  );

  it('with requests whose records are gone: they are counted as lost, and links bring them back', async () => {
    breakBy("DELETE FROM record WHERE n IN (SELECT n FROM request WHERE state = 'pending' LIMIT 2)");
    const outsider = await crawl.outsider();
    expect(await outsider.verify()).toContainEqual(
      expect.stringMatching(/^I1: pending request .* has no record/),
    );
    const { names } = await repairAndCrawl(crawl);
    expect(names).toHaveLength(left.length - 2);
    expect(await outsider.snapshot()).toMatchObject({ lost: 2, accepted: 40 });
  });

  it('whose repair broke off stays paused, also when it is resumed, says so, and is repaired by the next', async () => {
    const outsider = await crawl.outsider();
    breakBy("UPDATE request SET domain = '' WHERE state = 'pending'");
    const broken = () => {
      throw new Error('killed');
    };
    await expect(outsider.repair(broken, { force: true })).rejects.toThrow('killed');
    expect(await outsider.verify()).toContain('a repair broke off: repair again');
    await outsider.control('running');
    expect((await outsider.snapshot()).control).toBe('paused');
    expect((await repairAndCrawl(crawl)).names).toEqual(left);
    expect((await outsider.snapshot()).control).toBe('running');
  });

  it('with a record nobody can read, of a request without a domain: it fails, and says so', async () => {
    breakBy(`INSERT INTO request (space, id, state, domain, priority, rank, arrival, crashes)
        SELECT space, randomblob(20), 'pending', '', 0, 0, 0, 0 FROM crawl;
      INSERT INTO record SELECT n, space, id, 1, NULL, 'junk' FROM request WHERE n = (SELECT max(n) FROM request);`);
    const { names, failed: lost } = await repairAndCrawl(crawl);
    expect({ names, lost }).toEqual({ names: left, lost: 2 });
    const { requests } = await (await crawl.outsider()).failed.list(null, 10);
    expect(requests.map(({ reason }) => reason)).toContain('bad_record');
  });
});
