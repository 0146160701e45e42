/** The user of Redis in docs/guide/redis.md, with no other right than those: crawls, and every command that looks or mends. */
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runHere } from '../helpers/cli/run-here.js';
import { startCli } from '../helpers/cli.js';
import { expectSound } from '../helpers/expect-sound.js';
import { createProject, type Project } from '../helpers/project.js';
import { type RedisServer, startRedis } from '../helpers/redis/redis-server.js';
import { type Site, startSite } from '../helpers/sites/site.js';
import { waitFor } from '../helpers/wait-for.js';

const news = `
import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = 'news';
  startUrls = [this.args.start].filter(Boolean);
  *parse(response: Response) {
    if (response.url.endsWith('/3.html')) throw new Error('the page has changed');
    yield { url: response.url };
    yield* response.followAll(response.links(), this.parse);
  }
}
`;
const PAGES = 40;

const documented = readFileSync(new URL('../../docs/guide/redis.md', import.meta.url), 'utf8').match(
  /^ACL SETUSER crawler .*$/gm,
);

describe('with the documented rights alone', { timeout: 120_000 }, () => {
  let redis: RedisServer;
  let admin: Redis;
  let site: Site;
  let project: Project;
  beforeEach(async () => {
    redis = await startRedis();
    admin = new Redis(redis.url);
    site = await startSite({ pages: PAGES });
    for (const line of documented ?? []) {
      const [, , ...words] = line.replace('>SECRET', '>secret').split(' ');
      await admin.call('ACL', 'SETUSER', ...words);
    }
    await admin.call('ACL', 'LOG', 'RESET');
    project = await createProject({
      settings: {
        REDIS_HOST: redis.host,
        REDIS_PORT: redis.port,
        REDIS_USERNAME: 'crawler',
        REDIS_PASSWORD: 'secret',
      },
      files: { 'spiders/news.ts': news },
    });
  });
  afterEach(async () => {
    admin.disconnect();
    await project.remove();
    await site.close();
    await redis.stop();
  });

  const run = async (...args: string[]) => {
    const ended = await runHere(args, { cwd: project.dir });
    expect(ended.code, `${args.join(' ')}\n${ended.stdout}${ended.stderr}`).toBe(0);
    return ended.stdout;
  };
  /** What was denied meanwhile, but for what doctor asks for where it may: CONFIG, and the name of a key in a Cluster. */
  const denied = async (): Promise<string[]> => {
    const log = (await admin.call('ACL', 'LOG', '100')) as unknown[][];
    const objects = log.map((entry) => String(entry[entry.indexOf('object') + 1]));
    return objects.filter((name) => name !== 'config|get' && name !== '{news}:start_urls');
  };

  it.each(['RFPDupeFilter', 'BloomDupeFilter', 'CompactDupeFilter'])(
    'a crawl with a %s, its backup, its reset and its repair find nothing denied',
    async (dupefilter) => {
      const setting = ['-s', `DUPEFILTER_CLASS=${dupefilter}`];
      await run('crawl', 'news', '-a', `start=${site.url}`, '--exit-when-done', ...setting);
      expect(site.compare()).toEqual({ missing: [], twice: [] });
      await run('seed', 'news', `${site.origin}/page/5.html`, ...setting);
      await run('inspect', 'news', `${site.origin}/page/5.html`, ...setting);
      if (dupefilter !== 'BloomDupeFilter')
        await run('forget', 'news', `${site.origin}/page/6.html`, ...setting);
      await run('failed', 'news', 'retry', ...setting);
      expect(JSON.parse(await run('stats', 'news', '--json', ...setting))).toMatchObject({ pending: 2 });
      await run('reset', 'news', '--all', '--backup', 'all.jsonl', '--yes', ...setting);
      await run('restore', 'news', 'all.jsonl', ...setting);
      await run('doctor', 'news', '--repair', ...setting);
      await expectSound('news', { cwd: project.dir, env: { DUPEFILTER_CLASS: dupefilter } });
      const { findings } = JSON.parse(await run('doctor', 'news', '--deep', '--json', ...setting));
      expect(findings.filter(({ check }: { check: string }) => check === 'acl')).toMatchObject([
        { level: 'ok' },
      ]);
      expect(await denied()).toEqual([]);
    },
  );

  it.each(['-hdel', '-rpush', '-zrem'])(
    'a right that is lost during the crawl (%s) ends it: exit 1, and what to do',
    async (right) => {
      const args = [
        'crawl',
        'news',
        '-a',
        `start=${site.url}`,
        '-s',
        'DOWNLOAD_DELAY=0.1',
        '--exit-when-done',
      ];
      const node = startCli(args, { cwd: project.dir });
      await waitFor(() => site.log.length > 3, { what: 'some pages' });
      await admin.call('ACL', 'SETUSER', 'crawler', right);
      const { code, stderr } = await node.wait();
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(
          /lost a right in the middle of a call: .*crawlnode doctor news.* names each right/,
        ),
      });
      expect(stderr).not.toMatch(/^\s+at /m);
      const doctor = await runHere(['doctor', 'news'], { cwd: project.dir });
      expect(doctor.stdout).toContain(`+${right.slice(1)}`);
    },
  );

  it('a user that may not call functions is refused at once, and doctor says which right it takes', async () => {
    await admin.call('ACL', 'SETUSER', 'crawler', '-fcall', '-function|load');
    const { code, stderr } = await runHere(['crawl', 'news', '--exit-when-done'], { cwd: project.dir });
    expect(code).toBe(4);
    expect(stderr).toContain("'fcall'");
    const { stdout } = await runHere(['doctor', 'news', '--json'], { cwd: project.dir });
    expect(JSON.parse(stdout).findings).toContainEqual(
      expect.objectContaining({ check: 'acl', action: 'ACL SETUSER crawler +fcall +function|load' }),
    );
  });
});
