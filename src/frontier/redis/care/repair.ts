/** Repair of a crawl in Redis. Not converted to Redis Functions yet. */
import type { Frontier, Repaired } from '../../frontier.js';
import type { OpenOptions } from '../../open.js';
import type { Call } from '../calls.js';
import type { RedisConnection } from '../connection.js';

export async function repairRedis(
  _connection: RedisConnection,
  _options: OpenOptions,
  _call: Call,
  _read: Parameters<Frontier['repair']>[0],
  _force: boolean,
): Promise<Repaired> {
  throw new Error('repair in Redis is not converted yet');
}
