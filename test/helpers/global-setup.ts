/**
 * Runs once, before all test files (`globalSetup` of vitest.config.ts). The executable keeps compiled code and its records of
 * feed files in temporary folders, and not in the home of whoever runs the tests. One Redis is there for all files whose tests
 * need only a crawl of their own (`freshStore` of node.ts).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startRedis } from './redis/redis-server.js';

export default async function setup(): Promise<() => Promise<void>> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'crawlnode-test-home-'));
  process.env.XDG_CACHE_HOME = path.join(folder, 'cache');
  process.env.XDG_STATE_HOME = path.join(folder, 'state');
  delete process.env.NODE_COMPILE_CACHE;
  const redis = await startRedis();
  process.env.TEST_REDIS_URL = redis.url;
  return async () => {
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}
