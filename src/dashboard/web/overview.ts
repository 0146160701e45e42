/** One crawl: what limits it, how it went, and what its sites answer. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { CrawlStats } from '../../crawler/stats/crawl-stats.js';
import { eventText } from '../../crawler/stats/event-text.js';
import { byteSize, duration, howMany, n } from '../../format-amounts.js';
import type { CrawlEvent, HistoryPoint } from '../../frontier/frontier.js';
import { Chart } from './chart.js';
import { crawlLink } from './links.js';
import { Bar, type Children, clock, counted, empty, sentence, shown } from './parts.js';
import { crawlPath, useData } from './server.js';

export interface CrawlProps {
  readonly crawl: string;
  readonly stats: CrawlStats;
}

const spans = [1, 6, 24];
/** So many points fit beside each other; more make drawing slow. */
const MOST_POINTS = 480;

export function Overview({ crawl, stats }: CrawlProps): VNode {
  const [hours, setHours] = useState(1);
  const fromMs = useMemo(() => Math.floor(Date.now() / 60_000) * 60_000 - hours * 3_600_000, [hours]);
  const step = hours === 1 ? 10 : Math.ceil((hours * 3_600) / MOST_POINTS / 60) * 60;
  const history = useData<HistoryPoint[]>(
    `${crawlPath(crawl)}/history?from=${fromMs}&step=${step}`,
    hours === 1 ? 10_000 : 30_000,
  );
  const events = useData<CrawlEvent[]>(`${crawlPath(crawl)}/events`, 5_000);
  return html`
    ${limits(stats)}
    ${figures(crawl, stats)}
    <section aria-labelledby="history">
      <div class="bar-of-buttons">
        <h2 id="history">History</h2>
        <div role="group" aria-label="Time shown">${spans.map(
          (span) =>
            html`<button aria-pressed=${span === hours} onClick=${() => setHours(span)}>${span} h</button>`,
        )}</div>
      </div>
      ${shown(history, (points) =>
        points.length < 2
          ? empty('No history yet', 'Nodes write a point every ten seconds while they run.')
          : html`<${Charts} points=${points} step=${step} events=${events.data ?? []} />`,
      )}
    </section>
    <div class="columns">
      <section aria-labelledby="events"><h2 id="events">Events</h2>${shown(events, eventList)}</section>
      <div>
        <section aria-labelledby="answers"><h2 id="answers">Answers</h2>${answers(stats)}</section>
        ${worst(crawl, stats)}
        <section aria-labelledby="storage"><h2 id="storage">Items and storage</h2>${storage(stats)}</section>
      </div>
    </div>`;
}

/** What keeps the crawl from being faster, before any number. */
function limits({ state, limitedByText, eta, wantedNodes, nodes, run }: CrawlStats): VNode {
  const left =
    eta === null
      ? null
      : eta.seconds === null
        ? `The end is not known: each page brings ${eta.newPerPage} new requests.`
        : eta.by === 'rate'
          ? `${duration(eta.seconds * 1_000)} left, at the rate of the last minutes.`
          : `${duration(eta.seconds * 1_000)} left, as ${eta.domain} takes so long.`;
  const isLive = nodes.length > 0;
  const help = isLive && wantedNodes !== null && wantedNodes > nodes.length;
  const ended = state === 'ended' && run !== null ? `The run ended: ${run.closed}.` : null;
  const died = state === 'died' ? 'All nodes died. The next node goes on with the run.' : null;
  return html`<div class="limits">
    <p class="lead">${sentence(ended ?? died ?? (isLive ? limitedByText : null) ?? 'no node is running')}</p>
    ${left !== null && isLive && html`<p>${left}</p>`}
    ${
      isLive &&
      wantedNodes !== null &&
      html`<p class="quiet">${
        help
          ? `Within the last 5 min the work asked for at most ${howMany(wantedNodes, 'node')}; now running: ${n(nodes.length)}.`
          : `More nodes would not help: within the last 5 min the work asked for at most ${n(wantedNodes)}; now running: ${n(nodes.length)}.`
      }</p>`
    }
  </div>`;
}

