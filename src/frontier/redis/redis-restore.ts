/** Bringing a backup back into Redis: one script an entry, each applied once however often it is sent. */

import {
  type BackupEntry,
  type BackupRequest,
  type RestoreTicket,
  seedOf,
  textBytes,
} from '../backup-entry.js';
import { delayInBounds, requireIds } from '../bounds.js';
import type { FailedRequest, Part } from '../frontier.js';
import { nodesAtWork } from '../nodes-at-work.js';
import type { OpenOptions } from '../open.js';
import { otherRestore, partNotEmpty, restoreGone } from '../restore-refusals.js';
import { type Argument, packPriority, withoutNul } from './batch.js';
import { bitsArguments, indexArguments, seenArguments } from './redis-backup-dupefilter.js';
import { int, type Reply, text } from './reply.js';
import type { Verb } from './scripts.js';

/** What a frontier lends its restores. */
export interface RestoreDeps {
  call(verb: Verb, args: readonly Argument[]): Promise<Reply>;
  /** Queue class and epoch for a meta that is not there yet. */
  forNewMeta(): readonly [queueClass: string, epoch: string];
}

type Entry<Kind extends BackupEntry['kind']> = Extract<BackupEntry, { kind: Kind }>;

const NUMBERS_BYTES = 21;

export class RedisRestore {
  readonly #options: OpenOptions;
  readonly #deps: RestoreDeps;

  constructor(options: OpenOptions, deps: RestoreDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  async begin({ id, parts, exclusive, force }: RestoreTicket): Promise<number | null> {
    const answer = await this.#deps.call('restore-begin', [
      ...[id, force ? 1 : 0],
      ...this.#deps.forNewMeta(),
      ...parts.map((part) => (exclusive.includes(part) ? `${part}!` : part)),
    ]);
    const [status, detail] = answer as Reply[];
    switch (text(status)) {
      case 'begun':
        return int(detail);
      case 'whole':
        return null;
      case 'live':
        throw nodesAtWork(int(detail), 'restore');
      case 'full':
        throw partNotEmpty(text(detail) as Part);
      default:
        throw otherRestore();
    }
  }

  async apply(id: string, number: number, entry: BackupEntry): Promise<void> {
    const found = this.#argumentsOf(entry);
    if (found === null) return;
    const [verb, args] = found;
    if (int(await this.#deps.call(verb, [id, number, ...args])) < 0) throw restoreGone();
  }

  async end(id: string): Promise<void> {
    if (int(await this.#deps.call('restore-end', [id])) === 0) throw restoreGone();
  }

  /** Null where there is nothing to do. */
  #argumentsOf(entry: BackupEntry): [Verb, Argument[]] | null {
    switch (entry.kind) {
      case 'crawl':
        return ['restore-crawl', crawlArguments(entry)];
      case 'requests':
        return ['restore-requests', requestArguments(entry.values)];
      case 'failed':
        return ['restore-failed', failedArguments(entry.values)];
      case 'seeds':
        return ['restore-values', this.#seedArguments(entry)];
      case 'dupefilter':
        return entry.index === null ? null : indexArguments(entry.index);
      case 'seen':
        return seenArguments(entry, this.#options.shape.dupefilter);
      case 'bits':
        return bitsArguments(entry);
      case 'items':
        return ['restore-values', ['items', ...entry.values.map(textBytes)]];
      case 'outbox':
        return ['restore-values', ['outbox', entry.feed, ...entry.values.map(textBytes)]];
      case 'feed':
        return ['restore-values', feedArguments(entry)];
      case 'stats':
        return ['restore-values', ['stats', ...entry.values.flat()]];
    }
  }

  /** Seeds go to the key of the same number, or the last there is, as its type has them. */
  #seedArguments({ key, bad, values }: Entry<'seeds'>): Argument[] {
    const { keys, startUrlsType } = this.#options;
    const head = ['seeds', Math.min(key + 1, keys.startUrls.length), bad ? 'bad' : startUrlsType];
    const isScored = !bad && startUrlsType === 'zset';
    return [
      ...head,
      ...values.map(seedOf).flatMap(({ value, score }) => (isScored ? [score, value] : [value])),
    ];
  }
}

function crawlArguments(entry: Entry<'crawl'>): Argument[] {
  const { queueClass, shape, start, done, removed, beganAtMs, seenSinceMs } = entry;
  return [
    ...[queueClass, shape === null ? '' : JSON.stringify(shape), start, done, removed],
    ...[beganAtMs ?? '', seenSinceMs ?? ''],
  ];
}

function requestArguments(requests: readonly BackupRequest[]): Argument[] {
  requireIds(requests.map(({ id }) => ({ id, fingerprint: id })));
  const numbers = Buffer.alloc(requests.length * NUMBERS_BYTES);
  const indexes = new Map<string, number>();
  for (const [n, { domain, priority, arrival = 0, dueAtMs = 0, crashes = 0 }] of requests.entries()) {
    const index = indexes.get(domain) ?? indexes.size;
    indexes.set(domain, index);
    const at = n * NUMBERS_BYTES;
    numbers.set(packPriority(priority), at);
    numbers.writeUInt8(Math.floor(arrival / 2 ** 48), at + 5);
    numbers.writeUIntBE(arrival % 2 ** 48, at + 6, 6);
    numbers.writeUIntBE(delayInBounds(dueAtMs), at + 12, 6);
    numbers.writeUInt8(Math.min(crashes, 255), at + 18);
    numbers.writeUInt16BE(index, at + 19);
  }
  const ids = Buffer.from(requests.map(({ id }) => id).join(''), 'hex');
  const names = [...indexes.keys()].map((domain) => `${withoutNul(domain)}\0`).join('');
  return [requests.length, ids, numbers, names, ...requests.map(({ record }) => record)];
}

/** The list is in the order of instants in µs: those of one ms stay in theirs. */
function failedArguments(requests: readonly FailedRequest[]): Argument[] {
  requireIds(requests.map(({ id }) => ({ id, fingerprint: id })));
  let lastUs = 0;
  return requests.flatMap(({ id, record, failedAtMs, crashes, ...why }) => {
    lastUs = Math.max(lastUs + 1, failedAtMs * 1000);
    const { reason, status, attempts, node, detail } = why;
    const failure = { reason, status, attempts, node, detail, ...(crashes > 0 ? { crashes } : {}) };
    return [Buffer.from(id, 'hex'), lastUs, JSON.stringify(failure), crashes, record ?? ''];
  });
}

function feedArguments({ feed, host, path, format, exporting, checkpoint }: Entry<'feed'>): Argument[] {
  // Nobody writes it: its pid is of a process that is long gone, and without an owner it does not matter.
  const record = {
    host,
    path,
    format,
    pid: 0,
    seenMs: 0,
    ...(exporting ? { exporting } : {}),
    ...checkpoint,
  };
  return ['feed', feed, JSON.stringify(record), checkpoint?.sequence ?? 0];
}
