/** The library of Redis Functions: loaded where it is missing, beside others, and without any memory of earlier calls. */
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import type { Dupefilter, Frontier } from '../../../src/frontier/frontier.js';
import { library } from '../../../src/frontier/redis/connection/library.js';
import { readAll } from '../../frontier-contract/backups-dupefilters.js';
import { assessment, historyPoint, nodeFacts } from '../../frontier-contract/telemetry-examples.js';
import {
  Crawl,
  commit,
  done,
  effects,
  failed,
  request,
  sha1,
  take,
  takeOne,
} from '../../frontier-contract/world.js';
import { redisOfFile } from '../../helpers/redis/redis-of-file.js';
import { startRedis } from '../../helpers/redis/redis-server.js';
import { openRedis, redisWorld, soonGivingUp } from '../../helpers/redis/redis-world.js';

const { server, admin } = await redisOfFile();

/** A step of a crawl: what it answers, and nothing that differs from one crawl to the next. */
type Step = (crawl: Players) => Promise<unknown>;

interface Players {
  readonly node: Frontier;
  readonly outsider: Frontier;
  readonly crawl: Crawl;
  readonly incarnation: string;
  /** What its requests are named after. */
  readonly name: string;
}

const links = (name: string, count: number) =>
  Array.from({ length: count }, (_, n) =>
    request(`${name}/${n}`, { domain: `${n % 3}.example`, priority: n % 2 }),
  );

