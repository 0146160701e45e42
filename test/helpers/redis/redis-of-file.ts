/** One Redis for all the tests of a file. */
import { Redis } from 'ioredis';
import { afterAll } from 'vitest';
import { type RedisOptions, type RedisServer, startRedis } from './redis-server.js';

/** The server, and a client for what a hand at redis-cli does; both end after the file's tests. */
export async function redisOfFile(
  options: RedisOptions = {},
): Promise<{ readonly server: RedisServer; readonly admin: Redis }> {
  const server = await startRedis(options);
  const admin = new Redis(server.url);
  afterAll(async () => {
    admin.disconnect();
    await server.stop();
  });
  return { server, admin };
}
