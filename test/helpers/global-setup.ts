/**
 * Runs once, before all test files (`globalSetup` of vitest.config.ts): the executable keeps compiled code and its records of
 * feed files in temporary folders, and not in the home of whoever runs the tests.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export default function setup(): () => void {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'crawlnode-test-home-'));
  process.env.XDG_CACHE_HOME = path.join(folder, 'cache');
  process.env.XDG_STATE_HOME = path.join(folder, 'state');
  delete process.env.NODE_COMPILE_CACHE;
  return () => rmSync(folder, { recursive: true, force: true });
}
