/** The clock of the store steps back by an hour during a crawl: in real processes. */
import { expect, it } from 'vitest';
import { canStepClocks, steppedClock } from '../../helpers/children/stepped-clock.js';
import { startCli } from '../../helpers/cli.js';
import { onEachEngine } from '../../helpers/engine-project.js';
import { createProject } from '../../helpers/project.js';
import { startRedis } from '../../helpers/redis/redis-server.js';
import { startSite } from '../../helpers/sites/site.js';
import { waitFor } from '../../helpers/wait-for.js';
import { walk } from '../../helpers/walk.js';

const PAGES = 40;

onEachEngine('a clock that is set back on the %s engine', (engine) => {
  it.skipIf(!canStepClocks).each([
    ['a delay', { DOWNLOAD_DELAY: 0.1 }],
    ['retries', { RETRY_BACKOFF: 0.5, RETRY_TIMES: 3 }],
  ])('does not hold up a crawl with %s: it goes on, with one warning', async (_with, settings) => {
    const clock = steppedClock();
    const redis = engine === 'redis' ? await startRedis({ env: clock.env }) : null;
    const site = await startSite({
      pages: PAGES,
      delayMs: 20,
      failing: { '/page/3.html': 2, '/page/20.html': 2 },
    });
    const project = await createProject({
      settings: {
        ROBOTSTXT_OBEY: false,
        NODE_TIMEOUT: 6,
        HEARTBEAT_INTERVAL: 1,
        CONCURRENT_REQUESTS: 2,
        ...settings,
      },
      files: { 'spiders/walk.ts': walk() },
    });
    try {
      const args = ['crawl', 'walk', '-a', `start=${site.url}`, '--exit-when-done', '-o', 'items.jsonl'];
      const env = redis === null ? clock.env : { REDIS_URL: redis.url };
      const node = startCli(args, { cwd: project.dir, env });
      await waitFor(() => site.log.length > 8, { what: 'some pages' });
      clock.set(-3_600);
      const { code, stderr } = await node.wait();
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringMatching(/the clock of the store is 3[56]\d\d s behind/),
      });
      expect(stderr.match(/the clock of the store is/g)).toHaveLength(1);
      expect(stderr).not.toContain('sent no heartbeat');
      expect(site.compare().missing).toEqual([]);
      expect((await project.read('items.jsonl')).trim().split('\n')).toHaveLength(PAGES);
    } finally {
      await site.close();
      await project.remove();
      await redis?.stop();
      await clock.remove();
    }
  });
});
