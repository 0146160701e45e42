/** What failed, by reason, status and domain; what may be done about it; and the requests themselves. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { FailedPage } from '../../crawler/requests/failed-requests.js';
import type { FailedGroup, FailedSummary } from '../../crawler/requests/failed-summary.js';
import { howMany, n } from '../../format-amounts.js';
import { Pages } from './domains-view.js';
import { crawlLink, usePlace } from './links.js';
import {
  Age,
  type Column,
  Confirm,
  clock,
  command,
  domainName,
  empty,
  sentence,
  shown,
  table,
  Url,
} from './parts.js';
import { crawlPath, post, useData } from './server.js';

interface FailedProps {
  readonly crawl: string;
  readonly allowActions: boolean;
}

/** What selects failed requests: reason, status and domain. */
type Filter = Readonly<Record<string, string>>;

const words = { yes: 'worth it', after_fix: 'after a change', no: 'not worth it' } as const;

export function Failed({ crawl, allowActions }: FailedProps): VNode {
  const { query } = usePlace();
  const filter = Object.fromEntries(
    ['reason', 'status', 'domain'].flatMap((name) => (query.get(name) ? [[name, query.get(name)!]] : [])),
  );
  const summary = useData<FailedSummary>(`${crawlPath(crawl)}/failed/summary`, 10_000);
  const [purging, setPurging] = useState<FailedGroup | null>(null);
  const [said, setSaid] = useState('');

  const act = async (action: 'retry' | 'purge', group: FailedGroup) => {
    try {
      const { reason, status, domain } = group;
      const done = await post<Record<string, number>>(`${crawlPath(crawl)}/failed/${action}`, {
        group: { reason, status, domain },
      });
      const stay = done.withoutRecord
        ? `; ${n(done.withoutRecord)} stay, as their records were not kept`
        : '';
      setSaid(
        action === 'retry' ? `${n(done.retried!)} back to pending${stay}` : `${n(done.purged!)} dropped`,
      );
      summary.reload();
    } catch (error) {
      setSaid((error as Error).message);
    }
  };
  const actions: Column<FailedGroup> = {
    title: 'Actions',
    cell: (group) =>
      isSelectable(group) &&
      html`<span class="buttons">
        ${group.command !== null && html`<button onClick=${() => act('retry', group)}>Retry</button>`}
        <button class="danger" onClick=${() => setPurging(group)}>Purge</button></span>`,
  };
  const columns = groupColumns(crawl);
  return html`<${Age} ...${summary} />
    <p class="said" role="status">${said && sentence(said)}</p>
    ${shown(summary, ({ total, read, groups }) =>
      groups.length === 0
        ? empty('Nothing failed', 'Requests that are given up stay here until they are retried or purged.')
        : html`<p class="quiet">${howMany(total, 'request')} failed${read < total ? `; the oldest ${n(read)} are counted here` : ''}.</p>
          ${table({ label: 'Failed requests by reason', columns: allowActions ? [...columns, actions] : columns, rows: groups, keyOf: ({ reason, status, domain }) => `${reason} ${status} ${domain}` })}`,
    )}
    <${Requests} crawl=${crawl} filter=${filter} />
    ${
      purging !== null &&
      html`<${Confirm} title=${`Purge ${howMany(purging.count, 'failed request')}?`} verb="Purge"
        text="They are deleted, and no command brings them back."
        onEnd=${(isConfirmed: boolean) => {
          setPurging(null);
          if (isConfirmed) void act('purge', purging);
        }} />`
    }`;
}

function groupColumns(crawl: string): Column<FailedGroup>[] {
  return [
    {
      title: 'Reason',
      cell: (group) =>
        isSelectable(group)
          ? html`<a href=${crawlLink(crawl, 'failed', filterOf(group))}>${group.reason}</a>`
          : group.reason,
    },
    { title: 'Status', kind: 'number', cell: ({ status }) => status ?? '–' },
    {
      title: 'Domain',
      kind: 'name',
      cell: ({ domain }) => (domain === null ? html`<span class="quiet">several</span>` : domainName(domain)),
    },
    { title: 'Count', kind: 'number', cell: ({ count }) => n(count) },
    {
      title: 'A retry is',
      kind: 'long',
      cell: ({
        retry,
        advice,
        command: typed,
      }) => html`<span class=${retry === 'yes' ? 'good' : ''}>${words[retry]}</span>
        <small class="quiet">${sentence(advice)}</small>${typed !== null && html`<small>${command(typed)}</small>`}`,
    },
    {
      title: 'Example',
      kind: 'long',
      wide: true,
      cell: ({ exampleUrl, detail }) =>
        html`<span class="some"><${Url} url=${exampleUrl} /></span><small class="quiet some">${detail ?? ''}</small>`,
    },
  ];
}

function isSelectable({ domain }: FailedGroup): boolean {
  return domain !== null;
}

function filterOf({ reason, status, domain }: FailedGroup): Filter {
  return {
    reason,
    ...(status !== null && { status: String(status) }),
    ...(domain !== null && { domain }),
  };
}

const requestColumns: readonly Column<FailedPage>[] = [
  {
    title: 'Request',
    kind: 'long',
    cell: ({ url, method, detail }) =>
      html`${method !== null && method !== 'GET' ? `${method} ` : ''}<${Url} url=${url} /><small class="quiet">${detail ?? ''}</small>`,
  },
  { title: 'Reason', cell: ({ reason }) => reason },
  { title: 'Status', kind: 'number', cell: ({ status }) => status ?? '–' },
  { title: 'Attempts', kind: 'number', wide: true, cell: ({ attempts }) => n(attempts) },
  { title: 'Node', kind: 'name', wide: true, cell: ({ node }) => node.replace(/:[^:]*$/, '') || '–' },
  { title: 'Failed at', wide: true, cell: ({ failedAt }) => clock(Date.parse(failedAt)) },
];

interface Page {
  readonly found: readonly FailedPage[];
  readonly next: string | null;
}

function Requests({ crawl, filter }: { readonly crawl: string; readonly filter: Filter }): VNode | null {
  const chosen = new URLSearchParams(filter).toString();
  const [place, setPlace] = useState<{ chosen: string; starts: readonly (string | null)[] }>({
    chosen,
    starts: [null],
  });
  const starts = place.chosen === chosen ? place.starts : [null];
  const after = starts.at(-1) ?? null;
  const query = new URLSearchParams({ ...filter, ...(after !== null && { after }) });
  const page = useData<Page>(`${crawlPath(crawl)}/failed?${query}`, 10_000);
  const onGo = (more: readonly (string | null)[]) => setPlace({ chosen, starts: more });
  const title = Object.values(filter).join(' · ');
  return html`${shown(page, ({ found, next }) =>
    found.length === 0 && next === null && chosen === ''
      ? null
      : html`<section aria-labelledby="requests">
        <h2 id="requests">Requests${title !== '' && html` <span class="quiet">${title} <a href=${crawlLink(crawl, 'failed')}>all</a></span>`}</h2>
        ${
          found.length === 0
            ? html`<p class="quiet">${next === null ? 'None.' : 'None on this page.'}</p>`
            : table({ label: 'Failed requests', columns: requestColumns, rows: found, keyOf: ({ id }) => id })
        }
        <${Pages} starts=${starts} next=${next} onGo=${onGo} /></section>`,
  )}`;
}
