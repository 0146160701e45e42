/** What nodes owe their user beyond losing nothing: large items, and a Redis that stands still when a node joins. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { runCli } from '../../helpers/cli.js';
import { createProject } from '../../helpers/project.js';
import { startRedis } from '../../helpers/redis/redis-server.js';
import { startSite } from '../../helpers/sites/site.js';

const MEGABYTES = 5;
const spider = `
import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = 'news';
  startUrls = [this.args.start];
  *parse(response: Response) {
    yield { url: response.url, text: 'x'.repeat(${MEGABYTES} * 2 ** 20) };
  }
}
`;

it('an item of 5 MB goes to the items list and to a file, and counts once against the limit of 8 MB; its node joins a Redis that stands still for longer than a call may take', {
  timeout: 90_000,
}, async () => {
  const redis = await startRedis();
  const site = await startSite({ pages: 1 });
  const admin = new Redis(redis.url);
  const project = await createProject({
    settings: { REDIS_URL: redis.url, ITEM_PIPELINES: { RedisPipeline: 300 }, ROBOTSTXT_OBEY: false },
    files: { 'spiders/news.ts': spider },
  });
  try {
    await admin.call('CLIENT', 'PAUSE', '6000', 'ALL');
    const args = ['crawl', 'news', '-a', `start=${site.url}`, '--exit-when-done', '-o', 'items.jsonl'];
    const { code, stderr } = await runCli(args, { cwd: project.dir });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const { text } = JSON.parse(await readFile(path.join(project.dir, 'items.jsonl'), 'utf8'));
    expect(text).toHaveLength(MEGABYTES * 2 ** 20);
    expect(await admin.llen('news:items')).toBe(1);
  } finally {
    admin.disconnect();
    await project.remove();
    await site.close();
    await redis.stop();
  }
});
