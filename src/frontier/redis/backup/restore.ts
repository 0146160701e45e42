/** Restores a backup into Redis with one call per entry. An entry that is sent again is not applied again (`lua/backup/`). */
import { STAT_PREFIX } from '../../../stats/stat-change.js';
import {
  type BackupEntry,
  type BackupRequest,
  type Backups,
  type EntryOf,
  type RestoreTicket,
  restoredCookie,
  seedOf,
  textBytes,
} from '../../backup/entry.js';
import { judgeRestore } from '../../backup/parts.js';
import { delayInBounds, requireIds } from '../../clamp-values.js';
import type { FailedRequest } from '../../frontier.js';
import type { OpenOptions } from '../../open-options.js';
import { nodesAtWork, otherRestore, restoreGone } from '../../refusals.js';
import type { Arguments } from '../connection/lua-message.js';
import { int, json } from '../connection/reply.js';
import { changeArguments } from '../cookies/cookie-reply.js';
import { countParts } from '../crawl/snapshot.js';
import type { CrawlAccess } from '../crawl-access.js';
import { internalKey } from '../keys.js';
import { startField } from '../nodes/join.js';
import { domainName } from '../request-columns.js';
import { storedStat } from '../stored-stats.js';
import { indexArguments, seenArguments } from './dupefilter.js';

/** The answer of `lua/backup/restore-begin.lua`. Which field there is depends on the status. */
type Begun = Readonly<{ status: string; entries: number; nodes: number; restoredFrom?: string }>;

/** The verbs of a restore. */
export function redisRestore({ connection, options, call, forNewMeta }: CrawlAccess): Omit<Backups, 'read'> {
  const { keys } = options;

  async function begin(ticket: RestoreTicket, mayBegin: boolean): Promise<number | null> {
    const { id, force } = ticket;
    const args = { restore: id, force, mayBegin, ...forNewMeta() };
    const { status, entries, nodes, restoredFrom = null } = json<Begun>(await call('restore_begin', args));
    if (status === 'live') throw nodesAtWork(nodes, 'restore');
    if (status === 'other') throw otherRestore();
    if (status === 'begun') return entries;
    const [counts, waiting] = await connection.patiently((client) =>
      Promise.all([countParts(client, keys), client.hlen(internalKey(keys, 'outbox'))]),
    );
    const judged = judgeRestore({ ...counts, items: counts.items + waiting }, ticket, restoredFrom);
    return judged === 'whole' ? null : begin(ticket, true);
  }

  return {
    begin: (ticket) => begin(ticket, false),
    async apply(id, number, entry) {
      // The bits of other classes of dupefilters need no index.
      if (entry.kind === 'dupefilter' && entry.index === null) return;
      // The compiler cannot see that both are of one kind.
      const args = argumentsOf[entry.kind](entry as never, options);
      const answer = await call('restore_entry', { restore: id, entry: number, kind: entry.kind, ...args });
      if (int(answer) < 0) throw restoreGone();
    },
    async end(id) {
      if (int(await call('restore_end', { restore: id })) === 0) throw restoreGone();
    },
  };
}

/** Entries of each kind as `lua/backup/restore-entry.lua` takes them. */
const argumentsOf: {
  readonly [Kind in BackupEntry['kind']]: (entry: EntryOf<Kind>, options: OpenOptions) => Arguments;
} = {
  crawl: crawlArguments,
  requests: ({ values }) => ({ requests: requestArguments(values) }),
  failed: ({ values }) => ({ requests: failedArguments(values) }),
  cookies: ({ values }) => ({ changes: values.map((cookie) => changeArguments(restoredCookie(cookie))) }),
  dupefilter: ({ index }) => ({ index: indexArguments(index ?? []) }),
  seen: (entry, { shape }) => seenArguments(entry, shape.dupefilter),
  bits: ({ values }) => ({ pieces: values.map(([n, bits]) => [n, Buffer.from(bits, 'base64')]) }),
  seeds: seedArguments,
  items: ({ values }) => ({ values: values.map(textBytes) }),
  outbox: ({ feed, values }) => ({ feed, values: values.map(textBytes) }),
  feed: feedArguments,
  stats: statsArguments,
};

function crawlArguments(entry: EntryOf<'crawl'>): Arguments {
  const { queueClass, shape, start, starts = {}, done, removed, lost = 0, beganAtMs, seenSinceMs } = entry;
  const byField = Object.entries(starts).map(([key, pushed]) => [startField(key), pushed]);
  return {
    ...{ queueClass, starts: Object.fromEntries([['start', start], ...byField]), done, removed, lost },
    ...{ shape: shape && JSON.stringify(shape), began: beganAtMs, seen_since: seenSinceMs },
  };
}

/** Counters add up; a stat of the user's own that is there stays. */
function statsArguments({ values }: EntryOf<'stats'>): Arguments {
  const isCustom = ([name]: readonly [string, unknown]) => name.startsWith(STAT_PREFIX);
  return {
    counters: Object.fromEntries(values.filter((each) => !isCustom(each))),
    custom: values.filter(isCustom).flatMap(([name, value]) => [name, storedStat(value)]),
  };
}

function requestArguments(requests: readonly BackupRequest[]): Arguments[] {
  requireIds(requests.map(({ id }) => ({ id, fingerprint: id })));
  return requests.map(({ id, domain, priority, arrival = 0, dueAtMs, crashes = 0, record }) => ({
    ...{ id: Buffer.from(id, 'hex'), domain: domainName(domain), priority, arrival },
    ...{ dueAtMs: delayInBounds(dueAtMs), crashes, record },
  }));
}

/** The failed list is ordered by instants in µs. Requests of the same ms keep their order. */
function failedArguments(requests: readonly FailedRequest[]): Arguments[] {
  requireIds(requests.map(({ id }) => ({ id, fingerprint: id })));
  let atUs = 0;
  return requests.map(({ id, record, failedAtMs, ...failure }) => {
    atUs = Math.max(atUs + 1, failedAtMs * 1000);
    const { crashes = 0 } = failure;
    const args = { id: Buffer.from(id, 'hex'), atUs, failure: JSON.stringify(failure), crashes };
    return { ...args, record: record || undefined };
  });
}

/** Seeds go to the key of the same position, or to the last one, in the form of its type. */
function seedArguments(
  { key, bad, values }: EntryOf<'seeds'>,
  { keys, startUrlsType }: OpenOptions,
): Arguments {
  const isScored = !bad && startUrlsType === 'zset';
  return {
    key: Math.min(key + 1, keys.startUrls.length),
    type: bad ? 'bad' : startUrlsType,
    values: values.map(seedOf).flatMap(({ value, score }) => (isScored ? [score, value] : [value])),
  };
}

function feedArguments({ feed, host, path, format, exporting, checkpoint }: EntryOf<'feed'>): Arguments {
  // The restored feed has no writer. Without an owner its pid is not used.
  const writer = { host, path, format, pid: 0, seenMs: 0, ...(exporting ? { exporting } : {}) };
  const record = JSON.stringify({ ...writer, ...checkpoint });
  return { feed, record, last: checkpoint?.sequence ?? 0 };
}