function figures(crawl: string, stats: CrawlStats): VNode {
  const { pagesPerSecond, pending, delayed, leasable, leased, done, failed, counters, items, lost } = stats;
  const can =
    leasable === null
      ? ''
      : typeof leasable === 'number'
        ? `${n(leasable)} may be taken now`
        : `${n(leasable.atLeast)} or more may be taken now`;
  const all: readonly (readonly [string, Children, Children])[] = [
    ['Pages/s', pagesPerSecond.toFixed(1), ''],
    ['Pending', n(pending), can],
    ['Delayed', n(delayed), ''],
    ['In progress', n(leased), slotsText(stats)],
    ['Done', n(done), ''],
    [
      'Failed',
      failed > 0 ? html`<a class="bad" href=${crawlLink(crawl, 'failed')}>${n(failed)}</a>` : '0',
      lost > 0 ? html`<span class="bad">${n(lost)} lost</span>` : '',
    ],
    ['Items', n(counters.item_scraped_count ?? items), ''],
  ];
  return html`<dl class="figures">${all.map(
    ([title, value, more]) =>
      html`<div><dt>${title}</dt><dd><b>${value}</b>${more !== '' && html`<small>${more}</small>`}</dd></div>`,
  )}</dl>`;
}

/** Slots work on pages; a node also holds requests that it has leased ahead. */
function slotsText({ slots, slotsUsed }: CrawlStats): string {
  return slots && slotsUsed !== null ? `${n(slotsUsed)} of ${howMany(slots, 'slot')} in use` : '';
}

interface ChartsProps {
  readonly points: readonly HistoryPoint[];
  readonly step: number;
  readonly events: readonly CrawlEvent[];
}

function Charts({ points, step, events }: ChartsProps): VNode {
  const series = useMemo(() => seriesOf(points, step * 1_000), [points, step]);
  const { times, rate, value, words } = series;
  const perSecond = (x: number) => (x >= 10 || x === 0 ? n(Math.round(x)) : x.toFixed(x < 1 ? 2 : 1));
  const short = (x: number) =>
    x < 10_000 ? n(x) : Intl.NumberFormat('en', { notation: 'compact' }).format(x);
  const rates = useMemo(
    () => [
      { label: 'pages', colour: '--line-1', values: rate('pages'), isFilled: true },
      { label: 'items', colour: '--line-2', values: rate('items') },
      { label: 'retries', colour: '--line-3', values: rate('retries') },
      { label: 'failures', colour: '--bad', values: rate('failures') },
    ],
    [series],
  );
  const queue = useMemo(
    () => [
      { label: 'pending', colour: '--line-1', values: value('pending'), isFilled: true },
      { label: 'delayed', colour: '--line-3', values: value('delayed') },
      { label: 'in progress', colour: '--line-2', values: value('leased') },
    ],
    [series],
  );
  const nodes = useMemo(
    () => [
      { label: 'running', colour: '--line-1', values: value('nodes'), isStepped: true, isFilled: true },
      { label: 'wanted', colour: '--line-3', values: value('wantedNodes'), isStepped: true },
    ],
    [series],
  );
  return html`<div class="charts">
    <${Chart} title="Per second" times=${times} lines=${rates} events=${events} format=${perSecond} words=${words} />
    <${Chart} title="Requests" times=${times} lines=${queue} events=${events} format=${short} />
    <${Chart} title="Nodes" times=${times} lines=${nodes} events=${events} format=${short} />
  </div>`;
}

type Total = 'pages' | 'items' | 'retries' | 'failures';
type Level = 'pending' | 'delayed' | 'leased' | 'nodes' | 'wantedNodes';

