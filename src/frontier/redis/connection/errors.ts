/** Translates errors of Redis and the network: which are final, which may succeed on another try, and what to do. */
import type { RedisOptions } from 'ioredis';
import {
  CrawlnodeError,
  DamagedStoreError,
  FrontierGoneError,
  FrontierUnavailableError,
  IncarnationDeadError,
  messageOf,
  RefusedError,
} from '../../../errors.js';
import { n } from '../../../format-amounts.js';
import { otherFormat } from '../../data-format.js';
import type { Dupefilter } from '../../frontier.js';
import type { RedisAddress } from '../../open-options.js';
import { otherShape } from '../../shared-settings/shape-differences.js';
import { storedJson } from '../crawl/stored-json.js';

const refusals =
  /^(NOAUTH|WRONGPASS|NOPERM|ERR (invalid password|AUTH|Client sent AUTH|DB index|invalid DB))/;
/** Replies of a server that is not ready, or is not the master any more: a later try may succeed. */
const passing =
  /^(LOADING|BUSY|TRYAGAIN|CLUSTERDOWN|MASTERDOWN|READONLY|MISCONF|UNBLOCKED|OOM|NOREPLICAS|ERR max number of clients|ERR Function not found|MOVED|ASK)/;

/**
 * A function was stopped at a command that its user may no longer run; Redis 7.0 does not say which. It is not called again
 * until then, since each call would repeat what it does before that command.
 */
const lostRight = /user executing the script can't run this command|ACL failure in script/;

