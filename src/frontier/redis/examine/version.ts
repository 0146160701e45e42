/** Which server of the Redis protocol this is, and whether it has the Redis Functions that crawlnode is made of. */
import { duration } from '../../../format-amounts.js';
import type { Findings } from '../../findings.js';

/** By the field of INFO that tells its version; the others give one of Redis too. Dragonfly has no functions at all. */
const servers = [
  { field: 'dragonfly_version', name: 'Dragonfly', oldest: null },
  { field: 'valkey_version', name: 'Valkey', oldest: [7, 2] },
  { field: 'redis_version', name: 'Redis', oldest: [7, 0] },
] as const;

/** @param info of INFO, by name. */
export function examineVersion(info: ReadonlyMap<string, string>, found: Findings): void {
  const server = servers.find(({ field }) => info.has(field));
  const version = info.get(server?.field ?? '') ?? 'of an unknown version';
  const spoken = `${server?.name ?? 'a server'} ${version}`;
  if (server === undefined || server.oldest === null || isOlder(version, server.oldest)) {
    found.problem(
      'redis_version',
      `${spoken} has no Redis Functions, which crawlnode needs`,
      'install Redis 7.0 or newer, or Valkey 7.2 or newer; crawlnode is tested on Redis 7.0',
    );
    return;
  }
  const mode = info.get('redis_mode') ?? info.get('server_mode') ?? 'standalone';
  const upMs = (Number(info.get('uptime_in_seconds')) || 0) * 1000;
  found.ok('redis_version', `${spoken}, ${mode}, up ${duration(upMs)}`);
}

function isOlder(version: string, [major, minor]: readonly [number, number]): boolean {
  const [itsMajor = 0, itsMinor = 0] = version.split('.').map(Number);
  return !(itsMajor > major || (itsMajor === major && itsMinor >= minor));
}
