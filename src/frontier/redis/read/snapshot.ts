/** What `stats` and `reset` ask of a crawl in Redis: a snapshot, and how much each part holds. Reads only, bounded work. */
import { dataFormats } from '../../data-format.js';
import type { Control, NodeSnapshot, OutboxSnapshot, PartCounts, Shape, Snapshot } from '../../frontier.js';
import type { FrontierKeys } from '../../open-options.js';
import type { Client } from '../connection/client.js';
import { pairs } from '../connection/scan.js';
import { foundFormat } from '../doctor/preflight.js';
import { badSeedsKey, type InternalWord, internalKey, internalWords } from '../keys.js';
import { readFeeds } from '../redis-feeds.js';
import { readStats } from '../stored-stats.js';
import { dupefilterBytes, seenCount } from './dupefilter.js';
import { bytesOf, lengthOf, sum } from './measuring.js';
import { numberField, storedObject, textField } from './stored-json.js';

/** Everything `stats` shows: cardinalities, the nodes, the counters; MEMORY USAGE samples five entries a key. */
export async function takeSnapshot(client: Client, keys: FrontierKeys): Promise<Snapshot> {
  const key = (word: InternalWord): string => internalKey(keys, word);
  const [queued, suspects, delayed, leased, failed, items, domains, seen, seeds, bad, meta, stats, time] =
    await Promise.all([
      client.zcard(key('queue')),
      client.zcard(key('suspects')),
      client.zcard(key('delayed')),
      client.hlen(key('leases')),
      client.zcard(key('failed')),
      client.llen(keys.items),
      client.hlen(key('domains')),
      seenCount(client, keys),
      sum(keys.startUrls, (name) => lengthOf(client, name)),
      sum(keys.startUrls, (name) => client.llen(badSeedsKey(name))),
      client.hgetall(key('meta')),
      client.hgetall(keys.stats),
      client.time(),
    ]);
  const nowMs = Number(time[0]) * 1000 + Number(time[1]) / 1000;
  const [{ nodes, silent }, outbox, frontierBytes, seenBytes, seedBytes, itemBytes, statBytes] =
    await Promise.all([
      readNodes(client, keys, nowMs, Number(meta.node_timeout ?? 30_000)),
      readOutbox(client, keys),
      sum([keys.requests, ...internalWords.map(key)], (name) => bytesOf(client, name)),
      dupefilterBytes(client, keys),
      sum(keys.startUrls, (name) => bytesOf(client, name)),
      bytesOf(client, keys.items),
      bytesOf(client, keys.stats),
    ]);
  return {
    startUrls: seeds,
    badSeeds: bad,
    pending: queued + suspects,
    delayed,
    leased,
    suspects,
    accepted: Number(meta.accepted ?? 0),
    done: Number(meta.done ?? 0),
    failed,
    removed: Number(meta.removed ?? 0),
    lost: Number(meta.lost ?? 0),
    seen,
    items,
    domains,
    bytes: {
      frontier: frontierBytes,
      dupefilter: seenBytes,
      startUrls: seedBytes,
      items: itemBytes,
      stats: statBytes,
    },
    nodes,
    silent,
    ...readStats(stats),
    outbox,
    run:
      meta.run === undefined
        ? null
        : {
            id: meta.run,
            startedAt: Number(meta.run_started),
            pages: Number(meta.run_pages ?? 0),
            items: Number(meta.run_items ?? 0),
            failed: Number(meta.run_failed ?? 0),
            closed: meta.run_closed || meta.closing || null,
            endedAt: meta.run_ended ? Number(meta.run_ended) : null,
          },
    control: (meta.control ?? 'running') as Control,
    shape: readShape(meta),
    queueLimit: meta.queue_limit === undefined ? null : Number(meta.queue_limit),
    beganAtMs: instantOf(meta.began),
    seenSinceMs: instantOf(meta.seen_since ?? meta.began),
  };
}

const instantOf = (text: string | undefined): number | null => (text === undefined ? null : Number(text));

