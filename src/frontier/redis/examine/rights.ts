/**
 * Whether the user of Redis may run what crawlnode runs. A command is queued in a MULTI that is then discarded:
 * Redis judges the right and the number of arguments when it queues, so nothing is ever run. Rejected: ACL DRYRUN,
 * which needs Redis 7 and a right of its own.
 */
import type { Redis } from 'ioredis';
import type { Findings } from '../../findings.js';
import type { OpenOptions } from '../../open-options.js';
import { isDenied } from '../connection/errors.js';
import { library } from '../connection/library.js';

/** What this side sends beside the verbs, to any key of the crawl. */
const ours = (
  'HGET HGETALL HLEN HDEL HSCAN LLEN LRANGE RPUSH SCARD STRLEN SSCAN GET TYPE SRANDMEMBER ' +
  'SADD ZADD ZCARD ZCOUNT ZRANGE ZRANGEBYSCORE ZREVRANGE ZSCORE ZSCAN PTTL XADD'
).split(' ');

/** Without a key: the command, of one or two words, and its arguments. */
const bare = [
  ['PING'],
  ['TIME'],
  ['FCALL', library().functionOf('lease'), '0'],
  ['FUNCTION LOAD', '#!lua name=none'],
] as const;

/** Without these only some answers stay open. */
const optional = new Map([
  ['FUNCTION LIST', 'whether it holds functions of other versions of crawlnode stays unknown'],
  ['INFO', 'whether Redis may evict the crawl, or was restored from an older copy, stays unknown'],
  ['MEMORY USAGE', '"crawlnode stats" shows no sizes, and SCHEDULER_MEMORY_LIMIT has no effect'],
  ['SCAN', '"crawlnode stats" without a spider finds only the crawls of this project'],
]);

/** More arguments than any of our commands needs at least. */
const MAX_ARGUMENTS = 6;

/** @returns whether everything needed is allowed. */
export async function examineRights(
  client: Redis,
  { keys, startUrlsType }: OpenOptions,
  found: Findings,
): Promise<void> {
  const user = await userName(client);
  const isNeeded = (command: string) => startUrlsType === 'stream' || !/^X/.test(command);
  const needed = [...new Set([...commandsOfLibrary(), ...ours])].filter(isNeeded).sort();
  const denied: string[] = [];
  try {
    await client.call('MULTI');
  } catch (error) {
    if (!isDenied(error)) throw error;
    const message = `the user ${user} of Redis may not run MULTI, so its other rights cannot be tried; "doctor --deep" and backups need it too`;
    found.info('acl', message, `ACL SETUSER ${user} +multi +exec +discard`);
    return;
  }
  const silent: string[] = [];
  const unknown = new Set<string>();
  const mayQueue = (words: readonly string[], more = 0) => tryToQueue(client, unknown, words, more);
  try {
    for (const [name, ...args] of bare) {
      if (!(await mayQueue([...name.split(' '), ...args]))) denied.push(name);
    }
    for (const command of needed) {
      if (!(await mayQueue([command, keys.requests], MAX_ARGUMENTS))) denied.push(command);
    }
    for (const command of optional.keys()) {
      const words = [...command.split(' '), ...(command === 'MEMORY USAGE' ? [keys.requests] : [])];
      if (!(await mayQueue(words, 1))) silent.push(command);
    }
    const names = [keys.dupefilter, keys.items, keys.stats, ...keys.startUrls, `${keys.requests}:~meta`];
    for (const key of denied.length > 0 ? [] : names) {
      if (!(await mayQueue(['UNLINK', key]))) denied.push(`~${key}`);
    }
  } finally {
    await client.call('DISCARD').catch(() => undefined);
  }
  for (const command of silent) {
    found.info(
      'acl',
      `the user ${user} of Redis may not run ${command}: ${optional.get(command)}`,
      `ACL SETUSER ${user} ${rightTo(command)}`,
    );
  }
  if (unknown.size > 0) {
    const names = [...unknown].join(', ');
    found.problem(
      'redis_version',
      `this server has no command ${names}, which crawlnode needs`,
      `a rename-command in redis.conf may have taken it away: remove that line for ${names}, and limit users by ACL instead`,
    );
  }
  if (denied.length === 0 && unknown.size === 0) {
    found.ok(
      'acl',
      `the user ${user} may run all of the ${needed.length + bare.length} commands crawlnode uses, those of its functions included`,
    );
  }
  if (denied.length === 0) return;
  const rights = denied.map((name) => (name.startsWith('~') ? name : rightTo(name)));
  found.problem(
    'acl',
    `the user ${user} of Redis lacks ${denied.map((name) => name.replace('~', 'the key ')).join(', ')}`,
    `ACL SETUSER ${user} ${rights.join(' ')}`,
  );
}

/** A right to run a command as ACL SETUSER takes it. */
function rightTo(command: string): string {
  return `+${command.toLowerCase().replace(' ', '|')}`;
}

async function userName(client: Redis): Promise<string> {
  try {
    return String(await client.call('ACL', 'WHOAMI'));
  } catch {
    return client.options.username ?? 'default';
  }
}

/**
 * Queue a command with as few arguments as it takes.
 * @param unknown gets the name of a command that the server does not have
 * @returns false where it is denied
 */
async function tryToQueue(
  client: Redis,
  unknown: Set<string>,
  words: readonly string[],
  more: number,
): Promise<boolean> {
  for (let count = 0; count <= more; count += 1) {
    const [command = '', ...args] = [...words, ...Array.from({ length: count }, () => '1')];
    try {
      await client.call(command, ...args);
      return true;
    } catch (error) {
      if (isDenied(error)) return false;
      if (!(error instanceof Error && error.name === 'ReplyError')) throw error;
      if (error.message.includes('unknown command')) unknown.add(command);
      // What else a server refuses (a key of another server, a replica, full memory) it refuses after the rights.
      if (!error.message.includes('wrong number of arguments')) return true;
    }
  }
  return true;
}

/** Every command that stands in a verb, so that a new one is never forgotten here. */
function commandsOfLibrary(): string[] {
  const found = new Set<string>();
  for (const [, command] of library().text.matchAll(/(?:call|send|read)\('([A-Z]+)'/g)) found.add(command!);
  // TIME has no key; without OBJECT only the size of a CompactDupeFilter is not looked at.
  for (const command of ['TIME', 'OBJECT']) found.delete(command);
  return [...found];
}
