/** The nightly script of a new project: green on good nights, red on each bad one, and then the last good file stays. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { projectTemplate } from '../../../src/cli/project/project-template.js';
import { pages } from '../../docs/pages.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { executable } from '../../helpers/cli.js';
import { createProject, type Project } from '../../helpers/project.js';
import { type RedisServer, startRedis } from '../../helpers/redis/redis-server.js';
import { type Site, type SiteOptions, startSite } from '../../helpers/sites/site.js';
import { waitFor } from '../../helpers/wait-for.js';

const PAGES = 60;

/** Every page has an item of 8 KB, so that a small disk is soon full. */
const spider = `
import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = 'quotes';
  startUrls = [process.env.TEST_SITE!];
  *parse(response: Response) {
    for (const title of response.css('h1::text').getAll()) yield { title, text: 'x'.repeat(8_000) };
    yield* response.followAll(response.links(), this.parse);
  }
}
`;

let project: Project;
let site: Site;
beforeEach(async () => {
  const { 'nightly.sh': script = '' } = projectTemplate('shop');
  project = await createProject({
    settings: {
      ...{ ROBOTSTXT_OBEY: false, CONCURRENT_REQUESTS: 4, NODE_TIMEOUT: 2, HEARTBEAT_INTERVAL: 1 },
      ...{ WAIT_TIMEOUT: 2, SHUTDOWN_TIMEOUT: 1, RETRY_TIMES: 1, RETRY_BACKOFF: 0, FEED_OUTBOX_LIMIT: 5 },
    },
    files: {
      'spiders/quotes.ts': spider,
      'nightly.sh': script.replace("alert='cat >&2'", "alert='cat > alert.txt'"),
      'bin/crawlnode': `#!/bin/sh\nexec "${process.execPath}" "${executable}" "$@"\n`,
    },
  });
  for (const file of ['nightly.sh', 'bin/crawlnode']) chmodSync(project.path(file), 0o755);
  await project.write('quotes.jsonl', 'the last good night\n');
});
afterEach(async () => {
  await site.close();
  await project.remove();
});

const open = async (options: SiteOptions = {}) => {
  site = await startSite({ pages: PAGES, ...options });
};

/** Start a command of the shell in the project, as a scheduler does. */
function start(command: string, env: Readonly<Record<string, string>> = {}) {
  const { PATH, HOME, TMPDIR, XDG_STATE_HOME } = process.env;
  const child = spawn('sh', ['-c', command], {
    cwd: project.dir,
    env: {
      ...{ HOME, TMPDIR, XDG_STATE_HOME, TEST_SITE: site.url, PATH: `${project.path('bin')}:${PATH}` },
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number, output }));
  return { ended, kill: () => child.kill('SIGTERM') };
}
const night = (env?: Readonly<Record<string, string>>) => start('exec ./nightly.sh', env).ended;

const published = () => project.read('quotes.jsonl');
const expectGood = async (ended: { code: number; output: string }) => {
  expect({ ...ended, alert: project.exists('alert.txt') }).toEqual({ code: 0, output: '', alert: false });
  expect(await project.readJsonLines('quotes.jsonl')).toHaveLength(PAGES);
};
const expectBad = async (ended: { code: number }, code: number, says: RegExp) => {
  expect(ended.code).toBe(code);
  const alert = await project.read('alert.txt');
  expect(alert).toMatch(new RegExp(`^nightly: quotes: the \\w+ failed with exit code ${code}\\.`));
  expect(alert).toMatch(says);
  expect(await published()).toBe('the last good night\n');
};

it('two good nights running crawl everything, publish it, and say nothing', async () => {
  await open();
  await expectGood(await night());
  site.clearLog();
  await project.write('quotes.jsonl', 'the last good night\n');
  await expectGood(await night());
  expect(site.compare()).toEqual({ missing: [], twice: [] });
});

it('takes a spider with its job, and a link to it', async () => {
  await open();
  expect(await start('ln -s ../nightly.sh bin/link && exec ./bin/link quotes@today').ended).toEqual({
    code: 0,
    output: '',
  });
  expect(await project.readJsonLines('quotes@today.jsonl')).toHaveLength(PAGES);
});

it('prints the message where the alert cannot be sent', async () => {
  await open();
  await project.write('nightly.sh', (await project.read('nightly.sh')).replace('cat > alert.txt', 'exit 1'));
  await site.close();
  const { code, output } = await night();
  expect({ code, output }).toEqual({
    code: 1,
    output: expect.stringMatching(/^nightly: quotes: the crawl failed .* The alert could not be sent\.$/m),
  });
});

it('with JOB the state of each night stays, and a day that runs again begins anew', async () => {
  await open();
  const jobs = ['2026-01-01', '2026-01-02', '2026-01-02'];
  for (const job of jobs) {
    site.clearLog();
    await expectGood(await start(`JOB=${job} ./nightly.sh`).ended);
    expect(site.compare()).toEqual({ missing: [], twice: [] });
  }
  const { stdout } = await runHere(['stats', '--json'], { cwd: project.dir, env: { TEST_SITE: site.url } });
  const crawls = (JSON.parse(stdout) as { job: string | null; done: number }[]).filter(
    ({ job }) => job !== null,
  );
  expect(crawls.map(({ job, done }) => [job, done])).toEqual([...new Set(jobs)].map((job) => [job, PAGES]));
});

