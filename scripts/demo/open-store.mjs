// The store of the demo: the Redis of REDIS_URL, else a redis-server of its own, else the embedded engine.
import { spawn } from 'node:child_process';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * @param {string} project the folder for the files of a redis-server
 * @returns where the crawl is stored: settings, a text for people, and `stop()`
 */
export async function openStore(project) {
  const nothing = async () => {};
  if (process.env.REDIS_URL) {
    const settings = { REDIS_URL: process.env.REDIS_URL };
    return { text: 'the store is the Redis of REDIS_URL', settings, isOfUser: true, stop: nothing };
  }
  const port = await freePort();
  const redis = await startRedis(port, project);
  if (redis === null) {
    const text = 'there is no redis-server on the PATH, so the store is the embedded engine';
    return { text, settings: {}, isOfUser: false, stop: nothing };
  }
  const settings = { REDIS_URL: `redis://127.0.0.1:${port}` };
  const stop = async () => {
    redis.kill('SIGTERM');
    await redis.ended;
  };
  return { text: 'the store is a redis-server, started for the demo', settings, isOfUser: false, stop };
}

/** @returns null without a redis-server on the PATH, or where it does not start */
async function startRedis(port, folder) {
  const args = [
    '--bind',
    '127.0.0.1',
    '--port',
    String(port),
    '--dir',
    folder,
    '--save',
    '',
    '--appendonly',
    'no',
  ];
  // Not in `children`: it stays until the crawl has ended. A group of its own, so that Ctrl-C does not reach it.
  const child = spawn('redis-server', args, { stdio: 'ignore', detached: true });
  const ended = new Promise((resolve) => {
    child.once('error', () => resolve(null));
    child.once('exit', () => resolve(null));
  });
  let isOver = false;
  ended.then(() => {
    isOver = true;
  });
  process.once('exit', () => child.kill('SIGKILL'));
  for (; !isOver; await sleep(20)) {
    if (await answers(port)) return { kill: (signal) => child.kill(signal), ended };
  }
  return null;
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.end());
  });
}

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
