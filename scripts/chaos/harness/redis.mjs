/** A redis-server of one's own on loopback, for rows and benches, and what a hand at redis-cli may ask it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { freePort, untilListening } from './ports.mjs';
import { atCleanUp, tempDir } from './stage.mjs';

/** Arguments of a server that writes an append-only file: fsynced each second, as most people run it, or at each write. */
export const everysec = ['--appendonly', 'yes', '--appendfsync', 'everysec'];
export const durable = ['--appendonly', 'yes', '--appendfsync', 'always'];

/**
 * It keeps its files in `dir`, and writes nothing to disk unless `args` say so. `host` is an address of loopback, `env` is added to
 * its environment.
 * @returns its address, a client that connects when it is first used, and how to end it and start it again.
 */
export async function startRedis(dir, args = [], { host = '127.0.0.1', env = {} } = {}) {
  const port = await freePort(host);
  const all = ['--port', String(port), '--bind', host, '--save', '', '--dir', dir, ...args];
  const url = `redis://${host}:${port}`;
  const db = new Redis(url, { lazyConnect: true });
  // It connects again after a kill.
  db.on('error', () => {});
  let child;
  const start = async () => {
    child = spawn('redis-server', all, { stdio: 'ignore', env: { ...process.env, ...env } });
    await untilListening(port, host);
  };
  const end = async (signal) => {
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  await start();
  return {
    ...{ dir, host, port, url, db, start },
    /** Resolves when it is gone. */
    kill: () => end('SIGKILL'),
    signal: (signal) => child.kill(signal),
    async stop() {
      db.disconnect();
      if (child.exitCode === null && child.signalCode === null) await end('SIGTERM');
    },
  };
}

/** A server of the stage, in a folder of its own; it ends with the stage. */
export async function startStore(args = [], options = {}) {
  const redis = await startRedis(await tempDir('redis'), args, options);
  atCleanUp(async () => {
    redis.db.disconnect();
    redis.signal('SIGKILL');
  });
  return redis;
}

/** A client of its own, such as redis-cli would be; it ends with the stage. */
export function adminOf(url) {
  const admin = new Redis(url, { maxRetriesPerRequest: null });
  admin.on('error', () => {});
  atCleanUp(async () => admin.disconnect());
  return admin;
}

export async function usedMemory(admin) {
  return Number(/used_memory:(\d+)/.exec(await admin.info('memory'))[1]);
}