/** Columns for the charts. Where no node ran there is a gap, and a total that decreased was reset. */
function seriesOf(points: readonly HistoryPoint[], stepMs: number) {
  const rows: (HistoryPoint | null)[] = [];
  const times: number[] = [];
  for (const point of points) {
    const last = rows.at(-1);
    if (last && point.atMs - last.atMs > 2.5 * stepMs) {
      rows.push(null);
      times.push((last.atMs + stepMs) / 1_000);
    }
    rows.push(point);
    times.push(point.atMs / 1_000);
  }
  const rate = (name: Total) =>
    rows.map((row, at) => {
      const before = rows[at - 1];
      if (!row || !before || row[name] < before[name]) return null;
      return ((row[name] - before[name]) * 1_000) / (row.atMs - before.atMs);
    });
  const value = (name: Level) => rows.map((row) => row?.[name] ?? null);
  const words = { label: 'limited by', values: rows.map((row) => row?.limitedBy ?? 'no node') };
  return { times, rate, value, words };
}

function eventList(events: readonly CrawlEvent[]): Children {
  if (events.length === 0)
    return empty('No events yet', 'Nodes that join, leave or die, pauses and losses are noted here.');
  return html`<ol class="events" tabindex="0" aria-label="Events, the last first">${[...events]
    .reverse()
    .map(
      (event) =>
        html`<li key=${event.number} class=${event.kind}><time>${clock(event.atMs)}</time> ${eventText(event)}</li>`,
    )}</ol>`;
}

function answers({ counters }: CrawlStats): Children {
  const prefix = 'downloader/response_status_count/';
  const found = Object.entries(counters)
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, count]) => ({ status: name.slice(prefix.length), count }))
    .sort((a, b) => b.count - a.count);
  if (found.length === 0) return html`<p class="quiet">No site has answered yet.</p>`;
  const all = found.reduce((total, { count }) => total + count, 0);
  return html`<table class="bars"><tbody>${found.map(
    ({ status, count }) => html`<tr><th scope="row">${status}</th><td class="number">${n(count)}</td>
      <td><${Bar} share=${count / all} tone=${/^[45]/.test(status) ? 'bad' : ''} /></td></tr>`,
  )}</tbody></table>`;
}

function worst(crawl: string, { worstDomains }: CrawlStats): Children {
  if (worstDomains.length === 0) return null;
  return html`<section aria-labelledby="worst"><h2 id="worst">Domains with trouble</h2>
    <ul class="plain">${worstDomains.map(({ domain, failures, retries, statuses }) => {
      const refused = Object.fromEntries(Object.entries(statuses).filter(([status]) => status >= '400'));
      const parts = [
        ['failed', counted(failures)],
        ['retried', counted(retries)],
        ['answered', counted(refused)],
      ].filter(([, text]) => text !== '–');
      return html`<li><b>${domain ?? 'other domains'}</b> <span class="quiet">${parts.map(([what, text]) => `${what} ${text}`).join(' · ')}</span></li>`;
    })}</ul>
    <p><a href=${crawlLink(crawl, 'domains', { sort: 'failed' })}>All domains by failures</a></p></section>`;
}

function storage({ bytes, feeds, pipelines, items }: CrawlStats): Children {
  const rows: (readonly [string, string])[] = [
    ['Requests', byteSize(bytes.frontier)],
    ['Fingerprints', byteSize(bytes.dupefilter)],
    ['Items list', `${byteSize(bytes.items)}, ${howMany(items, 'item')}`],
    ...feeds.map(({ path, waiting }) => [path, `${howMany(waiting, 'item')} to be written`] as const),
    ...pipelines.map(
      ({ pipeline, waiting }) => [pipeline, `${howMany(waiting, 'item')} to be accepted`] as const,
    ),
  ];
  return html`<table class="bars"><tbody>${rows.map(
    ([name, text]) => html`<tr><th scope="row">${name}</th><td class="number">${text}</td></tr>`,
  )}</tbody></table>`;
}
