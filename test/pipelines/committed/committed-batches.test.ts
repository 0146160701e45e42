/** `committed` of a pipeline beside a store that loses its last commits. */
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { pipelineOutboxId } from '../../../src/feed-outbox.js';
import { silentLogger } from '../../../src/log.js';
import { CommittedCaller } from '../../../src/pipelines/committed/committed-batches.js';
import type { CommittedItem } from '../../../src/pipelines/committed/committed-item.js';
import { Crawl, commit, done, effects, request, takeOne } from '../../frontier-contract/world.js';
import { redisOfFile } from '../../helpers/redis/redis-of-file.js';
import { redisWorld } from '../../helpers/redis/redis-world.js';

const { server } = await redisOfFile();

it('gets the item that took the place of a lost one while it was called', async () => {
  const feed = pipelineOutboxId('pipelines/database.ts');
  const world = redisWorld(server.url);
  const crawl = new Crawl(world);
  const admin = new Redis(server.url);
  const { frontier } = await crawl.node({ feeds: [feed] });
  await frontier.push([request('a')], 'links');
  await commit(frontier, await takeOne(frontier), done, effects({ feedItems: ['{"n":1}'] }));
  const seen: unknown[] = [];
  const caller = new CommittedCaller({
    outboxes: frontier.feeds,
    writer: { feed, host: 'here', pid: process.pid, path: 'database', owner: 'w' },
    pipeline: {
      name: 'database',
      batchItems: 10,
      batchMs: 0,
      async committed(batch: readonly CommittedItem[]) {
        seen.push(...batch.map(({ item }) => item));
        // As after a failover to a replica that had not got the commit, and another one since.
        if (seen.length === 1) {
          const other = JSON.stringify({ id: `${'b'.repeat(40)}-1`, item: { n: 2 } });
          await admin.hset(`${world.spider}:requests:~outbox`, `${feed}:1`, other);
        }
      },
    },
    ...{ staleMs: 30_000, maxWaiting: 100, log: silentLogger },
  });
  caller.start();
  expect(await caller.stop(10_000)).toBe(null);
  expect(seen).toEqual([{ n: 1 }, { n: 2 }]);
  admin.disconnect();
  await crawl.end();
});
