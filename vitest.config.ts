/**
 * How the tests run: each file in a process of its own, three at a time, `crawlnode` resolving to the source.
 * The e2e tests start the real executable instead, which runs from dist/ (`npm run build` first; `npm test` does).
 */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    alias: [{ find: /^crawlnode$/, replacement: fileURLToPath(new URL('src/index.ts', import.meta.url)) }],
  },
  test: {
    include: ['test/**/*.test.ts', 'examples/test/*.test.ts'],
    globalSetup: ['test/helpers/global-setup.ts'],
    setupFiles: ['test/helpers/setup.ts'],
    exclude: ['test/fixtures/**', 'node_modules/**', 'dist/**'],
    pool: 'forks',
    // One more than two cores: many tests wait for clocks, and for processes that do.
    maxWorkers: 3,
    // Bounds for a machine that is busy with something else, not expectations: no test asserts a time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
  },
});
