/** What `stats` and `reset` ask of a crawl in Redis: a snapshot, and how much each part holds. Reads only, bounded work. */
import { countersSince } from '../../../stats/counters-since.js';
import { dataFormats } from '../../data-format.js';
import type { Control, NodeSnapshot, OutboxSnapshot, PartCounts, Shape, Snapshot } from '../../frontier.js';
import type { FrontierKeys } from '../../open-options.js';
import { assessmentOf, deadNodesOf, factsOf } from '../../telemetry/stored-telemetry.js';
import type { Call } from '../connection/calls.js';
import type { Client } from '../connection/client.js';
import { foundFormat } from '../connection/preflight.js';
import { int, named } from '../connection/reply.js';
import { pairs } from '../connection/scan.js';
import { memoryOf } from '../examine/server.js';
import { readFeeds } from '../feeds/outbox.js';
import { badSeedsKey, type InternalWord, internalKey, internalWords } from '../keys.js';
import { readStats } from '../stored-stats.js';
import { dupefilterBytes, seenCount } from './dupefilter.js';
import { byName, bytesOf, clockOf, lengthOf, sum } from './measuring.js';
import { numberField, storedDupefilter, storedObject, storedShape, textField } from './stored-json.js';

/** Everything `stats` shows: cardinalities, the nodes, the counters; MEMORY USAGE samples five entries a key. */
export async function takeSnapshot(client: Client, keys: FrontierKeys, call: Call): Promise<Snapshot> {
  const key = (word: InternalWord): string => internalKey(keys, word);
  const seedsIn = (name: string, index: number): Promise<number> =>
    lengthOf(client, name, async () =>
      int(named(await call('peek_stream', { key: index + 1, max: 0 })).waiting),
    );
  const [counts, queued, meta, stats, serverMs] = await Promise.all([
    byName({
      startUrls: sum(keys.startUrls, seedsIn),
      badSeeds: sum(keys.startUrls.map(badSeedsKey), (name) => lengthOf(client, name)),
      suspects: client.zcard(key('suspects')),
      delayed: client.zcard(key('delayed')),
      leased: client.hlen(key('leases')),
      failed: client.zcard(key('failed')),
      items: client.llen(keys.items),
      domains: client.hlen(key('domains')),
      seen: seenCount(client, keys),
    }),
    client.zcard(key('queue')),
    client.hgetall(key('meta')),
    client.hgetall(keys.stats),
    clockOf(client),
  ]);
  const [told, nodes, outbox, memory, bytes] = await Promise.all([
    client.hmget(key('telemetry'), 'dead', 'assessment'),
    readNodes(client, keys, crawlClock(meta, serverMs), numberIn(meta.node_timeout, 30_000)),
    readOutbox(client, keys),
    memoryOf(client),
    partBytes(client, keys),
  ]);
  const readings = readStats(stats);
  const number = (name: string): number => numberIn(meta[name], 0);
  const instant = (text: string | undefined): number | null =>
    text === undefined ? null : numberIn(text, null);
  return {
    ...{ ...counts, pending: queued + counts.suspects, bytes },
    ...{ accepted: number('accepted'), done: number('done') },
    ...{ removed: number('removed'), lost: number('lost') },
    ...{ seenGone: number('marks_gone'), seenExpires: meta.marks_expire === '1' },
    ...nodes,
    ...{ deadNodes: deadNodesOf(told[0]), assessment: assessmentOf(told[1]) },
    ...readings,
    ...{ outbox, memory },
    run:
      meta.run === undefined
        ? null
        : {
            id: meta.run,
            startedAt: number('run_started') - number('clock_ahead'),
            ...{ pages: number('run_leased'), items: number('run_items'), failed: number('run_failed') },
            ...{ errorPages: number('run_error_pages'), hasGoodPage: meta.run_good === '1' },
            counters: countersSince(beganWith(meta.run_counters), readings.counters),
            closed: meta.run_closed || meta.closing || null,
            endedAt: meta.run_ended ? instant(meta.run_ended) : null,
          },
    control: (meta.control ?? 'running') as Control,
    shape: readShape(meta),
    queueLimit: instant(meta.queue_limit),
    memoryLimit: instant(meta.memory_limit),
    beganAtMs: instant(meta.began),
    usedAtMs: meta.clock === undefined ? instant(meta.began) : number('clock') - number('clock_ahead'),
    seenSinceMs: instant(meta.seen_since ?? meta.began),
  };
}

/** Memory of each part. */
export function partBytes(client: Client, keys: FrontierKeys): Promise<Snapshot['bytes']> {
  const internal = internalWords.map((word) => internalKey(keys, word));
  return byName({
    frontier: sum([keys.requests, ...internal], (name) => bytesOf(client, name)),
    dupefilter: dupefilterBytes(client, keys),
    startUrls: sum(keys.startUrls, (name) => bytesOf(client, name)),
    items: bytesOf(client, keys.items),
    stats: bytesOf(client, keys.stats),
  });
}

/** A stored number; another value where there is none, or somebody overwrote it with text. */
function numberIn<Other>(text: string | undefined, otherwise: Other): number | Other {
  const found = Number(text ?? Number.NaN);
  return Number.isFinite(found) ? found : otherwise;
}

