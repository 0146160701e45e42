/** A partition that is not where the settings say, or that lost its data. */
import { afterEach, describe, expect, it } from 'vitest';
import { allParts, type Frontier } from '../../../../src/frontier/frontier.js';
import { partitionOf } from '../../../../src/frontier/partitions/partition-of.js';
import { Crawl, commit, done, request, take } from '../../../frontier-contract/world.js';
import { addressOf, openPartitioned, partitionedWorld } from '../../../helpers/redis/partitioned-world.js';
import { redisOfFile } from '../../../helpers/redis/redis-of-file.js';

const { server, admin } = await redisOfFile();
const COUNT = 3;

const domains = Array.from({ length: COUNT }, (_, partition) => {
  for (let n = 0; ; n++)
    if (partitionOf(`site-${n}.example`, COUNT) === partition) return `site-${n}.example`;
});
const inAll = (name: string) => domains.map((domain) => request(name, { domain }));

let world = partitionedWorld(server.url, COUNT);
let crawl = new Crawl(world);
afterEach(async () => {
  await crawl.end();
  world = partitionedWorld(server.url, COUNT);
  crawl = new Crawl(world);
});

/** A crawl of which a page of each partition is done and another one waits. */
async function begun(): Promise<void> {
  const { frontier } = await crawl.node();
  await frontier.push([...inAll('done'), ...inAll('waiting')], 'links');
  for (const lease of await take(frontier, COUNT)) await commit(frontier, lease, done, { stats: {} });
  await frontier.leave('signal');
}

const deleteKeys = async (pattern: string) => admin.del(...(await admin.keys(pattern)));

describe('a partition that lost its data', () => {
  const lost = {
    ...{ name: 'RefusedError', code: 'partition_lost' },
    message: expect.stringContaining('partition 1 of 3'),
  };

  it('is refused by nodes and seeds, and can be reset', async () => {
    await begun();
    await deleteKeys(`${world.spider}:p1:*`);
    await expect(crawl.node()).rejects.toMatchObject(lost);
    const outsider = await crawl.outsider();
    await expect(outsider.push(inAll('seed'), 'seeds')).rejects.toMatchObject(lost);
    await expect(crawl.node()).rejects.toMatchObject(lost);
    await outsider.clear(allParts, { force: false });
    await expect(crawl.node()).resolves.toMatchObject({ joined: { found: { pending: 0 } } });
  });

  it('is repaired where only its record is gone', async () => {
    await begun();
    await admin.del(`${world.spider}:p1:requests:~meta`);
    const outsider = await crawl.outsider();
    const read = (_: string, record: string) => ({
      domain: JSON.parse(record).domain ?? domains[1]!,
      priority: 0,
      acceptedAtMs: 0,
    });
    await outsider.repair(read, { force: false });
    const { frontier, joined } = await crawl.node();
    expect(joined.found.pending).toBe(COUNT);
    expect(await take(frontier, COUNT)).toHaveLength(COUNT);
  });

  it('is no matter where its node flushes the crawl', async () => {
    await begun();
    await deleteKeys(`${world.spider}:p1:*`);
    const { joined } = await crawl.node({ flushOnStart: true });
    expect(joined.found.pending).toBe(0);
  });

  it('is a problem for doctor', async () => {
    await begun();
    await deleteKeys(`${world.spider}:p1:*`);
    const problems = (await (await crawl.outsider()).examine()).filter(({ level }) => level === 'problem');
    expect(problems).toMatchObject([
      { about: 'crawl', message: expect.stringContaining('partition 1 of 3') },
    ]);
  });

  it('is not one that a node had not yet joined when it died', async () => {
    await (await crawl.outsider()).push(inAll('seed'), 'seeds');
    await (await crawl.node()).frontier.leave('signal');
    await deleteKeys(`${world.spider}:p1:*`);
    await expect(crawl.node()).resolves.toMatchObject({ joined: { found: { pending: 2 } } });
  });
});

describe('servers in another order', () => {
  const addresses = (...databases: number[]) => databases.map((n) => addressOf(`${server.url}/${n}`));
  const opened: Frontier[] = [];
  const open = async (...databases: number[]) => {
    const frontier = await openPartitioned(addresses(...databases), world.spider);
    opened.push(frontier);
    return frontier;
  };
  afterEach(async () => {
    for (const frontier of opened.splice(0)) await frontier.close();
  });

  it.each([
    ['the first two', [1, 0, 2]],
    ['the last two', [0, 2, 1]],
    ['all of them', [2, 0, 1]],
  ])('are refused: %s', async (_, other) => {
    await (await open(0, 1, 2)).push(inAll('a'), 'seeds');
    await expect(open(...other)).rejects.toMatchObject({
      ...{ name: 'RefusedError', code: 'shape' },
      message: expect.stringMatching(/partition \d of 3 is on .*REDIS_PARTITION_URLS/),
    });
    await (await open(0, 1, 2)).clear(allParts, { force: false });
    await open(...other);
  });
});
