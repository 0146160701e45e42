/** The domains of a crawl: which is slow, which refuses, what each waits for. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { DomainPage, DomainReport } from '../../crawler/stats/domain-reports.js';
import { byteSize, duration, n } from '../../format-amounts.js';
import { crawlLink, usePlace } from './links.js';
import { Age, type Column, counted, domainName, empty, ms, shown, sum, table } from './parts.js';
import { crawlPath, useData } from './server.js';

const columns: readonly Column<DomainReport>[] = [
  {
    title: 'Domain',
    cell: ({ domain }) =>
      domain === null ? html`<span class="quiet">other domains</span>` : domainName(domain),
  },
  { title: 'Pending', kind: 'number', sort: 'pending', cell: ({ pending }) => n(pending) },
  {
    title: 'In progress',
    kind: 'number',
    wide: true,
    cell: ({ leased, limit }) => `${n(leased)} of ${n(limit)}`,
  },
  { title: 'Pages', kind: 'number', wide: true, cell: ({ pages }) => n(pages) },
  { title: 'Bytes', kind: 'number', wide: true, cell: ({ bytes }) => byteSize(bytes) },
  { title: 'Mean', kind: 'number', wide: true, cell: ({ latencyMs }) => ms(latencyMs) },
  {
    title: 'p95',
    kind: 'number',
    sort: 'slow',
    cell: ({ p95Ms }) => (p95Ms === null ? ms(p95Ms) : `≤ ${ms(p95Ms)}`),
  },
  { title: 'Answers', kind: 'long', sort: 'blocked', cell: ({ statuses }) => counted(statuses) },
  {
    title: 'Failed',
    kind: 'long',
    sort: 'failed',
    cell: ({ failures }) => (sum(failures) === 0 ? '–' : html`<span class="bad">${counted(failures)}</span>`),
  },
  { title: 'Retried', kind: 'long', wide: true, cell: ({ retries }) => counted(retries) },
  { title: 'Waits for', wide: true, cell: waitText },
];

function waitText({ delayMs, delayBy, dueInMs, blockedBy }: DomainReport): string {
  if (blockedBy === 'retry_after') return `Retry-After, ${duration(dueInMs)}`;
  if (blockedBy === 'autothrottle') return `no answer, asked again in ${duration(dueInMs)}`;
  if (blockedBy === 'robots') return 'robots.txt';
  return delayMs === 0 ? '–' : `a delay of ${ms(delayMs)} (${delayBy})`;
}

const PAGE = 100;

export function Domains({ crawl }: { readonly crawl: string }): VNode {
  const sort = usePlace().query.get('sort') ?? 'pending';
  const path = (after: string | null) =>
    `${crawlPath(crawl)}/domains?sort=${encodeURIComponent(sort)}&limit=${PAGE}${after === null ? '' : `&after=${encodeURIComponent(after)}`}`;
  const [starts, setStarts] = useState<readonly (string | null)[]>([null]);
  const at = starts.at(-1)!;
  const page = useData<DomainPage>(path(at), 10_000);
  useEffect(() => setStarts([null]), [sort]);
  const onSort = (order: string) => {
    location.hash = crawlLink(crawl, 'domains', { sort: order });
  };
  return html`<${Age} ...${page} />
    ${shown(page, ({ domains, next }) =>
      domains.length === 0
        ? empty('No domains yet', 'Nodes report the domains that they ask every ten seconds.')
        : [
            table({
              label: 'Domains',
              columns,
              rows: domains,
              keyOf: ({ domain }) => domain ?? '',
              sort,
              onSort,
            }),
            html`<${Pages} starts=${starts} next=${next} onGo=${setStarts} />`,
          ],
    )}`;
}

export interface PagesProps {
  /** Where each page up to this one begins. */
  readonly starts: readonly (string | null)[];
  readonly next: string | null;
  readonly onGo: (starts: readonly (string | null)[]) => void;
}

/** To the page after and before this one. */
export function Pages({ starts, next, onGo }: PagesProps): VNode | null {
  if (starts.length === 1 && next === null) return null;
  return html`<nav class="pages" aria-label="Pages">
    <button disabled=${starts.length === 1} onClick=${() => onGo(starts.slice(0, -1))}>Previous</button>
    <span>Page ${starts.length}</span>
    <button disabled=${next === null} onClick=${() => onGo([...starts, next])}>Next</button>
  </nav>`;
}