/** How much each part holds, for `reset --dry-run`. Streams of seeds are not counted, since a reset does not delete them. */
export async function countParts(client: Client, keys: FrontierKeys): Promise<PartCounts> {
  const key = (word: InternalWord): string => internalKey(keys, word);
  const [type, format] = await Promise.all([client.type(keys.requests), foundFormat(client, keys)]);
  // A queue left by Scrapy-Redis, or kept in another data format, counts as it is.
  const isOurs =
    type !== 'zset' && type !== 'list' && (format ?? String(dataFormats.redis)) === String(dataFormats.redis);
  return byName({
    queue: isOurs
      ? sum([key('queue'), key('suspects'), key('delayed'), key('leases')], (name) => lengthOf(client, name))
      : lengthOf(client, keys.requests),
    dupefilter: isOurs ? seenCount(client, keys) : lengthOf(client, keys.dupefilter),
    start_urls: sum(
      keys.startUrls.flatMap((name) => [name, badSeedsKey(name)]),
      (name) => lengthOf(client, name),
    ),
    items: lengthOf(client, keys.items),
    stats: lengthOf(client, keys.stats),
    failed: isOurs ? client.zcard(key('failed')) : Promise.resolve(0),
  });
}

/** The counters that the run began with, stored as texts. */
function beganWith(text: string | undefined): Record<string, number> {
  return Object.fromEntries(Object.entries(storedObject(text)).map(([name, value]) => [name, Number(value)]));
}

/** The shape is kept without its dupefilter, which may be agreed on before it. */
function readShape(meta: Record<string, string>): Shape | null {
  const [shape, dupefilter] = [storedShape(meta.shape), storedDupefilter(meta.dupefilter)];
  return shape === null || dupefilter === null ? null : { ...shape, dupefilter };
}

/** The crawl's clock, which may be ahead of the server's: `lua/base/clock.lua`. */
function crawlClock({ clock, clock_ahead }: Record<string, string>, serverMs: number): number {
  return Math.max(numberIn(clock, 0), serverMs + numberIn(clock_ahead, 0));
}

async function readNodes(
  client: Client,
  keys: FrontierKeys,
  nowMs: number,
  nodeTimeoutMs: number,
): Promise<{ nodes: NodeSnapshot[]; silent: NodeSnapshot[] }> {
  const [beats, dead] = await Promise.all([
    client.zrange(internalKey(keys, 'nodes'), 0, -1, 'WITHSCORES'),
    client.zrange(internalKey(keys, 'dead'), 0, -1, 'WITHSCORES'),
  ]);
  const [heardAt, diedAt] = [pairs(beats), pairs(dead)];
  const incarnations = [...heardAt, ...diedAt].map(([incarnation]) => incarnation);
  // Only what belongs to these nodes: somebody else may have added any number of fields.
  const told = async (word: InternalWord, of: (name: string) => string = (name) => name) =>
    incarnations.length === 0 ? [] : client.hmget(internalKey(keys, word), ...incarnations.map(of));
  const [infos, held, settled, reports] = await Promise.all([
    told('node-info'),
    told('held'),
    told('settled'),
    told('telemetry', (name) => `node:${name}`),
  ]);
  const describe = (incarnation: string, heardAtMs: number): NodeSnapshot => {
    const at = incarnations.indexOf(incarnation);
    const info = storedObject(infos[at]);
    const startedAt = numberField(info, 'startedAt') ?? 0;
    const joinedAtMs = numberField(info, 'joinedAtMs');
    return {
      id: textField(info, 'id') ?? incarnation,
      host: textField(info, 'host') ?? '',
      pid: numberField(info, 'pid') ?? 0,
      startedAt,
      heartbeatAgeMs: Math.max(0, Math.round(nowMs - heardAtMs)),
      leased: numberIn(held[at] ?? undefined, 0),
      pages: numberIn(settled[at] ?? undefined, 0),
      pagesPerSecond: numberField(info, 'pagesPerSecond') ?? 0,
      clockAheadMs: joinedAtMs === undefined ? 0 : startedAt - joinedAtMs,
      facts: factsOf(reports[at]),
    };
  };
  const heard = heardAt.map(([incarnation, atMs]) => describe(incarnation, Number(atMs)));
  const isLive = ({ heartbeatAgeMs }: NodeSnapshot) => heartbeatAgeMs <= nodeTimeoutMs;
  const gone = diedAt.map(([incarnation, atMs]) => describe(incarnation, Number(atMs)));
  return { nodes: heard.filter(isLive), silent: [...heard.filter((node) => !isLive(node)), ...gone] };
}

async function readOutbox(client: Client, keys: FrontierKeys): Promise<OutboxSnapshot[]> {
  const feeds = await readFeeds((question) => question(client), keys);
  return feeds.map(({ feed, record, last }) => {
    const { host, path, pid, owner, format = null, sequence, lengthBytes = 0, header = '', end } = record;
    const { seenMs: seenAtMs, changed } = record;
    const waiting = Math.max(0, last - (sequence ?? 0));
    const isGivenUp = changed?.accepted === true;
    const reached = { lengthBytes, header, ...(end && { end }), ...(isGivenUp && { isGivenUp }) };
    const checkpoint = sequence === undefined ? null : { sequence, ...reached };
    const file = { checkpoint, change: isGivenUp ? null : changed };
    return { feed, host, path, waiting, writerPid: owner ? pid : null, format, seenAtMs, ...file };
  });
}
