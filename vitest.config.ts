/**
 * How the tests run: four files at a time, `crawlnode` resolving to the source. A process runs one file after another, so that
 * it loads the source once; no test may leave anything behind in it (helpers/setup.ts checks processes, sockets and folders).
 * The e2e tests start the real executable instead, which runs from dist/ (`npm run build` first; `npm test` does).
 */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { isBuildFresh } from './scripts/build-state.mjs';

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** What takes longest begins first, or the run ends with one process that works. */
const slow = /contract|chaos|redis-frontier|e2e|commands\/crawl\.|node\/node\./;

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => (slow.test(moduleId) ? 0 : 1);
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  resolve: {
    alias: [
      { find: /^crawlnode$/, replacement: fileOf('src/index.ts') },
      // The thread of heartbeats that each node starts, from the build: from source it takes longer than many a test.
      ...(isBuildFresh()
        ? [
            {
              find: /^\.\/start-thread\.js$/,
              replacement: fileOf('test/helpers/build/start-built-thread.ts'),
            },
          ]
        : []),
    ],
  },
  test: {
    include: ['test/**/*.test.ts', 'examples/test/*.test.ts'],
    globalSetup: ['test/helpers/global-setup.ts'],
    setupFiles: ['test/helpers/setup.ts'],
    exclude: ['test/fixtures/**', 'node_modules/**', 'dist/**'],
    pool: 'forks',
    isolate: false,
    sequence: { sequencer: SlowFirst },
    // Two more than two cores: many tests wait for clocks, and for processes that do.
    maxWorkers: 4,
    // Bounds for a machine that is busy with something else, not expectations: no test asserts a time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
  },
});