/** @returns a final error; null when another try may succeed. */
export function translate(error: unknown): Error | null {
  // An error of crawlnode itself, or a call that is too large, is the same at each try.
  if (error instanceof CrawlnodeError || error instanceof RangeError) return error;
  const message = messageOf(error);
  if (/unknown command '?`?(FCALL|FUNCTION)/i.test(message)) return withoutFunctions(error);
  const [, code, rest] = /^(?:ERR )?CRAWLNODE_(\w+) (.*)/.exec(message.replace(/ script: .*$/s, '')) ?? [];
  if (code === 'GONE') {
    return new FrontierGoneError(
      `the crawl's records have vanished from Redis: its server was replaced by one with older data or none, or somebody reset the crawl or flushed the database; start the nodes again`,
    );
  }
  if (code === 'SHAPE') {
    const both = storedJson(rest) as [Dupefilter, Dupefilter] | null;
    if (both === null) return damagedCrawl(error);
    return otherShape({ dupefilter: both[0] }, { dupefilter: both[1] });
  }
  if (code === 'TYPE') {
    const [key = '', found = '', wanted = ''] = (storedJson(rest) ?? []) as string[];
    return foreignKeyError(foreignKey(key, found, wanted), error);
  }
  if (code === 'MANY') {
    const [key = '', count] = (storedJson(rest) ?? []) as string[];
    return foreignKeyError(tooManyFields(key, Number(count)), error);
  }
  if (code === 'FIELD') return unreadableField(rest ?? '', error);
  if (code === 'FIELDS') {
    const [key, count] = rest?.split(' ') ?? [];
    return damagedRecord(
      `${count} field${count === '1' ? '' : 's'} of ${key} ${count === '1' ? 'is' : 'are'} gone`,
      error,
    );
  }
  if (code === 'RECORD')
    return damagedRecord(`${rest} is gone, though the requests of its crawl are there`, error);
  if (code === 'SERVER') return new OtherServer(rest);
  if (code === 'OLDER') return new IncarnationDeadError(rest ?? message, { code: 'store_replaced' });
  if (code === 'DEAD') return new IncarnationDeadError(rest ?? message);
  if (code === 'FORMAT') {
    return otherFormat('redis', 'in Redis', rest ?? 'unknown');
  }
  if (isRefusal(error)) {
    return new FrontierUnavailableError(`Redis refuses: ${message}`, {
      code: 'unauthorized',
      cause: error,
    });
  }
  if (lostRight.test(message)) {
    return new CrawlnodeError(
      'unauthorized',
      'the user of Redis has lost a right in the middle of a call: "crawlnode doctor SPIDER" names each right that is missing; give them back, then run "crawlnode doctor SPIDER --deep", as such a call may be half done',
      { cause: error },
    );
  }
  if (message.startsWith('WRONGTYPE')) {
    return foreignKeyError(
      `${keyOf(error)} holds another type than crawlnode writes: "crawlnode doctor SPIDER" says which`,
      error,
    );
  }
  if (!isReply(error) || passing.test(message)) return null;
  return isOfLua.test(message) ? damagedCrawl(error) : error;
}

/** An error of Lua code, with a line of our source that says nothing to a user. */
const isOfLua = /\buser_(function|script):|\bscript: /;

/** A verb met stored bytes that no other verb has written. */
export function damagedCrawl(cause: unknown): DamagedStoreError {
  return new DamagedStoreError(
    'a key of this crawl in Redis holds something that crawlnode did not write: "crawlnode doctor SPIDER --deep" names what it finds, and "crawlnode doctor SPIDER --repair" rebuilds the queues from the requests',
    { cause },
  );
}

/** Without this field the crawl would ask sites too often, or forget what it has seen. */
function unreadableField(what: string, cause: unknown): DamagedStoreError {
  const [, key, field = ''] = /^(.*) (\S+)$/.exec(what) ?? [];
  const found = `the field ${field} of ${key} holds something that crawlnode did not write`;
  if (key?.endsWith('meta') && !tunables.has(field)) return damagedRecord(found, cause);
  const todo = key?.endsWith('index')
    ? 'run "crawlnode reset SPIDER --only dupefilter"'
    : 'start the nodes again, which writes it anew from their settings';
  return new DamagedStoreError(`${found}: ${todo}`, { cause });
}

/** Those that `lua/domains/domain-limits.lua` checks. */
const tunables: ReadonlySet<string> = new Set([
  ...['delay', 'limit', 'slots', 'autothrottle', 'queue_limit', 'memory_limit', 'pages_per_domain'],
]);

/** The crawl would seem to be over, or begin again. */
function damagedRecord(what: string, cause: unknown): DamagedStoreError {
  return new DamagedStoreError(
    `${what}: somebody deleted or overwrote it, or a call was cut off half done as its user lost a right; stop the nodes and run "crawlnode doctor SPIDER --repair", which makes it anew from the requests, or "crawlnode reset SPIDER"`,
    { cause },
  );
}

export function foreignKeyError(message: string, cause?: unknown): RefusedError {
  return new RefusedError(message, { code: 'foreign_key', cause });
}

/** What to do with a key that holds another type than it should. */
export function foreignKey(key: string, found: string, wanted: string): string {
  const what = `${key} is a ${found.toUpperCase()} and must be a ${wanted.toUpperCase()}`;
  return key.includes(':~')
    ? `${what}: somebody overwrote it; stop the nodes, delete it (DEL ${key}), and run "crawlnode doctor SPIDER --repair", which rebuilds the queues from the requests`
    : `${what}; it belongs to something else: delete or rename it, or change its key setting`;
}

/** What to do with a HASH that holds more than crawlnode writes. @param characters of these fields, where it was read so far only */
export function tooManyFields(key: string, count: number, characters?: number): string {
  const found =
    characters === undefined
      ? `${n(count)} fields`
      : `at least ${n(count)} fields and ${n(characters)} characters`;
  return (
    `${key} has ${found}, more than crawlnode writes: something else wrote to it. Stop the nodes, delete those fields ` +
    '(HDEL), and run "crawlnode doctor SPIDER --repair"'
  );
}

/** The first key of a command of our own. */
function keyOf(error: unknown): string {
  const { args } = ((error ?? {}) as { command?: { args?: readonly unknown[] } }).command ?? {};
  const [key] = args ?? [];
  return typeof key === 'string' || Buffer.isBuffer(key) ? String(key) : 'a key of this crawl';
}

/** Whether the user lacks a right. */
export const isDenied = (error: unknown): boolean => messageOf(error).startsWith('NOPERM');

/** The answer to a command; `otherwise` where the user lacks the right. */
export function ifAllowed<T, U>(answer: Promise<T>, otherwise: U): Promise<T | U> {
  return answer.catch((error: unknown) => {
    if (isDenied(error)) return otherwise;
    throw error;
  });
}

/** Whether a call came to a server without our library, or with another one under its name. */
export function isMissingFunction(error: unknown): boolean {
  return error instanceof OtherLibrary || messageOf(error).startsWith('ERR Function not found');
}

/** An answer that no verb of ours gives. */
export class OtherLibrary extends RefusedError {
  constructor(library: string) {
    super(
      `the functions of ${library} in this Redis are not those of crawlnode, also after they were loaded again: see who loads others under that name ("FUNCTION LIST LIBRARYNAME ${library}")`,
      { code: 'other_library' },
    );
  }
}

/** Whether a store has reached its maxmemory. */
export function isFull(error: unknown): boolean {
  return messageOf(error).startsWith('OOM');
}

/** A lease came to another server of the Cluster than the node knows. */
export class OtherServer extends Error {
  override readonly name = 'OtherServer';
}

/** The server has reached its maxmemory, and has not got the library of this version yet: even what frees memory must wait. */
export class LibraryNeedsMemory extends Error {
  constructor(cause: unknown) {
    super(`OOM the server is full, and does not know the functions of this crawlnode yet`, { cause });
    this.name = 'ReplyError';
  }
}

function withoutFunctions(cause: unknown): RefusedError {
  return new RefusedError(
    'this server has no Redis Functions, which crawlnode needs: use Redis 7.0 or newer, or Valkey 7.2 or newer (KeyDB and Dragonfly have none), or the embedded engine',
    { code: 'server_version', cause },
  );
}

/** Whether the server refuses this client, so that another try is useless. */
export function isRefusal(error: unknown): boolean {
  return refusals.test(messageOf(error));
}

function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

/**
 * The error of a call that was repeated without success: the server is not ready, or away.
 * @param whyLost why the connection was lost, for a server that is away.
 */
export function unanswered(error: unknown, whyLost: string): FrontierUnavailableError {
  if (!isReply(error)) {
    return new FrontierUnavailableError(`Redis does not answer: ${whyLost}`, { cause: error });
  }
  const said = error.message.replace(/\.?( script: .*)?$/s, '');
  const todo = Object.entries(remedies).find(([code]) => said.startsWith(code))?.[1];
  const what = `Redis refuses for now: ${said}${todo === undefined ? '' : `; ${todo}`}`;
  return new FrontierUnavailableError(what, { cause: error });
}

const remedies = {
  OOM: 'raise its maxmemory, or make room ("crawlnode stats" shows what takes it)',
  MISCONF: 'it cannot save to its disk: see to that, or to its log',
  READONLY: 'it is a replica: name the master, or its sentinels',
  NOREPLICAS: 'see to its replicas, or lower REDIS_WAIT_REPLICAS or its min-replicas-to-write',
} as const;

/**
 * The error of a failed connection.
 * @param triedMs for how long it was tried; not used when it was refused
 * @param clusterState what a server of the Cluster says of it; null where none answers, and without a Cluster
 */
export function unreachable(
  address: RedisAddress,
  cause: unknown,
  triedMs: number,
  clusterState: string | null = null,
): FrontierUnavailableError {
  const said = networkMessageOf(cause);
  // The client takes what another kind of server answers for a fault of its own.
  const message = said.startsWith('Protocol error') ? 'what answers there is no Redis' : said;
  const where = placeOf(address);
  if (isRefusal(cause)) {
    const text = `Redis at ${where} refuses: ${message}; ${hintFor(message)}`;
    // A database that the server does not have is no question of rights.
    const code = /DB index|invalid DB/.test(message) ? {} : { code: 'unauthorized' as const };
    return new FrontierUnavailableError(text, { ...code, cause });
  }
  if (clusterState !== null) {
    const tried = `tried for ${Math.round(triedMs / 1000)} s`;
    return new FrontierUnavailableError(
      `the Redis Cluster at ${where} does not serve (${tried}): ${clusterState}`,
      {
        cause,
      },
    );
  }
  return new FrontierUnavailableError(
    `Redis at ${where} cannot be reached (tried for ${Math.round(triedMs / 1000)} s): ${message}; check the address in the settings (such as REDIS_URL) and that the server runs${asksForTls(address) ? ' and speaks TLS (rediss:// asks for it)' : ''}`,
    { cause },
  );
}

/** For a name with several addresses Node gives an error without a message. */
export function networkMessageOf(error: unknown): string {
  return messageOf(error) || ((error as NodeJS.ErrnoException).code ?? 'no answer');
}

function asksForTls({
  options,
  ...address
}: RedisAddress & { readonly options?: object; readonly url?: string | null }): boolean {
  return address.url?.startsWith('rediss:') === true || 'tls' in (options ?? {});
}

function hintFor(refusal: string): string {
  if (refusal.startsWith('NOPERM')) return 'the ACL user lacks a right';
  if (/DB index|invalid DB/.test(refusal)) return 'check REDIS_DB, or the number at the end of REDIS_URL';
  return 'check REDIS_USERNAME and REDIS_PASSWORD (or those in REDIS_URL)';
}

/** Host and port for messages, and the database if it is another than 0. */
export function placeOf(address: RedisAddress): string {
  if (address.kind === 'cluster') return address.nodes.map(({ host, port }) => `${host}:${port}`).join(', ');
  if (address.kind === 'sentinel') {
    const { name, sentinels = [] } = address.options as RedisOptions;
    const places = sentinels.map(({ host = '127.0.0.1', port = 26_379 }) => `${host}:${port}`);
    return `the sentinels of ${name} (${places.join(', ')})`;
  }
  if (address.url === null) return `${address.options.host ?? '127.0.0.1'}:${address.options.port ?? 6379}`;
  try {
    const url = new URL(address.url);
    const database = /^\/[1-9]/.test(url.pathname) ? url.pathname : '';
    return url.host === '' ? url.pathname : `${url.host}${database}`;
  } catch {
    return 'the REDIS_URL given';
  }
}
