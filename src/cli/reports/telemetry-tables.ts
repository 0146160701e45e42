/** What `stats SPIDER --domains`, `--history` and `--events` print. */
import type { DeadNodeStats } from '../../crawler/stats/dead-nodes.js';
import type { DomainReport } from '../../crawler/stats/domain-reports.js';
import { eventText } from '../../crawler/stats/event-text.js';
import { byteSize, duration, howMany, n } from '../../format-amounts.js';
import type { CrawlEvent, Eta, HistoryPoint, RequestState } from '../../frontier/frontier.js';
import { alignColumns } from '../terminal/align-columns.js';
import type { Paint } from '../terminal/colour.js';
import { oneLine } from '../terminal/printable.js';

export function domainsTable(domains: readonly DomainReport[], paint: Paint): string {
  const titles = [
    'DOMAIN',
    'PENDING',
    'LEASED',
    'PAGES',
    'BYTES',
    'MEAN',
    'P95',
    'ANSWERS',
    'FAILED',
    'RETRIED',
    'DELAY',
  ];
  return table([titles, ...domains.map(domainRow)], paint);
}

/** A row of the worst domains, with a reason for each number. */
export function domainRow(domain: DomainReport): string[] {
  const { pending, leased, pages, bytes, latencyMs, p95Ms, statuses, failures, retries } = domain;
  const ms = (value: number | null) => (value === null ? '-' : `${n(value)} ms`);
  const atMost = (value: number | null) => (value === null ? '-' : `≤ ${ms(value)}`);
  return [
    oneLine(domain.domain ?? '(other domains)'),
    ...[n(pending), n(leased), n(pages), byteSize(bytes), ms(latencyMs), atMost(p95Ms)],
    ...[counted(statuses), counted(failures), counted(retries), delayText(domain)],
  ];
}

/** One of the worst domains, in a few cells. */
export function worstDomainRow(domain: DomainReport): string[] {
  const { pages, statuses, failures, retries, p95Ms } = domain;
  const answers = Object.fromEntries(Object.entries(statuses).filter(([status]) => status >= '400'));
  const parts = [
    ['failed', counted(failures)],
    ['retried', counted(retries)],
    ['answered', counted(answers)],
  ].filter(([, text]) => text !== '-');
  const what = parts.map(([label, text]) => `${label} ${text}`).join(' · ');
  const slow = p95Ms === null ? 'no answer' : `p95 ≤ ${n(p95Ms)} ms`;
  return [oneLine(domain.domain ?? '(other domains)'), howMany(pages, 'page'), slow, what];
}

export function counted(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).sort(([, a], [, b]) => b - a);
  const shown = some.slice(0, 4).map(([name, count]) => `${oneLine(name)} ×${n(count)}`);
  return some.length === 0 ? '-' : [...shown, ...(some.length > 4 ? ['…'] : [])].join(', ');
}

export function delayText({ delayMs, delayBy, dueInMs, blockedBy }: DomainReport): string {
  if (blockedBy === 'retry_after') return `${duration(dueInMs)} more (retry_after)`;
  if (blockedBy === 'autothrottle') return `${duration(dueInMs)} more (does not answer)`;
  if (blockedBy === 'robots') return 'waits for robots.txt';
  return delayMs === 0 ? '-' : `${delayMs < 10_000 ? `${n(delayMs)} ms` : duration(delayMs)} (${delayBy})`;
}

export function historyTable(points: readonly HistoryPoint[], paint: Paint): string {
  const titles = [
    'TIME',
    'PAGES/S',
    'ITEMS/S',
    'FAILED',
    'RETRIED',
    'PENDING',
    'DELAYED',
    'LEASED',
    'NODES',
    'WANTED',
    'LIMITED BY',
  ];
  const rows = points.map((point, at) => {
    const before = points[at - 1];
    // A total that has decreased was reset.
    const since = (name: 'pages' | 'items' | 'failures' | 'retries') =>
      before === undefined ? null : Math.max(0, point[name] - before[name]);
    const rate = (name: 'pages' | 'items') =>
      before === undefined ? '-' : ((since(name)! * 1_000) / (point.atMs - before.atMs)).toFixed(1);
    const more = (name: 'failures' | 'retries') => (before === undefined ? '-' : n(since(name)!));
    const { pending, delayed, leased, nodes, wantedNodes, limitedBy } = point;
    return [
      ...[timeText(point.atMs), rate('pages'), rate('items'), more('failures'), more('retries')],
      ...[n(pending), n(delayed), n(leased), n(nodes), n(wantedNodes), limitedBy],
    ];
  });
  return table([titles, ...rows], paint);
}

export function eventsTable(events: readonly CrawlEvent[]): string {
  return alignColumns(events.map(eventRow)).join('\n');
}

export function eventRow(event: CrawlEvent): string[] {
  return [timeText(event.atMs), eventText(event, oneLine)];
}

/** In words, for the head of `stats SPIDER`. */
export function etaText(eta: Eta | null): string | null {
  if (eta === null) return null;
  if (eta.seconds === null) return `not known: each page brings ${eta.newPerPage} new requests`;
  const left = duration(eta.seconds * 1_000);
  return eta.by === 'rate'
    ? `${left}, at the rate of the last minutes`
    : `${left}, as ${oneLine(eta.domain)} takes so long`;
}

export function deadNodeRow(
  { id, host, pid, diedAtMs, requests, pages }: DeadNodeStats,
  nowMs: number,
): string[] {
  return [
    ...[oneLine(id), `${oneLine(host)}:${pid}`, `died ${duration(nowMs - diedAtMs)} ago`],
    ...[`held ${howMany(requests, 'request')}`, howMany(pages, 'page')],
  ];
}

/** What the node had in progress, and how each of these requests stands now. */
export function heldLines({ held, requests }: DeadNodeStats, most: number): string[] {
  const lines = held
    .slice(0, most)
    .map(({ id, url, state }) => `    ${oneLine(url ?? id)}${state === null ? '' : `  ${stateNow[state]}`}`);
  const more = requests - lines.length;
  return more > 0 && lines.length > 0 ? [...lines, `    … ${n(more)} more`] : lines;
}

const stateNow: Readonly<Record<RequestState, string>> = {
  pending: 'pending again',
  delayed: 'delayed',
  leased: 'in progress on another node',
  failed: 'failed',
  seen: 'done since',
  unknown: 'not known any more',
};

function table(rows: readonly (readonly string[])[], paint: Paint): string {
  const [header = '', ...lines] = alignColumns(rows);
  return [paint('dim', header), ...lines].join('\n');
}

function timeText(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}
