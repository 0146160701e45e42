/** What a node says while it waits for a hook of the project. */
import { createServer } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import type { Logger } from '../../../src/log.js';
import { silentLogger, spiderLogger } from '../../../src/log.js';
import { Hooks } from '../../../src/node/membership/project-hooks.js';
import { loadPipelines } from '../../../src/pipelines/item-pipeline.js';
import { loadSettings } from '../../../src/settings/sources/load-settings.js';
import { loadModule } from '../../../src/spider/loading/load-module.js';
import { nodeOptions } from '../../helpers/node.js';

afterEach(() => void vi.useRealTimers());

it('a bucket whose server does not answer is named, with the time that it is waited for', async () => {
  const connections = new Set<{ destroy(): void }>();
  const server = createServer((connection) => void connections.add(connection));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const { settings } = loadSettings({
    ...{ cwd: '/', file: false, env: {} },
    cli: {
      ...{ FILES_STORE: 's3://files/shop', AWS_ENDPOINT_URL: `http://127.0.0.1:${port}` },
      ...{ AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'word' },
    },
  });
  const context = { nodeId: 'node', spider: 'shop', job: null, settings, stats: undefined as never };
  const pipelines = await loadPipelines({
    ...{ pipelines: { FilesPipeline: 1 }, projectDir: process.cwd(), loadModule },
    context: { ...context, log: spiderLogger(silentLogger) },
  });
  const warnings: string[] = [];
  const log: Logger = { ...silentLogger, warn: (_, text) => void warnings.push(text) };
  const [drain, force] = [new AbortController(), new AbortController()];
  const options = nodeOptions();
  const hooks = new Hooks({ drain: drain.signal, force: force.signal, log, options } as never);

  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const opened = hooks.open('open() of the item pipelines', () => pipelines.open(), pipelines.opening);
  vi.advanceTimersByTime(10_000);
  expect(warnings).toEqual([
    `still waiting for open() of the item pipelines (FilesPipeline, which waits for an answer of http://127.0.0.1:${port} about s3://files/shop, up to about 90 s); Ctrl-C or SIGTERM ends the wait`,
  ]);
  force.abort();
  expect(await opened).toBe(false);
  await pipelines.close();
  for (const connection of connections) connection.destroy();
  await new Promise((resolve) => server.close(resolve));
});
