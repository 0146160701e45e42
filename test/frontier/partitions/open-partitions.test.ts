/** Partitions on several servers: what is said of one of them names it. */
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { Crawl, request, until } from '../../frontier-contract/world.js';
import { addressOf, domainIn, openPartitioned, worldAt } from '../../helpers/redis/partitioned-world.js';
import { redisOfFile } from '../../helpers/redis/redis-of-file.js';
import { startRedis } from '../../helpers/redis/redis-server.js';

const { server } = await redisOfFile();

describe('a server of several', () => {
  it('that may evict, or is full, is named: at the start, in a running crawl and by doctor', async () => {
    const second = await startRedis();
    const admin = new Redis(second.url);
    const addresses = [addressOf(server.url), addressOf(second.url)];
    const place = `${second.host}:${second.port}`;
    const evict = (policy: string) => admin.config('SET', 'maxmemory', '100mb', 'maxmemory-policy', policy);
    const crawl = new Crawl(worldAt(addresses, 'two-servers'));
    try {
      const { frontier } = await crawl.node();
      await evict('allkeys-lru');
      await expect(openPartitioned(addresses, 'two-servers')).rejects.toMatchObject({
        message: expect.stringContaining(`Redis at ${place} may evict the frontier`),
        code: 'eviction_policy',
      });
      const problems = (await frontier.examine()).filter(({ level }) => level === 'problem');
      expect(problems.map(({ message }) => message)).toEqual([
        expect.stringMatching(new RegExp(`^${place}: Redis may evict the frontier`)),
      ]);
      const error = await until(
        () =>
          frontier.lease(1, 0).then(
            () => null,
            (cause: Error) => cause,
          ),
        (cause) => cause !== null,
        20_000,
      );
      expect(error?.message).toContain(`Redis at ${place} may evict the frontier`);
      await evict('noeviction');
      await admin.config('SET', 'maxmemory', '1');
      const link = request('link', { domain: domainIn(1, 2) });
      await expect(frontier.push([link], 'links')).rejects.toThrow(`Redis at ${place} refuses for now: OOM`);
    } finally {
      await admin.config('SET', 'maxmemory', '0');
      await crawl.end();
      admin.disconnect();
      await second.stop();
    }
  });
});
