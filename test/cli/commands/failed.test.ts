/** `failed S summary|list|retry|purge` on both engines. */
import { describe, expect, it } from 'vitest';
import { revived } from '../../../src/crawler/requests/failed-requests.js';
import { noEffects, type Outcome } from '../../../src/frontier/frontier.js';
import { fingerprint } from '../../../src/http/message/fingerprint.js';
import { decodeRecord, toFrontierRequest } from '../../../src/http/message/record/request-codec.js';
import { Request } from '../../../src/http/message/request.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { engines, projectOn } from '../../helpers/engine-project.js';
import { joinAs } from '../../helpers/joining.js';
import { startSite } from '../../helpers/sites/site.js';

/** As `crawlnode seed` makes one. */
const asSeed = (url: string) =>
  toFrontierRequest(new Request(url), {
    ...{ callback: null, errback: null, parentId: null, ordinal: 0, depth: 0, origin: null },
    isTrustedSeed: true,
    ...{ fingerprint, domainKey: 'host', nowMs: 7, job: null },
  });

describe.each(engines)('failed on the %s engine', (engine) => {
  const here = projectOn(engine);
  const run = (...args: string[]) => runHere(args, { cwd: here.project.dir });
  const stats = () => here.look((frontier) => frontier.snapshot());
  const jsonLines = (text: string) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  type Failure = Omit<Extract<Outcome, { kind: 'failed' }>, 'kind'>;

  /** Have a node fail each of these URLs in the way it is told. */
  async function fail(urls: readonly string[], failureOf: (url: string) => Failure, failedLimit = 100_000) {
    await here.look(async (frontier) => {
      await joinAs(frontier, { tunables: { concurrencyPerDomain: 10_000, failedLimit } });
      await frontier.push(urls.map(asSeed), 'seeds');
      for (let left = urls.length; left > 0; ) {
        const { leases } = await frontier.lease(Math.min(left, 200), 0);
        const failures = leases.map((lease) =>
          frontier.settle(lease, { kind: 'failed', ...failureOf(decodeRecord(lease.record).url) }, noEffects),
        );
        await Promise.all(failures);
        left -= leases.length;
      }
      await frontier.leave('finished');
    });
  }

  const mixed = [
    'http://a.example/404',
    'http://a.example/503',
    'http://b.a.example:8080/500',
    'http://c.example/slow',
  ];
  const mixedFailure = (url: string): Failure => {
    const status = Number(/\/(\d+)$/.exec(url)?.[1] ?? 0);
    return status === 0
      ? { reason: 'timeout', attempts: 3, detail: 'no answer \u001b[31mfor\n30 s\u009b2J' }
      : { reason: 'http_status', status, attempts: 1 };
  };

  it('list shows no password of a URL, as JSON neither', async () => {
    await fail(['http://user:hunter22@a.example/'], (url) => ({
      ...{ reason: 'http_status', attempts: 1, status: 429 },
      detail: `${url} answered 429`,
    }));
    for (const more of [[], ['--json']]) {
      const { stdout } = await run('failed', 'news', 'list', ...more);
      expect(stdout).toContain('http://***@a.example/');
      expect(stdout).not.toContain('hunter22');
    }
    await run('failed', 'news', 'purge', '--yes');
  });

  it('list names each with reason, status, attempts, node and time, oldest first', async () => {
    expect(await run('failed', 'news', 'list')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('no such request has failed'),
    });
    await fail(mixed, mixedFailure);
    const { code, stdout } = await run('failed', 'news', 'list', '--json');
    expect(code).toBe(0);
    const listed = jsonLines(stdout);
    expect(listed.map(({ url }) => url).sort()).toEqual([...mixed].sort());
    expect(listed.find(({ url }) => url === mixed[0])).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{40}$/),
      ...{ url: mixed[0], method: 'GET', reason: 'http_status', status: 404, attempts: 1, crashes: 0 },
      ...{ node: expect.stringContaining('one'), failedAt: expect.stringMatching(/^20.*Z$/), detail: null },
    });
    const text = (await run('failed', 'news', 'list', '--limit', '2')).stdout.trimEnd().split('\n');
    expect(text).toHaveLength(2);
    expect(text[0]!.split('\t')).toHaveLength(8);
  });

  it('summary groups them by reason, status and domain, and names the command that retries each', async () => {
    await fail(['http://user:hunter22@a.example/503', ...mixed], mixedFailure);
    const { groups, ...rest } = JSON.parse((await run('failed', 'news', 'summary', '--json')).stdout);
    expect(rest).toMatchObject({ spider: 'news', total: 5, read: 5 });
    expect(groups[0]).toMatchObject({
      ...{ reason: 'http_status', status: 503, domain: 'a.example', count: 2, retry: 'yes' },
      command: expect.stringMatching(
        /^crawlnode failed news .*retry --reason http_status --status 503 --domain a\.example$/,
      ),
    });
    expect(groups.map(({ domain }: { domain: string }) => domain)).toContain('b.a.example:8080');
    const { stdout } = await run('failed', 'summary', 'news', '--status', '503');
    expect(stdout).toMatch(/^2\thttp_status\t503\ta\.example\tyes\thttp:\/\/\S+\t.* retry --reason .*\n$/);
    expect(stdout).not.toContain('hunter22');
    const retried = await run('failed', 'news', ...groups[0].command.split(' retry ')[1].split(' '), 'retry');
    expect(retried.stdout).toContain('2 back to pending');
    expect(await run('failed', 'news', 'summary', '--limit', '1')).toMatchObject({ code: 2 });
  });

  it('escape sequences of what was crawled do not act, neither as text nor as JSON', async () => {
    await fail(mixed, mixedFailure);
    for (const more of [[], ['--json']]) {
      const { stdout } = await run('failed', 'news', 'list', '--reason', 'timeout', ...more);
      expect(stdout).toContain('no answer');
      expect(stdout).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
    }
  });

  it('the filters find what they name, by status, reason and domain', async () => {
    await fail(mixed, mixedFailure);
    for (const [filter, count] of [
      [['--status', '5xx'], 2],
      [['--status', '404,500'], 2],
      [['--reason', 'timeout'], 1],
      [['--domain', 'a.example'], 3],
      [['--domain', 'b.a.example:8080'], 1],
      [['--domain', 'example'], 4],
      [['--status', '5xx', '--domain', 'c.example'], 0],
    ] as const) {
      const { stdout } = await run('failed', 'news', 'list', '--json', ...filter);
      expect([filter, jsonLines(stdout).length]).toEqual([filter, count]);
    }
  });

  it('retry moves what matches back to pending, with no attempts made', async () => {
    await fail(mixed, mixedFailure);
    expect(await run('failed', 'news', 'retry', '--domain', 'a.example')).toMatchObject({
      code: 0,
      stdout: 'news: 3 back to pending\n',
      stderr: expect.stringContaining('crawlnode crawl news'),
    });
    expect(await stats()).toMatchObject({ failed: 1, pending: 3 });
    expect(JSON.parse((await run('failed', 'news', 'retry', '--json')).stdout)).toEqual({
      ...{ spider: 'news', job: null, retried: 1, withoutRecord: 0 },
    });
    expect(await stats()).toMatchObject({ failed: 0, pending: 4 });
  });

  it('--dry-run only says how many, and --limit takes the oldest', async () => {
    await fail(mixed, mixedFailure);
    expect((await run('failed', 'news', 'retry', '--dry-run', '--domain', 'a.example')).stdout).toBe(
      'news: 3 would be retried\n',
    );
    expect((await run('failed', 'news', 'purge', '--dry-run', '--limit', '2', '--json')).stdout).toBe(
      '{"spider":"news","dryRun":true,"purged":2}\n',
    );
    expect(await stats()).toMatchObject({ failed: 4, pending: 0 });
    const listed = jsonLines((await run('failed', 'news', 'list', '--json')).stdout);
    expect((await run('failed', 'news', 'purge', '--limit', '1', '--yes')).stdout).toBe('news: 1 dropped\n');
    expect((await run('failed', 'news', 'retry', '--limit', '2')).stdout).toBe('news: 2 back to pending\n');
    expect(jsonLines((await run('failed', 'news', 'list', '--json')).stdout)).toEqual(listed.slice(3));
    expect(await run('failed', 'news', 'list', '--status', '599')).toMatchObject({
      ...{ code: 0, stdout: '', stderr: 'news: no such request has failed\n' },
    });
  });

  it('what is retried is fetched again', async () => {
    let isMended = false;
    const site = await startSite({
      pages: 1,
      handler: ({ url }, response) => {
        if (url !== '/broken') return false;
        response.writeHead(isMended ? 200 : 500).end();
        return true;
      },
    });
    const args = ['crawl', 'news', '--exit-when-done', '-s', 'RETRY_TIMES=0', '-s', 'ROBOTSTXT_OBEY=false'];
    const crawl = () => run(...args);
    await run('seed', 'news', `${site.origin}/broken`);
    // No page of that run succeeds.
    expect(await crawl()).toMatchObject({ code: 1, stdout: expect.stringContaining('1 failed') });
    const inspect = ['inspect', 'news', `${site.origin}/broken`];
    expect((await run(...inspect)).stdout).toMatch(
      /\nattempts +1\n(.*\n)*failure +http_status, .*after 1 attempt/,
    );
    isMended = true;
    expect((await run('failed', 'news', 'retry', '--status', '500')).code).toBe(0);
    expect((await run(...inspect)).stdout).toMatch(/\nattempts +0\n/);
    expect((await crawl()).code).toBe(0);
    expect(site.log.filter(({ path }) => path === '/broken')).toHaveLength(2);
    expect(await stats()).toMatchObject({ failed: 0, pending: 0, done: 1 });
    await site.close();
  });

  it('list --ignored has the pages that did not fail but whose status was ignored, with the page that links to them', async () => {
    const site = await startSite({
      pages: 1,
      handler: ({ url }, response) => {
        if (url === '/')
          response.writeHead(200, { 'content-type': 'text/html' }).end('<a href="/gone">gone</a>');
        else response.writeHead(url === '/secret' ? 403 : 404).end();
        return true;
      },
    });
    await here.project.write(
      'spiders/news.ts',
      `import { Spider } from 'crawlnode';
       export default class extends Spider {
         name = 'news';
         customSettings = { REFERER_ENABLED: true, ROBOTSTXT_OBEY: false };
         *parse(response) { yield response.follow('/gone'); }
       }`,
    );
    const list = (...more: string[]) => run('failed', 'news', 'list', '--ignored', ...more);
    expect(await list()).toMatchObject({ code: 0, stderr: 'news: no such page was ignored\n' });
    for (const path of ['/', '/secret']) await run('seed', 'news', `${site.origin}${path}`);
    const { stdout } = await run('crawl', 'news', '--exit-when-done');
    expect(stdout).toContain('"crawlnode failed news list --ignored" lists pages with an ignored status');
    const gone = { status: 404, url: `${site.origin}/gone`, referer: `${site.origin}/` };
    expect(jsonLines((await list('--status', '404', '--json')).stdout)).toEqual([gone]);
    const unlinked = await list('--status', '403');
    expect(unlinked.stdout).toBe(`403\t-\t${site.origin}/secret\n`);
    expect(unlinked.stderr).toContain('REFERER_ENABLED');
    expect(jsonLines((await list('--limit', '1', '--json')).stdout)).toHaveLength(1);
    expect((await run('failed', 'news', 'list')).stdout).toBe('');
    for (const wrong of [['purge'], ['list', '--reason', 'timeout']]) {
      expect((await run('failed', 'news', ...wrong, '--ignored')).code).toBe(2);
    }
    await site.close();
  });

  it('a long list is retried and purged as a whole, page by page', async () => {
    const urls = Array.from({ length: 1_234 }, (_, n) => `http://a.example/${n}`);
    await fail(urls, (url) => ({
      reason: 'http_status',
      status: url.endsWith('7') ? 404 : 500,
      attempts: 3,
    }));
    expect(jsonLines((await run('failed', 'news', 'list', '--json')).stdout)).toHaveLength(1_234);
    expect((await run('failed', 'news', 'purge', '--status', '404', '--yes')).stdout).toBe(
      'news: 123 dropped\n',
    );
    expect((await run('failed', 'news', 'retry')).stdout).toBe('news: 1,111 back to pending\n');
    expect(await stats()).toMatchObject({ failed: 0, pending: 1_111 });
  });

  it('purge drops nothing off a terminal without --yes', async () => {
    await fail(mixed, mixedFailure);
    expect(await run('failed', 'news', 'purge')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--yes'),
    });
    expect(await stats()).toMatchObject({ failed: 4 });
    expect((await run('failed', 'news', 'purge', '--yes', '--json')).stdout).toBe(
      '{"spider":"news","purged":4}\n',
    );
    expect(await stats()).toMatchObject({ failed: 0, pending: 0 });
  });

  it('a request whose record was not kept is listed, cannot be retried, and can be purged', async () => {
    await fail(mixed, mixedFailure, 3);
    const listed = jsonLines((await run('failed', 'news', 'list', '--json')).stdout);
    expect(listed.filter(({ url }) => url === null)).toHaveLength(1);
    expect(await run('failed', 'news', 'retry')).toMatchObject({
      stdout: 'news: 3 back to pending\n',
      stderr: expect.stringContaining('1 stay'),
    });
    expect((await run('failed', 'news', 'purge', '--yes')).stdout).toBe('news: 1 dropped\n');
  });

  it('what cannot be meant is refused with what can', async () => {
    for (const [args, said] of [
      [['list', '--status', 'abc'], '404, or a class such as 5xx'],
      [['list', '--domain', 'http://a/'], 'expected a host'],
      [['list', '--limit', '0'], 'at least 1'],
      [['list', '--dry-run'], 'goes with retry and purge'],
      [['lst'], 'list, retry, purge'],
    ] as const) {
      expect(await run('failed', 'news', ...args)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining(said),
      });
    }
  });
});

it('a revived request has all its attempts and redirects before it, and keeps the rest', () => {
  const request = new Request('http://A.example:8080/x', { dontFilter: true, priority: 5, meta: { n: 1 } });
  const { record, id } = toFrontierRequest(request, {
    ...{ callback: 'search', errback: null, parentId: null, ordinal: 0, depth: 2, origin: null },
    isTrustedSeed: false,
    ...{ fingerprint, domainKey: 'host', nowMs: 7, job: null },
  });
  const before = { ...decodeRecord(record), attempts: 3, redirects: 2 };
  const settings = {
    DOMAIN_KEY: 'host',
    REQUEST_FINGERPRINTER: 'scrapy-redis',
    REQUEST_MODULE: null,
  } as const;
  const { record: after, ...rest } = revived({ id }, before, settings);
  expect(decodeRecord(after)).toEqual({ ...before, attempts: 0, redirects: 0 });
  expect(rest).toEqual({
    ...{ id, fingerprint: fingerprint(request), domain: 'a.example:8080', priority: 5, dontFilter: true },
  });
});
