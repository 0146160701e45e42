/** Commands that are advised find the crawl they are about, as they stand. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { crawlArguments } from '../../../src/cli/messages/crawl-arguments.js';
import { secretFilter } from '../../../src/settings/mask-secrets.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { executable } from '../../helpers/cli.js';
import { newsSpider } from '../../helpers/engine-project.js';
import { createProject, type Project } from '../../helpers/project.js';

let project: Project;
beforeEach(async () => {
  project = await createProject({
    files: { 'code of mine/news.ts': newsSpider, 'my.yaml': 'RETRY_ENABLED: false\n' },
  });
});
afterEach(() => project.remove());

const named = (set: string[], config?: string) =>
  crawlArguments(
    { globals: { set, config, json: false, colour: true }, mask: secretFilter({ REDIS_PASSWORD: 'sesame' }) },
    { spider: 'news', job: null },
  );

it('a command that is advised works as it stands, under the job and the options of the one that advised it', async () => {
  const found = [
    '--job',
    'may',
    '-c',
    'my.yaml',
    '-s',
    "JOBDIR=it's here",
    '-s',
    'SPIDER_MODULES=code of mine',
  ];
  const run = (...args: string[]) => runHere([...args, ...found], { cwd: project.dir });
  await run('seed', 'news', 'http://127.0.0.1:1/');
  const crawled = await run(
    'crawl',
    'news',
    '--exit-when-done',
    '-s',
    'LOG_LEVEL=ERROR',
    '-s',
    'START_TIMEOUT=1',
  );
  expect(crawled.stdout).toContain('news@may: finished, 1 page, 0 items, 1 failed');
  const advised = [
    /"crawlnode (failed .* list) --reason connection_refused"/.exec(crawled.stdout)?.[1],
    /given up: crawlnode (failed .* summary)/
      .exec((await run('stats', 'news')).stdout)?.[1]
      ?.replace(/summary$/, 'list'),
    /→ crawlnode (failed .* list)/.exec((await run('doctor', 'news')).stdout)?.[1],
  ];
  expect(new Set(advised).size).toBe(1);
  const line = `'${process.execPath}' '${executable}' ${advised[0]}`;
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { cwd: project.dir });
  expect(stdout).toContain('http://127.0.0.1:1/');
  const retried = await run('failed', 'news', 'retry');
  expect(retried.stdout).toBe('news@may: 1 back to pending\n');
  expect(retried.stderr).toContain(
    `"crawlnode crawl news ${advised[0]!.slice('failed news '.length, -' list'.length)}"`,
  );
});

it('only what finds the crawl is repeated, and no secret', () => {
  expect(
    named(['LOG_LEVEL=ERROR', 'DOWNLOAD_DELAY=1', 'JOB=may', 'STATS_KEY=a:%(spider)s'], 'a b.yaml'),
  ).toBe("news -c 'a b.yaml' -s 'STATS_KEY=a:%(spider)s'");
  expect(named(['SCHEDULER_PERSIST=false'])).toBe('news -s SCHEDULER_PERSIST=false');
  expect(
    named(['REDIS_PASSWORD=sesame', 'REDIS_URL=redis://:open@host/2', 'REDIS_PARAMS={"password":"sesame"}']),
  ).toBe(
    `news -s 'REDIS_PASSWORD=***' -s 'REDIS_URL=redis://:***@host/2' -s 'REDIS_PARAMS={"password":"***"}'`,
  );
});
