/** Values that somebody has forged in a crawl in Redis: what cannot be read ends no verb, and is set aside and counted. */
import { Redis } from 'ioredis';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Frontier, noEffects } from '../../../src/frontier/frontier.js';
import { commit, nameOf, request, retry, take, takeOne, until } from '../../frontier-contract/world.js';
import { projectOn } from '../../helpers/engine-project.js';
import { joinAs } from '../../helpers/joining.js';

const junk = ['x', '', '-1', 'NaN', '1e308', '{"a":[]}', '\xff'.repeat(40), 'a'.repeat(40), '\0'.repeat(80)];

/** Fields of the crawl's record that no call may guess: redis-record.test.ts. */
const counted = [
  ...['done', 'accepted', 'arrival', 'lost', 'run_leased', 'run_items', 'run_accepted', 'cookies', 'marks'],
  ...['marks_gone', 'early', 'fields'],
];
const tunables = [
  'delay',
  'limit',
  'slots',
  'autothrottle',
  'queue_limit',
  'memory_limit',
  'pages_per_domain',
];

describe('in Redis', () => {
  const here = projectOn('redis');
  let client: Redis;
  beforeEach(() => {
    client = new Redis(here.redis!.url);
    return () => client.disconnect();
  });
  const key = (word: string) => `news:requests:~${word}`;
  const asNode = (test: (frontier: Frontier) => Promise<void>, tunables = {}) =>
    here.look(async (frontier) => {
      await joinAs(frontier, { tunables });
      await test(frontier);
    });
  const setAside = async () => Number(await client.hget('news:stats', 'store/unreadable'));

  it.each(junk)('a lease that is %j is lost to its node, and dropped', async (value) => {
    await asNode(async (frontier) => {
      await frontier.push([request('a'), request('b')], 'links');
      const leases = await take(frontier, 2);
      const [a, b] = leases;
      await client.hset(key('leases'), Buffer.from(a!.id, 'hex'), value);
      expect(await frontier.settle(a!, { kind: 'done', reason: '', attempts: 1 }, noEffects)).toMatchObject({
        committed: false,
      });
      const { lost } = await frontier.reconcile(leases, 0);
      expect(lost).toHaveLength(1);
      expect(await client.hlen(key('leases'))).toBe(1);
      expect(await setAside()).toBe(1);
      await commit(frontier, b!);
    });
  });

  it.each(junk)('a domain that is %j is made anew from its queue, with a full delay', async (value) => {
    await asNode(
      async (frontier) => {
        await frontier.push([request('a'), request('b'), request('c', { domain: 'other.example' })], 'links');
        await client.hset(key('domains'), 'a.example', value);
        const [other] = await take(frontier, 1);
        expect(nameOf(other!)).toBe('c');
        await frontier.push([request('d')], 'links');
        expect((await frontier.lease(5, 1)).leases).toEqual([]);
        const { dueAtMs } = await frontier.inspect(request('a'));
        expect(dueAtMs).toBeGreaterThan(Date.now() + 50_000);
        expect(await setAside()).toBe(1);
        await commit(frontier, other!);
        expect((await frontier.verify()).filter((breach) => !breach.startsWith('I3'))).toEqual([]);
      },
      { delayMs: 60_000 },
    );
  });

  it.each([
    [
      'far more fields than there are files',
      Array.from({ length: 30_000 }, (_, at) => [`f${at}`, '{}']).flat(),
    ],
    ['a record of megabytes', ['f', 'x'.repeat(9 * 1024 * 1024)]],
  ])('the records of feed files, %s: refused by name, in backups too', async (_, fields) => {
    await asNode(async (frontier) => {
      await client.hset(key('feeds'), ...fields);
      const refusal = { code: 'foreign_key', message: expect.stringContaining(key('feeds')) };
      await expect(frontier.snapshot()).rejects.toMatchObject(refusal);
      const backup = async () => {
        for await (const _ of frontier.backups.read(['items']));
      };
      await expect(backup()).rejects.toMatchObject(refusal);
    });
  });

  it.each(['feeds', 'node-info'])(
    'far more fields of %s than crawlnode writes: refused by name before they are walked, and doctor names them',
    async (word) => {
      await asNode(async (frontier) => {
        await frontier.push([request('a')], 'links');
        await client.hset(key(word), ...Array.from({ length: 30_000 }, (_, at) => [`f${at}`, '{}']).flat());
        const refusal = {
          code: 'foreign_key',
          message: expect.stringMatching(`^${key(word)} has 30,\\d{3} fields`),
        };
        await expect(frontier.lease(1, 0)).rejects.toMatchObject(refusal);
        await expect(frontier.verify()).rejects.toMatchObject(refusal);
        expect((await frontier.examine()).filter(({ level }) => level === 'problem')).toMatchObject([
          { check: 'foreign_key', message: refusal.message },
        ]);
        if (word === 'node-info') expect((await frontier.snapshot()).nodes).toHaveLength(1);
        const forged = (await client.hkeys(key(word))).filter((field) => /^f\d+$/.test(field));
        await client.hdel(key(word), ...forged);
        expect(nameOf(await takeOne(frontier))).toBe('a');
      });
    },
  );

  it('entries of the queues that cannot be read are dropped, and the requests beside them are fetched', async () => {
    await asNode(async (frontier) => {
      await frontier.push([request('a'), request('b', { delayMs: 1 })], 'links');
      for (const value of junk.filter((text) => text.length < 32)) {
        await client.zadd(key('delayed'), 0, value);
        await client.zadd(key('suspects'), 1, value);
        await client.zadd(key('ready'), 0, value);
        await client.zadd(key('queue'), 0, `a.example\0${value}`);
      }
      const leases = await take(frontier, 2);
      expect(leases.map(nameOf).sort()).toEqual(['a', 'b']);
      for (const lease of leases) await commit(frontier, lease);
      expect(await setAside()).toBeGreaterThan(0);
      await until(
        () => frontier.lease(1, 0),
        ({ crawl }) => crawl.stall !== null || crawl.finished,
      );
    });
  });

  it('a delayed request whose instant no delay reaches is due when its record says', async () => {
    await asNode(async (frontier) => {
      await frontier.push([request('a')], 'links');
      const lease = await takeOne(frontier);
      await commit(frontier, lease, retry(lease, 10));
      const [entry] = await client.zrangeBuffer(key('delayed'), 0, 0);
      await client.zadd(key('delayed'), '+inf', entry!);
      expect(nameOf(await takeOne(frontier))).toBe('a');
    });
  });

  it.each(junk)('numbers and JSON beside the requests may be %j', async (value) => {
    await asNode(async (frontier) => {
      await frontier.push([request('a'), request('b')], 'links');
      await frontier.robots('https://a.example', 'a.example', false);
      const leases = await take(frontier, 2);
      for (const word of [
        'held',
        'settled',
        'robots',
        'crashes',
        'node-info',
        'domain-accepted',
        'validators',
        'cookies',
        'answers',
      ]) {
        for (const field of await client.hkeysBuffer(key(word))) await client.hset(key(word), field, value);
      }
      const spared = [
        'version',
        'epoch',
        'crawl',
        'queue',
        'shape',
        'dupefilter',
        'control',
        ...tunables,
        ...counted,
      ];
      for (const field of await client.hkeys(key('meta'))) {
        if (!spared.includes(field)) await client.hset(key('meta'), field, value);
      }
      for (const lease of leases)
        await commit(frontier, lease, undefined, { requests: [request(`after-${nameOf(lease)}`)] });
      expect(await frontier.robots('https://a.example', 'a.example', false)).toMatchObject({ kind: 'fetch' });
      await frontier.recover();
      await frontier.snapshot();
      await take(frontier, 2);
      await frontier.reconcile([], 0);
    });
  });

  it.each(tunables)('a %s that cannot be read is refused before a page is committed', async (field) => {
    await asNode(async (frontier) => {
      await frontier.push([request('a')], 'links');
      const lease = await takeOne(frontier);
      await client.hset(key('meta'), field, 'x');
      const refusal = { code: 'damaged_store', message: expect.stringContaining(`the field ${field} of`) };
      await expect(commit(frontier, lease, undefined, { items: ['{}'] })).rejects.toMatchObject(refusal);
      await expect(frontier.lease(1, 0)).rejects.toMatchObject(refusal);
      expect(await client.llen('news:items')).toBe(0);
    });
    await asNode(async (frontier) => void (await frontier.push([request('b')], 'links')));
  });
});
