/** A redis-server for a scenario, and what a hand or the network may do to it. */
import { Redis } from 'ioredis';
import { atCleanUp, tempDir } from '../../proof/faults/stage.mjs';
import { startRedis } from '../../proof/redis.mjs';

/** A server with an append-only file that is fsynced each second, as most people run it. */
export async function startEverysec(args = [], options = {}) {
  return startStore(['--appendonly', 'yes', '--appendfsync', 'everysec', ...args], options);
}

/** A server of the scenario; it ends with it. */
export async function startStore(args = [], options = {}) {
  const redis = await startRedis(await tempDir('redis'), args, options);
  atCleanUp(async () => {
    redis.db.disconnect();
    redis.signal('SIGKILL');
  });
  return redis;
}

/** A client of its own, such as redis-cli would be; it ends with the scenario. */
export function adminOf(url) {
  const admin = new Redis(url, { maxRetriesPerRequest: null });
  admin.on('error', () => {});
  atCleanUp(async () => admin.disconnect());
  return admin;
}

export async function usedMemory(admin) {
  return Number(/used_memory:(\d+)/.exec(await admin.info('memory'))[1]);
}
