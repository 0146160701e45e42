/**
 * The twelve questions of docs/guide/monitoring.md about the crawls of `npm run situation`: each is answered by its command, and by
 * one view of the dashboard, whose data is checked as the API gives it.
 */

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { pages } from '../../docs/pages.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { startCli } from '../../helpers/cli.js';

const script = fileURLToPath(new URL('../../../scripts/situation/situation.mjs', import.meta.url));
const guide = pages.find(({ file }) => file === 'docs/guide/monitoring.md')!.text;
const section = guide.split('\n## Twelve questions\n')[1]!.split('\n## ')[0]!;
/** Question → its command. */
const asked = new Map(
  [...section.matchAll(/^\| ([^|]*\?) \| `crawlnode ([^`]*)` \|/gm)].map(([, question, command]) => [
    question!,
    command!.split(' '),
  ]),
);

/** The name of a site with any port, in its row of a table. */
const row = (host: string, rest: string) =>
  new RegExp(`^ *${host.replaceAll('.', '\\.')}:\\d+ .*${rest}`, 'm');
const of = (host: string) => expect.stringMatching(`^${host.replaceAll('.', '\\.')}:\\d+$`);
const among = (...parts: unknown[]) =>
  expect.arrayContaining(parts.map((part) => expect.objectContaining(part)));

interface Answer {
  /** What the command prints. */
  readonly text: readonly RegExp[];
  /** A path of the API below `/api/v1/crawls`, and what it has. */
  readonly view: string;
  readonly data: unknown;
}

const stats = '/shop';
const answers: Readonly<Record<string, Answer>> = {
  'Which site is slow, and why?': {
    text: [
      // That which never answers may have no row yet. Then comes the one whose answers take long.
      /DOMAIN.*\n( *127\.0\.0\.5:.*\n)? *127\.0\.0\.3:\d+ .* 2,\d{3} ms /,
      row('127.0.0.7', '12 s \\(robots\\)'),
    ],
    view: '/shop/domains?sort=slow',
    data: {
      domains: among(
        { domain: of('127.0.0.3'), delayBy: null, p95Ms: expect.any(Number) },
        { domain: of('127.0.0.7'), delayBy: 'robots', delayMs: 12_000 },
      ),
    },
  },
  'Which sites refuse me?': {
    text: [/DOMAIN.*\n *127\.0\.0\.4:\d+ .* 403 ×\d+ /],
    view: '/shop/domains?sort=blocked&limit=1',
    data: { domains: [{ domain: of('127.0.0.4'), statuses: { 403: expect.any(Number) } }] },
  },
  'Why did the rate fall?': {
    text: [/ 3 +\d+ +paused\n/, / 1 +\d+ +\w+\n/],
    view: '/shop/history',
    data: among({ nodes: 3, limitedBy: 'paused' }, { nodes: 1 }),
  },
  'How long will it take?': {
    text: [/^ {2}eta +\d+ \w+.*, (as 127\.0\.0\.\d:\d+ takes so long|at the rate of the last minutes)$/m],
    view: stats,
    data: { eta: { seconds: expect.any(Number), by: expect.any(String) } },
  },
  'Would another node help?': {
    text: [/^ {2}limited by +\w+: .*\(wanted at most \d nodes? within the last 5 min\)$/m],
    view: '/shop/scale',
    data: { nodes: 1, wantedNodes: expect.any(Number), limitedBy: expect.any(String) },
  },
  'Which node misbehaves?': {
    text: [/^ {2}nodes\n +ash .* heartbeat .*slots/m, /^ {2}nodes that died within a day\n +cedar /m],
    view: '/shop/nodes',
    data: { nodes: among({ id: 'ash' }), deadNodes: among({ id: 'birch' }, { id: 'cedar' }) },
  },
  'Does a page hang?': {
    text: [/oldest lease \d+ s \(127\.0\.0\.5:\d+\)/],
    view: '/shop/nodes',
    data: { nodes: [{ facts: { oldestLeaseMs: expect.any(Number), oldestLeaseDomain: of('127.0.0.5') } }] },
  },
  'What failed, and may I retry it?': {
    text: [/\thttp_status\t503\t127\.0\.0\.6:\d+\tyes\t.*: crawlnode failed shop retry .*--status 503 /],
    view: '/shop/failed/summary',
    data: {
      groups: among({
        ...{ reason: 'http_status', status: 503, domain: of('127.0.0.6'), retry: 'yes' },
        command: expect.stringContaining('crawlnode failed shop retry'),
      }),
    },
  },
  'What did the dead node hold?': {
    text: [/died .* held \d+ requests? .*\n +http:\/\/127\.0\.0\.\d:\d+\/\d+ {2}(pending again|in progress)/],
    view: '/shop/nodes',
    data: {
      deadNodes: among({ held: among({ url: expect.stringContaining('//127.0.0.5:') }) }),
    },
  },
  'Who paused it?': {
    text: [/ paused by \S+@\S+\n/],
    view: '/shop/events',
    data: among({ kind: 'paused', by: expect.stringMatching(/^\S+@\S+$/) }),
  },
  'Is it stuck?': {
    text: [/^shop {2}\(redis\) {2}running, 1 node, \d+\.\d pages\/s\n/, /^ {2}limited by +\w+: /m],
    view: stats,
    data: { state: 'running', pagesPerSecond: expect.any(Number), limitedByText: expect.any(String) },
  },
  'How much memory does each crawl take?': {
    text: [/MEMORY/, /^news .* MB /m, /^shop .* MB /m],
    view: '',
    data: among(
      { spider: 'news', bytes: expect.objectContaining({ frontier: expect.any(Number) }) },
      { spider: 'shop', bytes: expect.objectContaining({ frontier: expect.any(Number) }) },
    ),
  },
};

it('each have one command and one view, while sites are slow, refuse, hang and fail, a node was killed, and one is frozen', {
  timeout: 300_000,
}, async () => {
  expect([...asked.keys()]).toEqual(Object.keys(answers));
  const situation = startCli(['--json', '--minutes', '3'], { executable: script });
  let project = '';
  try {
    await situation.waitForOutput(/"dashboard":.*\n/, 240_000);
    const reach = JSON.parse(situation.stdout());
    project = reach.project;
    for (const [question, { text, view, data }] of Object.entries(answers)) {
      const { code, stdout } = await runHere(asked.get(question)!, { cwd: project });
      expect(code, question).toBe(0);
      for (const pattern of text) expect(stdout, question).toMatch(pattern);
      const answer = await fetch(`${reach.dashboard}api/v1/crawls${view}`);
      const found = (await answer.json()) as object;
      if (data instanceof Object && 'asymmetricMatch' in data) expect(found, question).toEqual(data);
      else expect(found, question).toMatchObject(data as object);
    }
  } finally {
    // It ends what it has started.
    situation.kill('SIGTERM');
    expect(await situation.wait()).toMatchObject({ code: 0 });
  }
  expect(existsSync(project)).toBe(false);
});
