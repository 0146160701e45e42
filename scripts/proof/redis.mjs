/** A redis-server of one's own on loopback, for proofs and benches. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { freePort, untilListening } from './ports.mjs';

/**
 * It keeps its files in `dir`, and writes nothing to disk unless `args` say so. `host` is an address of loopback.
 * @returns its address, a client that connects when it is first used, and how to end it and start it again.
 */
export async function startRedis(dir, args = [], { host = '127.0.0.1' } = {}) {
  const port = await freePort(host);
  const all = ['--port', String(port), '--bind', host, '--save', '', '--dir', dir, ...args];
  const url = `redis://${host}:${port}`;
  const db = new Redis(url, { lazyConnect: true });
  // It connects again after a kill.
  db.on('error', () => {});
  let child;
  const start = async () => {
    child = spawn('redis-server', all, { stdio: 'ignore' });
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