/** Every verb, in the order of a crawl's life; each twice, with other data. */
const life: Step[] = [
  ({ node, name }) => node.push(links(name, 12), 'links'),
  ({ node, name }) => node.push(links(`${name}-more`, 3), 'start', { from: 0, total: 3 }),
  ({ node }) => node.claimStart(),
  async ({ node, name }) => {
    const [a, b, c] = await take(node, 3);
    const page = effects({
      items: [`"${name}"`],
      feedItems: [`"${name}"`],
      requests: links(`${name}-link`, 2),
    });
    return Promise.all([
      node.settle(a!, done, page),
      node.settle(b!, failed(), page),
      node.settle(c!, done, page),
    ]);
  },
  async ({ node, name }) => {
    const [held] = await take(node, 1);
    const settled = node.settle(
      held!,
      done,
      effects({
        requests: links(`${name}-turn`, 4),
        stats: { [name]: 2 },
        cookies: [{ jar: '', domain: 'a.example', path: '/', name, text: 'h=1' }],
        validators: { fingerprint: sha1(name), text: name },
      }),
    );
    const { leases, cookies } = await node.lease(2, 0, 0);
    return [
      await settled,
      cookies?.sets,
      await node.validators([sha1(name)]),
      await Promise.all(leases.map((lease) => node.settle(lease, failed(name), effects({})))),
    ];
  },
  ({ node, name }) => node.throttle('0.example', { delayMs: name.length, source: 'robots' }),
  async ({ node }) => {
    const held = await takeOne(node);
    return [await node.defer(held), await node.settle(held, done, effects({})), await node.defer(held)];
  },
  async ({ node, name }) => {
    const asked = await node.robots(`https://${name.length}.example`, '0.example', false);
    if (asked.kind !== 'fetch') return asked;
    const rules = { kind: 'rules', text: 'Disallow: /', forMs: 0, delayMs: name.length } as const;
    const stored = await node.storeRobots(asked.claim, rules, { [name]: 1 });
    return [stored, asked.kind, await node.takeInstant('new.example', 0)];
  },
  async ({ node, name }) => {
    await node.appendSeeds([`http://${name}.example/`, 'bad']);
    const [good, bad] = await node.peekSeeds(2);
    return node.intake([
      { seed: good!, requests: links(`${name}-seed`, 2) },
      { seed: bad!, bad: name },
    ]);
  },
  async ({ node, name }) => {
    await node.addStats([{ name: 'of this crawl', op: 'set', value: name }]);
    const asks = await node.claimIdle(null);
    await node.endIdle();
    return asks;
  },
  ({ node, incarnation }) => node.heartbeat(incarnation, 1),
  async ({ node: { telemetry }, incarnation }) => {
    const domains = [['a.example', { p: 1 }]] as const;
    await telemetry.report(incarnation, { sequence: 1, node: nodeFacts, domains, events: [] });
    await telemetry.record(historyPoint(), assessment, 5);
    const known = await telemetry.domains(0, 10);
    const { counts } = (await telemetry.domain('a.example'))!;
    return [(await telemetry.facts())!.pending, known.map(({ counts }) => counts), counts];
  },
  async ({ node, name }) => [await node.reconcile([], 60_000), await node.recover(), name],
  async ({ node, name }) => [
    await node.failed.retry(links(name, 12)),
    await node.forget(request(`${name}/0`).id),
  ],
  async ({ node, name }) =>
    node.failed.purge([...links(name, 12), ...links(`${name}-link`, 2)].map(({ id }) => id)),
  async ({ node, name }) => {
    const failing = await takeOne(node);
    return node.settle(failing, failed(name), effects({}));
  },
  async ({ node, name }) => {
    const writer = { feed: 'feed', host: 'h', path: `${name}.jsonl`, pid: process.pid, owner: name };
    const opened = await node.feeds.open(writer, { staleMs: 1_000 });
    const taken = await node.feeds.take(writer, 1);
    const read = (await node.feeds.read('feed', 0, 10)).length;
    await node.feeds.checkpoint(writer, { sequence: read, lengthBytes: read, header: '' });
    await node.feeds.noteChange('feed', { what: 'is gone', items: 1 });
    await node.feeds.release(writer, { exported: true });
    return [opened, taken, read];
  },
  async ({ node, name }) => {
    await node.control('paused');
    const { leases, crawl } = await node.lease(1, 0);
    await node.control('running');
    await node.acceptLosses();
    return [leases, crawl.control, (await node.inspect(request(`${name}/1`))).seen];
  },
  async ({ node }) => {
    const snapshot = await node.snapshot();
    return {
      ...snapshot,
      ...{ bytes: 0, nodes: 0, run: 0, beganAtMs: 0, seenSinceMs: 0, usedAtMs: 0, counters: 0 },
      outbox: snapshot.outbox.map((feed) => ({ ...feed, seenAtMs: 0 })),
    };
  },
  ({ node }) => node.leave('shutdown'),
  async ({ outsider, name }) => {
    const read = (id: string) => ({ domain: `${id.length}.example`, priority: 0, acceptedAtMs: name.length });
    return outsider.repair(read, { force: false });
  },
  async ({ outsider }) => {
    const entries = await readAll(outsider);
    await outsider.clear(['queue', 'dupefilter', 'start_urls', 'items', 'stats', 'failed'], { force: false });
    const ticket = {
      id: 'again',
      parts: ['queue', 'dupefilter', 'failed', 'items', 'stats', 'start_urls'],
      exclusive: [],
      force: false,
    } as const;
    await outsider.backups.begin(ticket);
    for (const [n, entry] of entries.entries()) await outsider.backups.apply('again', n + 1, entry);
    await outsider.backups.end('again');
    return [entries.length, await outsider.count()];
  },
];

/** An answer without what differs from one crawl to the next. */
const plain = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer ?? null, (key, value) => (key === 'epoch' ? 'the epoch' : value)));

async function begin(name: string, dupefilter: Dupefilter, url = server.url): Promise<Players> {
  const crawl = new Crawl(redisWorld(url), { dupefilter });
  const { frontier: node, joined } = await crawl.node({ feeds: ['feed'] });
  return { node, outsider: await crawl.outsider(), crawl, incarnation: joined.incarnation, name };
}

const classes: Dupefilter[] = [
  { class: 'RFPDupeFilter' },
  { class: 'TimedRFPDupeFilter', expireMs: 60_000 },
  { class: 'StateDupeFilter' },
  { class: 'CompactDupeFilter' },
];

/** What a server or somebody at it may do between any two calls. */
const disturbances: [string, () => Promise<unknown>][] = [
  ['SCRIPT FLUSH', () => admin.script('FLUSH')],
  ['FUNCTION FLUSH', () => admin.function('FLUSH')],
  ['the library of another version', loadAnother],
  ['a library of our name without our functions', replaceOurs],
];

let versions = 0;

async function replaceOurs(): Promise<void> {
  const { name } = library();
  const code = `redis.register_function('${name}_other', function() return 1 end)`;
  await admin.function('LOAD', 'REPLACE', `#!lua name=${name}\n${code}`);
}

