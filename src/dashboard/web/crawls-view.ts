/** All crawls of the store, in a table that answers first which of them needs somebody. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { CrawlStats } from '../../crawler/stats/crawl-stats.js';
import { byteSize, duration, n } from '../../format-amounts.js';
import { crawlLink } from './links.js';
import { Age, type Column, empty, State, shown, sum, table } from './parts.js';
import { useNews } from './server.js';

interface CrawlNews {
  readonly crawls: readonly CrawlStats[];
  readonly problems: readonly string[];
}

const columns: readonly Column<CrawlStats>[] = [
  { title: 'Crawl', cell: (crawl) => html`<a href=${crawlLink(nameOf(crawl))}>${nameOf(crawl)}</a>` },
  { title: 'State', cell: ({ state }) => html`<${State} state=${state} />` },
  { title: 'Limited by', kind: 'long', wide: true, cell: limitText },
  { title: 'Pages/s', kind: 'number', wide: true, cell: ({ pagesPerSecond }) => pagesPerSecond.toFixed(1) },
  { title: 'Pending', kind: 'number', cell: ({ pending, delayed }) => n(pending + delayed) },
  { title: 'Done', kind: 'number', wide: true, cell: ({ done }) => n(done) },
  {
    title: 'Failed',
    kind: 'number',
    cell: ({ failed }) => html`<span class=${failed > 0 ? 'bad' : 'quiet'}>${n(failed)}</span>`,
  },
  {
    title: 'Items',
    kind: 'number',
    wide: true,
    cell: ({ counters, items }) => n(counters.item_scraped_count ?? items),
  },
  {
    title: 'Nodes',
    kind: 'number',
    wide: true,
    cell: ({ nodes, wantedNodes, state }) =>
      state === 'running' && wantedNodes !== null ? `${nodes.length} of ${wantedNodes}` : nodes.length,
  },
  {
    title: 'Left',
    kind: 'number',
    wide: true,
    cell: ({ eta }) => (eta?.seconds == null ? '–' : duration(eta.seconds * 1_000)),
  },
  { title: 'Stored', kind: 'number', wide: true, cell: ({ bytes }) => byteSize(sum(bytes)) },
  { title: 'Age', kind: 'number', wide: true, cell: ({ beganAtMs }) => ago(beganAtMs) },
  {
    title: 'Last run',
    kind: 'number',
    wide: true,
    cell: ({ run, nodes }) => (nodes.length > 0 ? 'now' : ago(run && (run.endedAt ?? run.startedAt))),
  },
];

export function CrawlsView(): VNode {
  const news = useNews<CrawlNews>(null);
  return html`<${Age} ...${news} />
    <h1>Crawls</h1>
    ${shown(news, ({ crawls, problems }) => [
      problems.map((problem) => html`<p class="notice warn" role="alert">${problem}</p>`),
      crawls.length === 0
        ? empty(
            'No crawls yet',
            html`The store has none, and the project no spider. Begin one with <code>crawlnode crawl SPIDER</code>.`,
          )
        : table({ label: 'Crawls', columns, rows: [...crawls].sort(byState), keyOf: nameOf }),
    ])}`;
}

/** Those that may need somebody come first; within a state the order of the names stays. */
const states: readonly CrawlStats['state'][] = [
  'died',
  'paused',
  'stopping',
  'closing',
  'running',
  'waiting',
  'ended',
  'not_begun',
];

function byState(a: CrawlStats, b: CrawlStats): number {
  return states.indexOf(a.state) - states.indexOf(b.state);
}

function limitText({ state, limitedByText, run }: CrawlStats): string {
  if (state === 'running' || state === 'paused') return limitedByText ?? '–';
  return state === 'ended' ? (run?.closed ?? '–') : '–';
}

function nameOf({ spider, job }: CrawlStats): string {
  return job === null ? spider : `${spider}@${job}`;
}

function ago(atMs: number | null): string {
  return atMs === null ? '–' : duration(Math.max(0, Date.now() - atMs));
}
