/** What a hand at redis-cli breaks in each structure of a crawl in Redis: `verify` names it, and `repair` mends it. */
import { afterAll, describe, expect, it } from 'vitest';
import { reading } from '../../frontier-contract/repair.js';
import { Crawl, commit, failed, request, take } from '../../frontier-contract/world.js';
import { readEntry, readMember } from '../../helpers/redis/queue-entry.js';
import { redisOfFile } from '../../helpers/redis/redis-of-file.js';
import { redisWorld } from '../../helpers/redis/redis-world.js';

const { server, admin } = await redisOfFile();

const pages = [
  ...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => request(name)),
  ...['full-1', 'full-2', 'full-3'].map((name) => request(name, { domain: 'full.example', priority: 1 })),
  ...['slow-1', 'slow-2'].map((name) => request(name, { domain: 'slow.example' })),
  request('late', { delayMs: 3_600_000 }),
];

const cookie = { jar: 'jar', domain: 'a.example', path: '/', name: 'n', text: 'h=1' };

/**
 * A crawl that has a domain of each kind: a.example ready with five requests and one leased, full.example with two of
 * three leased, slow.example waiting; one request failed, and one delayed. A jar has one cookie.
 */
async function fill(crawl: Crawl): Promise<void> {
  const { frontier } = await crawl.node({ tunables: { concurrencyPerDomain: 2, nodeTimeoutMs: 60_000 } });
  await frontier.push(pages, 'links');
  await frontier.throttle('slow.example', { forMs: 3_600_000, source: 'retry-after' });
  const [one, , other] = await take(frontier, 3);
  await commit(frontier, other!, failed(), { cookies: [cookie] });
  expect([one, other].map((lease) => lease?.domain)).toEqual(['full.example', 'a.example']);
  await take(frontier, 1);
}

type Key = (word: string) => string;
type Hand = (key: Key) => Promise<unknown>;

const some = async (key: string): Promise<Buffer> => (await admin.zrangeBuffer(key, 0, 0))[0]!;
const of = async (key: string, domain: string): Promise<Buffer> =>
  (await admin.zrangeBuffer(key, 0, -1)).find((entry) => entry.toString('latin1').includes(domain))!;
/** Some bytes of a record are others from now on. */
const overwrite = async (
  key: string,
  field: string | Buffer,
  at: number,
  bytes: string | readonly number[],
) => {
  const record = (await admin.hgetBuffer(key, field))!;
  Buffer.from(bytes as string).copy(record, at);
  await admin.hset(key, field, record);
};
/** Where a domain's count of leases and its state lie in its record, see `lua/domains/domains.lua`. */
const ACTIVE = 0;
const STATE = 4;
const firstLease = async (key: Key): Promise<Buffer> => (await admin.hkeysBuffer(key('leases')))[0]!;