describe('a night is bad', () => {
  it('when the site is down', async () => {
    await open();
    await site.close();
    await expectBad(await night(), 1, /fewer than --min-items 50/);
  });

  it('when every page answers 404', async () => {
    await open({ handler: (_, response) => response.writeHead(404).end() !== undefined });
    await expectBad(await night(), 1, /fewer than --min-items 50/);
  });

  it('when too many pages answer 404, although there are items enough', async () => {
    await open({
      failing: {
        [sitePath(7)]: Infinity,
        [sitePath(8)]: Infinity,
        [sitePath(9)]: Infinity,
        [sitePath(50)]: Infinity,
      },
      failStatus: 404,
    });
    await expectBad(
      await night(),
      1,
      /of \d+ pages of the run .* ended with status 404, more than --max-status 404=5%/,
    );
  });

  it('when the selectors match nothing', async () => {
    await open();
    await project.write('spiders/quotes.ts', spider.replace('h1::text', 'h1.title::text'));
    await expectBad(await night(), 1, /0 items over all its nodes, fewer than --min-items 50/);
  });

  it('when somebody stops the crawl, or the script', async () => {
    await open({ delayMs: 400 });
    for (const stop of ['the crawl', 'the script'] as const) {
      site.clearLog();
      const running = start('exec ./nightly.sh');
      await waitFor(() => site.log.length > 5, { what: 'some pages' });
      if (stop === 'the crawl')
        await runHere(['stop', 'quotes'], { cwd: project.dir, env: { TEST_SITE: site.url } });
      else running.kill();
      await expectBad(await running.ended, 1, /the crawl did not finish, it ended with .* \(--must-finish\)/);
    }
  });

  it('when it takes longer than its deadline', async () => {
    await open({ delayMs: 200 });
    const script = await project.read('nightly.sh');
    await project.write('nightly.sh', script.replace('TIMEOUT=14400', 'TIMEOUT=1'));
    await expectBad(await night(), 1, /it ended with \\"closespider_timeout\\"/);
  });

  it('while another night is still running', async () => {
    await open({ delayMs: 100 });
    const first = start('exec ./nightly.sh');
    await waitFor(() => site.log.length > 5, { what: 'some pages' });
    expect(await night()).toMatchObject({ code: 75 });
    expect(await project.read('alert.txt')).toContain('another night is still running');
    expect(await first.ended).toMatchObject({ code: 0 });
  });

  describe('when Redis', () => {
    let redis: RedisServer;
    beforeEach(async () => {
      redis = await startRedis({ persist: true });
    });
    afterEach(() => redis.stop());

    it('dies midway or is away at the start, and the night after it is good', async () => {
      await open({ delayMs: 50 });
      const env = { REDIS_URL: redis.url, REDIS_CONNECT_TIMEOUT: '1' };
      const running = start('exec ./nightly.sh', env);
      await waitFor(() => site.log.length > 5, { what: 'some pages' });
      await redis.kill();
      await expectBad(await running.ended, 4, /waited 2 s for it \(WAIT_TIMEOUT\)/);
      await expectBad(await night(env), 4, /the reset failed/);
      await redis.restart();
      // A node that was cut off counts as live for NODE_TIMEOUT.
      const isFree = async () =>
        (
          await runHere(['reset', 'quotes', '--yes'], {
            cwd: project.dir,
            env: { ...env, TEST_SITE: site.url },
          })
        ).code === 0;
      await waitFor(isFree, { what: 'the end of the node' });
      await project.write('alert.txt', '');
      expect(await night(env)).toMatchObject({ code: 0 });
      expect(await project.readJsonLines('quotes.jsonl')).toHaveLength(PAGES);
    });
  });

  // Not every user may mount, and not every system can.
  it.skipIf(spawnSync('unshare', ['-rm', 'true']).status !== 0)('when the disk fills', async () => {
    await open();
    await project.write(
      'nightly.sh',
      (await project.read('nightly.sh')).replace('alert.txt', '../alert.txt'),
    );
    const inSmallDisk = `
      mount -t tmpfs -o size=250k tmpfs small || exit 99
      cp -r nightly.sh spiders crawlnode.yaml quotes.jsonl small/
      cd small && JOBDIR=../store ./nightly.sh
      code=$?; cp quotes.jsonl ..; exit $code`;
    await project.write('small/.keep', '');
    const ended = await start(`exec unshare -rm sh -c '${inSmallDisk}'`).ended;
    await expectBad(ended, 1, /the disk is full/);
  });
});

describe('the callers in the guide', () => {
  const guide = pages.find(({ file }) => file === 'docs/guide/recipes.md')!;
  const block = (language: string, text: string) =>
    guide.blocks.find((one) => one.language === language && one.text.includes(text))!.text;

  it('shows the script that init writes', () => {
    expect(`${block('sh', 'nightly: $spider')}\n`).toBe(projectTemplate('shop')['nightly.sh']);
  });

  const unit = readFileSync(new URL('../../../deploy/systemd/nightly.service', import.meta.url), 'utf8');
  const callers = {
    cron: () => {
      const line = block('cron', 'nightly.sh')
        .split('\n')
        .find((one) => /^\d/.test(one))!;
      // In a crontab, a percent sign ends the command.
      expect(line).not.toContain('%');
      return line.split(/\s+/).slice(5).join(' ');
    },
    systemd: () => /^ExecStart=(.*)$/m.exec(unit)![1]!.replace(/ shop$/, ' quotes'),
    Airflow: () => /bash_command='(.*)'/.exec(block('python', 'nightly.sh'))![1]!,
  };
  it.each(Object.entries(callers))('%s: its command runs a good night', async (_, command) => {
    await open();
    await expectGood(await start(command().replaceAll('/srv/shop', project.dir)).ended);
  });
});

/** The path of a page of the site. */
const sitePath = (page: number) => `/page/${page}.html`;