/** How much each part holds, for `reset --dry-run`. */
export async function countParts(client: Client, keys: FrontierKeys): Promise<PartCounts> {
  const key = (word: InternalWord): string => internalKey(keys, word);
  const [type, format] = await Promise.all([client.type(keys.requests), foundFormat(client, keys)]);
  // A queue left by Scrapy-Redis, or kept in another data format, counts as it is.
  const isOurs =
    type !== 'zset' && type !== 'list' && (format ?? String(dataFormats.redis)) === String(dataFormats.redis);
  const [queue, failed, seen, seeds, bad, items, stats] = await Promise.all([
    isOurs
      ? sum([key('queue'), key('suspects'), key('delayed'), key('leases')], (name) => lengthOf(client, name))
      : lengthOf(client, keys.requests),
    isOurs ? client.zcard(key('failed')) : 0,
    isOurs ? seenCount(client, keys) : lengthOf(client, keys.dupefilter),
    sum(keys.startUrls, (name) => lengthOf(client, name)),
    sum(keys.startUrls, (name) => client.llen(badSeedsKey(name))),
    lengthOf(client, keys.items),
    lengthOf(client, keys.stats),
  ]);
  return { queue, dupefilter: seen, start_urls: seeds + bad, items, stats, failed };
}

/** The shape is kept without its dupefilter, which may be agreed on before it. */
function readShape({ shape, dupefilter }: Record<string, string>): Shape | null {
  if (!shape || !dupefilter) return null;
  return { ...JSON.parse(shape), dupefilter: JSON.parse(dupefilter) } as Shape;
}

async function readNodes(
  client: Client,
  keys: FrontierKeys,
  nowMs: number,
  nodeTimeoutMs: number,
): Promise<{ nodes: NodeSnapshot[]; silent: NodeSnapshot[] }> {
  const [beats, dead, infos, held, pages] = await Promise.all([
    client.zrange(internalKey(keys, 'nodes'), 0, -1, 'WITHSCORES'),
    client.zrange(internalKey(keys, 'dead'), 0, -1, 'WITHSCORES'),
    client.hgetall(internalKey(keys, 'node-info')),
    client.hgetall(internalKey(keys, 'held')),
    client.hgetall(internalKey(keys, 'pages')),
  ]);
  const describe = (incarnation: string, heardAtMs: number): NodeSnapshot => {
    const info = storedObject(infos[incarnation]);
    const startedAt = numberField(info, 'startedAt') ?? 0;
    const joinedAtMs = numberField(info, 'joinedAtMs');
    return {
      id: textField(info, 'id') ?? incarnation,
      host: textField(info, 'host') ?? '',
      pid: numberField(info, 'pid') ?? 0,
      startedAt,
      heartbeatAgeMs: Math.max(0, Math.round(nowMs - heardAtMs)),
      leased: Number(held[incarnation] ?? 0),
      pages: Number(pages[incarnation] ?? 0),
      pagesPerSecond: numberField(info, 'pagesPerSecond') ?? 0,
      clockAheadMs: joinedAtMs === undefined ? 0 : startedAt - joinedAtMs,
    };
  };
  const nodes: NodeSnapshot[] = [];
  const silent: NodeSnapshot[] = [];
  for (const [incarnation, heardAtMs] of pairs(beats)) {
    const node = describe(incarnation, Number(heardAtMs));
    (node.heartbeatAgeMs <= nodeTimeoutMs ? nodes : silent).push(node);
  }
  for (const [incarnation, heardAtMs] of pairs(dead)) silent.push(describe(incarnation, Number(heardAtMs)));
  return { nodes, silent };
}

async function readOutbox(client: Client, keys: FrontierKeys): Promise<OutboxSnapshot[]> {
  const fields = await client.hgetall(internalKey(keys, 'feeds'));
  return readFeeds(fields).map(({ feed, record, last }) => {
    const { host, path, pid, owner, format = null, sequence = 0 } = record;
    const waiting = Math.max(0, last - sequence);
    return { feed, host, path, waiting, writerPid: owner ? pid : null, format };
  });
}