const breaches: [what: string, breach: string | RegExp, hand: Hand][] = [
  [
    'a request taken out of the queue',
    /^I1: the record of .* is in no queue/,
    async (key) => admin.zrem(key('queue'), await some(key('queue'))),
  ],
  [
    'the best request taken out of the queue',
    'I7: a.example does not know its best request',
    async (key) => admin.zrem(key('queue'), await of(key('queue'), 'a.example')),
  ],
  [
    'a request that stands in the queue of two domains',
    /^I1: request .* is in 2 places: pending, pending/,
    async (key) => {
      const { order, id } = readMember(await some(key('queue')));
      await admin.zadd(key('queue'), 0, Buffer.concat([Buffer.from('b.example\0'), order, id]));
    },
  ],
  [
    'a request in the queue of a domain without a record',
    'I7: b.example has 1 pending requests and no record',
    async (key) => {
      const { order } = readMember(await some(key('queue')));
      await admin.zadd(key('queue'), 0, Buffer.concat([Buffer.from('b.example\0'), order, Buffer.alloc(20)]));
    },
  ],
  [
    'a request in the queue without a record',
    /^I1: pending request .* has no record/,
    async (key) => {
      const { order } = readMember(await some(key('queue')));
      await admin.zadd(key('queue'), 0, Buffer.concat([Buffer.from('a.example\0'), order, Buffer.alloc(20)]));
    },
  ],
  [
    'a word in the queue',
    'I7: an entry of the queue cannot be read',
    (key) => admin.zadd(key('queue'), 0, 'word'),
  ],
  [
    'a score in the queue',
    /^I7: 1 entries of .*:~queue have a score/,
    async (key) => admin.zadd(key('queue'), 3, await some(key('queue'))),
  ],
  ['a queue that is deleted', /^I1: the record of .* is in no queue/, (key) => admin.del(key('queue'))],
  [
    'a domain taken out of the ready',
    'I7: a.example says it is ready, and its best request is not among the ready',
    async (key) => admin.zrem(key('ready'), await of(key('ready'), 'a.example')),
  ],
  [
    'a word among the ready',
    /^I7: an entry among the ready is of no domain's best request/,
    (key) => admin.zadd(key('ready'), 0, 'word'),
  ],
  [
    'a domain that is among the ready by another request as well',
    "I7: an entry among the ready is of no domain's best request: a.example",
    async (key) => {
      const { order, domain } = readEntry(await of(key('ready'), 'a.example'));
      await admin.zadd(key('ready'), 0, Buffer.concat([order, Buffer.alloc(20), Buffer.from(domain)]));
    },
  ],
  [
    'a score among the ready',
    /^I7: 1 entries of .*:~ready have a score/,
    async (key) => admin.zadd(key('ready'), -1, await some(key('ready'))),
  ],
  [
    'a domain taken out of the waiting',
    'I7: slow.example says it is waiting, and is not among the waiting',
    (key) => admin.zrem(key('waiting'), 'slow.example'),
  ],
  [
    'a domain that waits for ever',
    'I7: slow.example waits until another instant than its record says',
    (key) => admin.zadd(key('waiting'), '+inf', 'slow.example'),
  ],
  [
    'a ready domain among the waiting',
    'I7: a.example says it is ready, and is among the waiting',
    (key) => admin.zadd(key('waiting'), 1, 'a.example'),
  ],
  [
    'an unknown domain among the waiting',
    'I7: b.example is among the waiting and has no record',
    (key) => admin.zadd(key('waiting'), 1, 'b.example'),
  ],
  [
    'the record of a domain that is deleted',
    /^I7: a.example has \d+ pending requests and no record/,
    (key) => admin.hdel(key('domains'), 'a.example'),
  ],
  [
    'the record of a domain with leases that is deleted',
    'I6: full.example has 2 leased requests and no record',
    (key) => admin.hdel(key('domains'), 'full.example'),
  ],
  [
    'the record of a domain that is text',
    'I7: the record of the domain a.example cannot be read',
    (key) => admin.hset(key('domains'), 'a.example', 'text'),
  ],
  [
    'the record of a domain that is cut off',
    'I7: the record of the domain a.example cannot be read',
    async (key) => {
      const record = (await admin.hgetBuffer(key('domains'), 'a.example'))!;
      await admin.hset(key('domains'), 'a.example', record.subarray(0, 20));
    },
  ],
  [
    'a domain with another count of leases',
    'I6: full.example has 2 leased requests and an active count of 7',
    (key) => overwrite(key('domains'), 'full.example', ACTIVE, [0, 0, 0, 7]),
  ],
  [
    'a ready domain that says it is idle',
    'I7: a.example has pending requests and is idle: they would never be leased',
    (key) => overwrite(key('domains'), 'a.example', STATE, 'i'),
  ],
  [
    'a ready domain that says it is full',
    'I7: a.example says it is full, and is among the ready',
    (key) => overwrite(key('domains'), 'a.example', STATE, 'f'),
  ],
  [
    'a lease that is deleted',
    /^I1: the record of .* is in no queue/,
    async (key) => admin.hdel(key('leases'), await firstLease(key)),
  ],
  [
    'a lease that is text',
    /^I3: the lease of .* cannot be read/,
    async (key) => admin.hset(key('leases'), await firstLease(key), 'text'),
  ],
  [
    'a lease without its domain',
    /^I3: the lease of .* cannot be read/,
    async (key) => {
      const id = await firstLease(key);
      const lease = (await admin.hgetBuffer(key('leases'), id))!;
      await admin.hset(key('leases'), id, lease.subarray(0, -'full.example'.length));
    },
  ],
  [
    'a lease of a request that has no record',
    /^I1: leased request 0{40} has no record/,
    async (key) => {
      const lease = (await admin.hgetBuffer(key('leases'), await firstLease(key)))!;
      await admin.hset(key('leases'), Buffer.alloc(20), lease);
    },
  ],
  [
    'a lease of a request that is pending',
    /^I1: request .* is in 2 places: pending, leased/,
    async (key) => {
      const lease = (await admin.hgetBuffer(key('leases'), await firstLease(key)))!;
      await admin.hset(key('leases'), readMember(await some(key('queue'))).id, lease);
    },
  ],
  [
    'the nodes that are deleted',
    /^I3: request .* is leased to node-1:.*, which is not registered/,
    (key) => admin.del(key('nodes')),
  ],
  [
    'the counts of leases that are deleted',
    /^I3: node-1:.* is said to hold 0 leases and holds 3/,
    (key) => admin.del(key('held')),
  ],
  [
    'a word among the suspects',
    /^I1: pending request .* has no record/,
    (key) => admin.zadd(key('suspects'), 0, 'word'),
  ],
  [
    'a word among the delayed',
    /^I1: delayed request .* has no record/,
    (key) => admin.zadd(key('delayed'), 0, 'word'),
  ],
  [
    'the delayed that are deleted',
    /^I1: the record of .* is in no queue/,
    (key) => admin.del(key('delayed')),
  ],
  [
    'the failed list that is deleted',
    /^I1: the record of .* is in no queue/,
    (key) => admin.del(key('failed')),
  ],
  [
    'a counter that is higher',
    /^I4: 13 accepted, but .* = 12$/,
    (key) => admin.hincrby(key('meta'), 'accepted', 1),
  ],
  [
    'a counter that is text',
    'I4: the number done of the crawl is "many"',
    (key) => admin.hset(key('meta'), 'done', 'many'),
  ],
  [
    'a robots.txt that is known for ever',
    'the robots.txt of some origins is never deleted',
    (key) => admin.hset(key('robots'), 'https://a.example', '{}'),
  ],
  [
    'a queue that is to expire',
    /^I8: .*:~queue has a time to live/,
    (key) => admin.expire(key('queue'), 1_000),
  ],
];

