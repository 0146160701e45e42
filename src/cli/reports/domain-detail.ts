/** What `inspect SPIDER --domain HOST` prints. */
import type { InspectedDomainReport } from '../../crawler/stats/inspect-domain.js';
import { byteSize, duration, howMany, n } from '../../format-amounts.js';
import type { DomainRobots } from '../../frontier/frontier.js';
import { oneLine } from '../terminal/printable.js';
import { counted, delayText } from './telemetry-tables.js';

export function domainDetail(domain: InspectedDomainReport): string[] {
  const { pending, leased, limit, dueInMs, robots, pages, bytes, statuses, failures, retries } = domain;
  const { latencyMs, p95Ms, failed, advice } = domain;
  const rows: [string, readonly string[]][] = [
    ['domain', [domain.domain ?? '']],
    ['pending', [n(pending)]],
    ['in progress', [`${n(leased)} of at most ${n(limit)}`]],
    ['delay', [delayText(domain)]],
    ['next due', [dueInMs === 0 ? 'now' : `in ${duration(dueInMs)}`]],
    ['robots.txt', robots.length === 0 ? ['not fetched'] : robots.map(robotsText)],
    ['pages', [`${howMany(pages, 'page')}, ${byteSize(bytes)}`]],
    ['latency', [latencyMs === null ? '-' : `mean ${n(latencyMs)} ms, p95 ≤ ${n(p95Ms ?? 0)} ms`]],
    ['answers', [counted(statuses)]],
    ['failed', [counted(failures)]],
    ['retried', [counted(retries)]],
    [
      'failed list',
      failed.map(({ count, reason, status, exampleUrl, lastFailedAt }) =>
        [
          `${n(count)} × ${reason}${status === null ? '' : ` ${status}`}`,
          `last ${lastFailedAt}`,
          exampleUrl ?? '',
        ].join('  '),
      ),
    ],
    ['what to do', advice.length === 0 ? ['nothing stands out'] : advice],
  ];
  return rows.flatMap(([name, lines]) =>
    lines.map((line, at) => `${(at === 0 ? name : '').padEnd(12)}  ${oneLine(line)}`.trimEnd()),
  );
}

function robotsText({ origin, state, reason, delayMs, forMs }: DomainRobots): string {
  const until = duration(forMs);
  switch (state) {
    case 'claimed':
      return `${origin}: a node fetches it now`;
    case 'rules':
      return `${origin}: known for ${until}${delayMs === 0 ? '' : `, with a Crawl-delay of ${n(delayMs)} ms`}`;
    case 'waiting':
      return `${origin}: not known, tried again in ${until}`;
    case 'unreachable':
      return `${origin}: cannot be fetched (${reason ?? 'unknown'}), tried again in ${until}`;
  }
}
