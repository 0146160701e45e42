/** What failed, grouped by reason, status and site: how often, an example, and what to do about it. */
import type { FailedRequest, Frontier } from '../../frontier/frontier.js';
import type { RequestRecord } from '../../http/message/record/request-record.js';
import { parseUrl } from '../../http/url/parse-url.js';
import { shellWord } from '../project/shell-word.js';
import { isFailedReason } from './failed-reasons.js';
import { failedPages } from './failed-requests.js';
import { type RetryAdvice, retryAdvice } from './retry-advice.js';

/** Failed requests with the same reason, status and site. */
export interface FailedGroup {
  readonly reason: string;
  /** The HTTP status; null without an answer. */
  readonly status: number | null;
  /** Host and port of the URLs. Null where records were not kept (beyond FAILED_LIMIT), and of what is beyond `MAX_GROUPS`. */
  readonly domain: string | null;
  readonly count: number;
  /** Of the request that failed last, as far as its record was kept. */
  readonly exampleUrl: string | null;
  readonly exampleId: string;
  readonly detail: string | null;
  /** ISO 8601, in UTC. */
  readonly lastFailedAt: string;
  /** Whether a retry is worth it: `after_fix` says that something must change before. */
  readonly retry: RetryAdvice['retry'];
  /** What to do, in a sentence. */
  readonly advice: string;
  /** What retries them, to be typed; null where nothing can be retried. */
  readonly command: string | null;
}

export interface FailedSummary {
  /** All failed requests of the crawl. */
  readonly total: number;
  /** How many of them were read, the oldest ones. */
  readonly read: number;
  /** The largest first. */
  readonly groups: readonly FailedGroup[];
}

export interface SummaryOptions {
  /** The arguments that select the crawl, as a user types them: `shop --job night`. */
  readonly crawl: string;
  /** Requests that are read at most. */
  readonly most?: number;
  /** Which of them; by default all. `url` is null where the record was not kept. */
  readonly isWanted?: (request: Pick<FailedRequest, 'reason' | 'status'> & { url: string | null }) => boolean;
}

/** Groups that are kept apart; a site may fail in any number of ways. */
const MAX_GROUPS = 1_000;

interface Found {
  readonly reason: string;
  readonly status: number | null;
  readonly domain: string | null;
  count: number;
  last: Pick<FailedRequest, 'id' | 'failedAtMs' | 'detail'>;
  url: string | null;
}

export async function summarizeFailed(
  frontier: Frontier,
  { crawl, most = Number.POSITIVE_INFINITY, isWanted = () => true }: SummaryOptions,
): Promise<FailedSummary> {
  const groups = new Map<string, Found>();
  let read = 0;
  const total = (await frontier.snapshot()).failed;
  for await (const page of failedPages(frontier)) {
    for (const { failed, request } of page) {
      read += 1;
      const { reason, status } = failed;
      if (isWanted({ reason, status, url: request?.url ?? null })) add(groups, failed, request);
    }
    if (read >= most) break;
  }
  const found = [...groups.values()].sort((a, b) => b.count - a.count);
  return { total, read, groups: found.map((group) => described(group, crawl)) };
}

function add(groups: Map<string, Found>, failed: FailedRequest, request: RequestRecord | null): void {
  const { reason, status, id, failedAtMs, detail } = failed;
  const key = (domain: string | null) => JSON.stringify([reason, status, domain]);
  const host = hostOf(request);
  const domain = groups.has(key(host)) || groups.size < MAX_GROUPS ? host : null;
  const group = groups.get(key(domain)) ?? { reason, status, domain, count: 0, last: failed, url: null };
  group.count += 1;
  group.last = { id, failedAtMs, detail };
  group.url = request?.url ?? group.url;
  groups.set(key(domain), group);
}

/** The `domain` of the group that a failed request is in. */
export function hostOf(request: RequestRecord | null): string | null {
  return request === null ? null : (parseUrl(request.url)?.host ?? null);
}

function described(group: Found, crawl: string): FailedGroup {
  const { reason, status, domain, count, last, url } = group;
  const { retry, advice } = domain === null && url === null ? WITHOUT_RECORD : retryAdvice(reason, status);
  return {
    ...{ reason, status, domain, count, exampleUrl: url, exampleId: last.id, detail: last.detail },
    ...{ lastFailedAt: new Date(last.failedAtMs).toISOString(), retry, advice },
    command: retry === 'no' ? null : commandFor(group, crawl),
  };
}

const WITHOUT_RECORD: RetryAdvice = {
  retry: 'no',
  advice: 'their records were not kept, beyond FAILED_LIMIT: seed their pages again',
};

/** `failed retry` knows only the reasons that it lists, and a group of several sites has no filter of its own. */
function commandFor({ reason, status, domain }: Found, crawl: string): string | null {
  if (domain === null || !isFailedReason(reason)) return null;
  const filters = ['--reason', reason, ...(status === null ? [] : ['--status', String(status)])];
  return ['crawlnode failed', crawl, 'retry', ...[...filters, '--domain', domain].map(shellWord)].join(' ');
}