/** The same functions under another hash, as another version has them. */
async function loadAnother(): Promise<void> {
  versions += 1;
  const name = `cn8_${String(versions).padStart(8, '0')}`;
  await admin.function('LOAD', library().text.replaceAll(library().name, name));
}

describe('the library of functions', { timeout: 60_000 }, () => {
  it('keeps nothing of a call: crawls that take turns with every verb answer as each does alone', async () => {
    const called = new Set<string>();
    // Lazy: a second connection would send commands while the monitor begins, which ioredis cannot tell apart then.
    const monitor = await new Redis(server.url, { lazyConnect: true }).monitor();
    monitor.on('monitor', (_, [command, name]: string[]) => {
      if (command?.toLowerCase() === 'fcall') called.add(name!.slice(library().name.length + 1));
    });
    try {
      const alone = new Map<string, unknown[]>();
      for (const dupefilter of classes) {
        const own = await startRedis();
        const players = await begin('first', dupefilter, own.url);
        try {
          const answers: unknown[] = [];
          for (const step of life) answers.push(plain(await step(players)));
          alone.set(dupefilter.class, answers);
          await players.crawl.end();
        } finally {
          await own.stop();
        }
      }
      const together = await Promise.all(classes.map((dupefilter) => begin('first', dupefilter)));
      const others = await Promise.all(classes.map((dupefilter) => begin('second-crawl', dupefilter)));
      for (const [n, step] of life.entries()) {
        for (const [which, players] of together.entries()) {
          await step(others[which]!);
          expect(plain(await step(players)), `step ${n} with ${classes[which]!.class}`).toEqual(
            alone.get(classes[which]!.class)![n],
          );
        }
      }
      for (const { crawl } of [...together, ...others]) await crawl.end();
    } finally {
      monitor.disconnect();
    }
    const listed = [...library().text.matchAll(/verbs\.register\('(\w+)'/g)].map(([, name]) => name);
    // Only a Cluster is asked which server it is, and only seeds of a stream are read by a verb.
    expect(listed.filter((name) => !called.has(name!)).sort()).toEqual(['peek_stream', 'server_data']);
  });

  it.each(disturbances)('is not missed by anybody: %s between any two calls', async (_, disturb) => {
    const players = await begin('disturbed', { class: 'RFPDupeFilter' });
    for (const step of life) {
      await disturb();
      await step(players);
    }
    await players.crawl.end();
  });

  it('comes back with a server that was restarted without its data', async () => {
    const own = await startRedis();
    const frontier = await openRedis(own.url, 'restarted');
    try {
      await frontier.push([request('a')], 'links');
      await own.kill();
      await own.restart();
      expect(await frontier.push([request('a')], 'links')).toEqual({ accepted: 1, duplicates: 0 });
    } finally {
      await frontier.close();
      await own.stop();
    }
  });

  it('that is missing while memory is full is waited for, and the error says so', async () => {
    const own = await startRedis();
    const crawl = new Crawl(redisWorld(own.url, soonGivingUp));
    const hand = new Redis(own.url);
    try {
      const { frontier } = await crawl.node();
      await frontier.push([request('a')], 'links');
      const lease = await takeOne(frontier);
      await hand.function('FLUSH');
      await hand.config('SET', 'maxmemory', '1');
      await expect(frontier.settle(lease, done, effects({}))).rejects.toMatchObject({
        code: 'frontier_unavailable',
        message: expect.stringMatching(
          /^Redis refuses for now: OOM .*does not know the functions.*maxmemory/,
        ),
      });
      await hand.config('SET', 'maxmemory', '0');
      await commit(frontier, lease);
      await crawl.end();
    } finally {
      hand.disconnect();
      await own.stop();
    }
  });

  it('needs a server that has functions, and says which do', async () => {
    const own = await startRedis({
      args: ['--rename-command', 'FCALL', '', '--rename-command', 'FUNCTION', ''],
    });
    try {
      const refused = await openRedis(own.url, 'old')
        .then((frontier) => frontier.push([request('a')], 'links').finally(() => frontier.close()))
        .catch((error: unknown) => error);
      expect(refused).toMatchObject({
        code: 'server_version',
        message: expect.stringMatching(/Redis 7.0.*Valkey 7.2/),
      });
    } finally {
      await own.stop();
    }
  });
});