describe('in Redis', { timeout: 30_000 }, () => {
  const worlds: ReturnType<typeof redisWorld>[] = [];
  afterAll(async () => {
    for (const world of worlds) await world.dispose();
  });

  it.each(breaches)('%s', async (_, breach, hand) => {
    const world = redisWorld(server.url);
    worlds.push(world);
    const crawl = new Crawl(world);
    await fill(crawl);
    const outsider = await crawl.outsider();
    expect(await outsider.verify()).toEqual([]);
    await hand((word) => `${world.spider}:requests:~${word}`);
    const found = await outsider.verify();
    expect(found).toContainEqual(typeof breach === 'string' ? breach : expect.stringMatching(breach));
    await outsider.repair(reading(...pages), { force: true });
    expect(await outsider.verify()).toEqual([]);
    const { pending, delayed, leased, failed: lost, done } = await outsider.snapshot();
    expect({ requests: pending + delayed, leased, lost, done }).toEqual({
      requests: 11,
      leased: 0,
      lost: 1,
      done: 0,
    });
    const states = await Promise.all(pages.map(async (page) => (await outsider.inspect(page)).state));
    expect(states.filter((state) => state === 'failed')).toHaveLength(1);
  });

  it.each(['cookies', 'jars', 'cookie-versions'])(
    'the key %s that is deleted is named, and no repair touches cookies',
    async (word) => {
      const world = redisWorld(server.url);
      worlds.push(world);
      const crawl = new Crawl(world);
      await fill(crawl);
      const outsider = await crawl.outsider();
      await admin.del(`${world.spider}:requests:~${word}`);
      const breach = ['I4: the keys of the cookies contradict each other: some were deleted'];
      expect(await outsider.verify()).toEqual(breach);
      await outsider.repair(reading(...pages), { force: true });
      expect(await outsider.verify()).toEqual(breach);
    },
  );
});
