/**
 * A password that the server does not ask for. ioredis writes a line about it to the console with each connection, in the
 * middle of a JSON log; so such a server is connected to without the password, and the node says it once.
 */
import { Redis, type RedisOptions } from 'ioredis';
import { messageOf } from '../../../errors.js';
import type { RedisAddress } from '../../open-options.js';

export const needlessPasswordNotice =
  'this Redis asks for no password, so whoever reaches it may read and write; the one in the settings goes unused';

/**
 * The same address without its password, where the server takes commands without one; else null. Asked of a single server
 * and its default user only.
 * @throws what ioredis throws when the server cannot be reached.
 */
export async function withoutNeedlessPassword(
  address: RedisAddress,
  connectTimeout: number,
): Promise<RedisAddress | null> {
  const plain = withoutPassword(address);
  if (plain === null) return null;
  const options: RedisOptions = {
    ...plain.options,
    ...{ connectTimeout, commandTimeout: connectTimeout, lazyConnect: true },
    ...{ enableReadyCheck: false, maxRetriesPerRequest: 0, retryStrategy: () => null },
  };
  const client = plain.url === null ? new Redis(options) : new Redis(plain.url, options);
  // Each error is that of a command as well.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.ping();
    return plain;
  } catch (error) {
    if (/^(NOAUTH|NOPERM)/.test(messageOf(error))) return null;
    throw error;
  } finally {
    client.disconnect();
  }
}

function withoutPassword(address: RedisAddress): (RedisAddress & { kind: 'standalone' }) | null {
  if (address.kind !== 'standalone') return null;
  const { password, username, ...options } = address.options;
  const url = address.url === null ? null : new URL(address.url);
  const users = [username, url?.username].filter((name) => name !== undefined && name !== '');
  if (!(password || url?.password) || users.some((name) => name !== 'default')) return null;
  if (url !== null) {
    url.password = '';
    url.username = '';
  }
  return { kind: 'standalone', url: url === null ? null : url.href, options };
}
