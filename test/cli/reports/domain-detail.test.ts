/** `inspect S --domain HOST` on both engines. */
import { describe, expect, it } from 'vitest';
import { domainNamed } from '../../../src/crawler/stats/inspect-domain.js';
import { nodeFacts } from '../../frontier-contract/telemetry-examples.js';
import { commit, request, takeOne } from '../../frontier-contract/world.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { engines, projectOn } from '../../helpers/engine-project.js';
import { joinAs } from '../../helpers/joining.js';

const page = (url: string) => ({
  ...request(url, { domain: new URL(url).host }),
  record: JSON.stringify({ v: 1, u: url }),
});

describe.each(engines)('on the %s engine', (engine) => {
  const here = projectOn(engine);
  const run = (...args: string[]) => runHere(['inspect', 'news', ...args], { cwd: here.project.dir });

  it('shows what waits and why, its robots.txt, answers and failures, and what to do', async () => {
    await here.look(async (frontier) => {
      const { incarnation } = await joinAs(frontier);
      await frontier.push([page('https://a.example/1')], 'links');
      await commit(frontier, await takeOne(frontier), { kind: 'failed', reason: 'timeout', attempts: 3 });
      await frontier.push([page('https://a.example/2'), page('https://a.example/3')], 'links');
      await frontier.throttle('a.example', { delayMs: 2_000, source: 'robots' });
      const asked = await frontier.robots('https://a.example', 'a.example', false);
      if (asked.kind !== 'fetch') throw new Error(asked.kind);
      const rules = { kind: 'rules', text: 'Crawl-delay: 2', forMs: 3_600_000, delayMs: 2_000 } as const;
      await frontier.storeRobots(asked.claim, rules, {});
      await frontier.telemetry.report(incarnation, {
        ...{ sequence: 1, node: nodeFacts, events: [] },
        domains: [
          [
            'a.example',
            { p: 21, b: 5_000, s200: 10, s403: 10, ftimeout: 1, rtimeout: 2, m: 100, a: 2, l12: 2 },
          ],
        ],
      });
      await frontier.leave('shutdown');
    });
    const known = JSON.parse((await run('--domain', 'https://A.example/x', '--json')).stdout);
    expect(known).toMatchObject({
      ...{ spider: 'news', domain: 'a.example', known: true, pending: 2, leased: 0, delayMs: 2_000 },
      ...{ delayBy: 'robots', statuses: { 200: 10, 403: 10 }, failures: { timeout: 1 }, latencyMs: 50 },
      robots: [{ origin: 'https://a.example', state: 'rules', delayMs: 2_000 }],
      failed: [{ reason: 'timeout', count: 1, domain: 'a.example', retry: 'yes' }],
    });
    expect(known.advice).toEqual([
      'its robots.txt asks for 2 s between two pages: the 2 requests that wait take at least 4 s',
      expect.stringContaining('10 of 20 answers refused the crawler'),
      expect.stringContaining('3 attempts got no answer'),
      expect.stringMatching(
        /^1 failed with timeout: .*: crawlnode failed news .*retry --reason timeout --domain a\.example$/,
      ),
    ]);
    const { stdout } = await run('--domain', 'a.example');
    expect(stdout).toMatch(
      /^domain +a\.example\npending +2\nin progress +0 of at most 100\ndelay +2,000 ms \(robots\)\n/,
    );
    expect(stdout).toMatch(
      /\nrobots\.txt +https:\/\/a\.example: known for 60 min, with a Crawl-delay of 2,000 ms\n/,
    );
    expect(stdout).toMatch(/\nfailed list +1 × timeout +last \S+Z +https:\/\/a\.example\/1\n/);
  });

  it('says so where nothing is known, and goes with no URL', async () => {
    const unknown = await run('--domain', 'b.example', '--json');
    expect(unknown).toMatchObject({ code: 0, stderr: expect.stringContaining('stats news') });
    expect(JSON.parse(unknown.stdout)).toEqual({
      spider: 'news',
      job: null,
      domain: 'b.example',
      known: false,
    });
    expect(await run('https://b.example/', '--domain', 'b.example')).toMatchObject({ code: 2 });
    expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining('--domain HOST') });
  });
});

it('a domain is named by a host, a URL or a download slot', () => {
  const named = ['Example.com', 'example.com:8080', 'https://example.com/a', '[::1]:80', 'my slot'];
  expect(named.map(domainNamed)).toEqual([
    'example.com',
    'example.com:8080',
    'example.com',
    '[::1]',
    'my slot',
  ]);
});
