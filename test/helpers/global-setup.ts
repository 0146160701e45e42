/**
 * Runs once, before all test files (`globalSetup` of vitest.config.ts): whatever the executable compiles for its temporary
 * projects is kept while the tests run, and not in the home of whoever runs them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export default function setup(): () => void {
  const caches = mkdtempSync(path.join(os.tmpdir(), 'crawlnode-test-caches-'));
  process.env.XDG_CACHE_HOME = caches;
  delete process.env.NODE_COMPILE_CACHE;
  return () => rmSync(caches, { recursive: true, force: true });
}
