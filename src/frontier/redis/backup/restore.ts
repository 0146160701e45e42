/** Restores a backup into Redis with one call per entry. An entry that is sent again is not applied again (`lua/backup/`). */
import { STAT_PREFIX } from '../../../stats/stat-change.js';
import {
  type BackupEntry,
  type BackupRequest,
  type Backups,
  restoredCookie,
  seedOf,
  textBytes,
} from '../../backup/entry.js';
import { delayInBounds, requireIds } from '../../clamp-values.js';
import type { FailedRequest, Part } from '../../frontier.js';
import type { OpenOptions } from '../../open-options.js';
import { nodesAtWork, otherRestore, partNotEmpty, restoreGone } from '../../refusals.js';
import type { Arguments } from '../connection/lua-message.js';
import { int, named, text } from '../connection/reply.js';
import { changeArguments } from '../cookies/cookie-reply.js';
import type { CrawlAccess } from '../crawl-access.js';
import { startField } from '../join.js';
import { domainName } from '../request-columns.js';
import { storedStat } from '../stored-stats.js';
import { indexArguments, seenArguments } from './dupefilter.js';

type Entry<Kind extends BackupEntry['kind']> = Extract<BackupEntry, { kind: Kind }>;
type VerbCall = readonly [verb: string, args: Arguments];

/** The verbs of a restore. */
export function redisRestore({ options, call, forNewMeta }: CrawlAccess): Omit<Backups, 'read'> {
  return {
    async begin({ id, parts, exclusive, force }) {
      const args = { restore: id, force, parts, exclusive, ...forNewMeta() };
      const answer = named(await call('restore_begin', args));
      switch (text(answer.status)) {
        case 'begun':
          return int(answer.entries);
        case 'whole':
          return null;
        case 'live':
          throw nodesAtWork(int(answer.nodes), 'restore');
        case 'full':
          throw partNotEmpty(text(answer.part) as Part);
        default:
          throw otherRestore();
      }
    },
    async apply(id, number, entry) {
      const found = callFor(entry, options);
      if (found === null) return;
      const [verb, args] = found;
      if (int(await call(verb, { restore: id, entry: number, ...args })) < 0) throw restoreGone();
    },
    async end(id) {
      if (int(await call('restore_end', { restore: id })) === 0) throw restoreGone();
    },
  };
}

/** The verb that applies an entry, and its arguments; null where there is nothing to do. */
function callFor(entry: BackupEntry, options: OpenOptions): VerbCall | null {
  switch (entry.kind) {
    case 'crawl':
      return ['restore_crawl', crawlArguments(entry)];
    case 'requests':
      return ['restore_requests', { requests: requestArguments(entry.values) }];
    case 'failed':
      return ['restore_failed', { requests: failedArguments(entry.values) }];
    case 'cookies':
      return [
        'restore_cookies',
        { changes: entry.values.map((cookie) => changeArguments(restoredCookie(cookie))) },
      ];
    case 'dupefilter':
      return entry.index === null ? null : ['restore_bits', { index: indexArguments(entry.index) }];
    case 'seen':
      return ['restore_seen', seenArguments(entry, options.shape.dupefilter)];
    case 'bits':
      return ['restore_bits', { pieces: entry.values.map(([n, bits]) => [n, Buffer.from(bits, 'base64')]) }];
    case 'seeds':
      return ['restore_values', seedArguments(entry, options)];
    case 'items':
      return ['restore_values', { kind: 'items', values: entry.values.map(textBytes) }];
    case 'outbox':
      return ['restore_values', { kind: 'outbox', feed: entry.feed, values: entry.values.map(textBytes) }];
    case 'feed':
      return ['restore_values', feedArguments(entry)];
    case 'stats':
      return ['restore_values', statsArguments(entry)];
  }
}

function crawlArguments(entry: Entry<'crawl'>): Arguments {
  const { queueClass, shape, start, starts = {}, done, removed, lost = 0, beganAtMs, seenSinceMs } = entry;
  const byField = Object.entries(starts).map(([key, pushed]) => [startField(key), pushed]);
  return {
    ...{ queueClass, starts: Object.fromEntries([['start', start], ...byField]), done, removed, lost },
    shape: shape === null ? undefined : JSON.stringify(shape),
    began: beganAtMs ?? undefined,
    seen_since: seenSinceMs ?? undefined,
  };
}

/** Counters add up; a stat of the user's own that is there stays. */
function statsArguments({ values }: Entry<'stats'>): Arguments {
  const isCustom = ([name]: readonly [string, unknown]) => name.startsWith(STAT_PREFIX);
  return {
    kind: 'stats',
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
  return requests.map(({ id, record, failedAtMs, crashes, ...why }) => {
    atUs = Math.max(atUs + 1, failedAtMs * 1000);
    const { reason, status, attempts, node, detail } = why;
    const failure = { reason, status, attempts, node, detail, ...(crashes > 0 ? { crashes } : {}) };
    const args = { id: Buffer.from(id, 'hex'), atUs, failure: JSON.stringify(failure), crashes };
    return { ...args, record: record || undefined };
  });
}

/** Seeds go to the key of the same position, or to the last one, in the form of its type. */
function seedArguments(
  { key, bad, values }: Entry<'seeds'>,
  { keys, startUrlsType }: OpenOptions,
): Arguments {
  const isScored = !bad && startUrlsType === 'zset';
  return {
    kind: 'seeds',
    key: Math.min(key + 1, keys.startUrls.length),
    type: bad ? 'bad' : startUrlsType,
    values: values.map(seedOf).flatMap(({ value, score }) => (isScored ? [score, value] : [value])),
  };
}

function feedArguments({ feed, host, path, format, exporting, checkpoint }: Entry<'feed'>): Arguments {
  // The restored feed has no writer. Without an owner its pid is not used.
  const writer = { host, path, format, pid: 0, seenMs: 0, ...(exporting ? { exporting } : {}) };
  const record = JSON.stringify({ ...writer, ...checkpoint });
  return { kind: 'feed', feed, record, last: checkpoint?.sequence ?? 0 };
}
