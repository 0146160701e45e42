/** Lists that may be long: failed requests and bad seeds, a page at a time. */
import type { CrawlName } from '../crawler/project/crawls-in-store.js';
import { matches } from '../crawler/requests/failed-actions.js';
import { type FailedFilter, failedFilter } from '../crawler/requests/failed-filter.js';
import { describeFailed, type FailedPage, type ReadFailed } from '../crawler/requests/failed-requests.js';
import {
  type FailedGroup,
  type FailedSummary,
  hostOf,
  summarizeFailed,
} from '../crawler/requests/failed-summary.js';
import { readRecord } from '../crawler/requests/recorded-request.js';
import type { Frontier } from '../frontier/frontier.js';
import { HttpError } from './answer.js';
import type { CrawlView } from './crawl-views.js';
import type { Reading } from './shared-reads.js';

/** A part of a list, and `after` of the next part: null for the last one. */
interface Page<T> {
  readonly found: readonly T[];
  readonly next: string | null;
}

const FRESH_MS = 4_000;
/** Of a long failed list only the oldest are counted. */
const MOST_SUMMARIZED = 100_000;
const SUMMARY_FRESH_MS = 10_000;
/** With a filter so many are read at once, and all that match are shown, also beyond the limit: a cursor names what was read. */
const CHUNK = 500;
/** Where few match, an answer has few, or none, and a next one. */
const MOST_CHUNKS = 10;

const filterNames: readonly string[] = ['reason', 'status', 'domain'];

/** `reason`, `status` and `domain` as the options of `failed list`; null without any. @throws UsageError */
function filterOf(given: Readonly<Record<string, unknown>>): FailedFilter | null {
  const filters = Object.entries(given).filter(([name, text]) => filterNames.includes(name) && text !== '');
  return filters.length === 0 ? null : failedFilter(Object.fromEntries(filters));
}

/**
 * The failed requests that a change is for: those of a filter, or exactly those of a `group` of the summary, since a filter of
 * its domain selects subdomains too. What is misspelt must not select all.
 * @throws HttpError, UsageError
 */
export function selectionOf(body: Readonly<Record<string, unknown>>): (each: ReadFailed) => boolean {
  const { group, ...filters } = body;
  for (const [name, value] of Object.entries(filters))
    if (!filterNames.includes(name) || typeof value !== 'string' || group !== undefined)
      throw new HttpError(
        400,
        'bad_request',
        'failed requests are selected by reason, status and domain, each a text, or by one group of the summary',
      );
  if (group === undefined) {
    const filter = filterOf(filters);
    return (each) => filter === null || matches(each, filter);
  }
  if (typeof group !== 'object' || group === null)
    throw new HttpError(
      400,
      'bad_request',
      'group has the reason, status and domain of a group of the summary',
    );
  const { reason, status, domain } = group as Partial<FailedGroup>;
  return (each) => {
    const { failed, request } = each;
    return failed.reason === reason && failed.status === status && hostOf(request) === domain;
  };
}

/** Failed requests as `failed list --json` has them, the oldest first. */
export function failedPage(
  crawl: CrawlView,
  query: URLSearchParams,
  limit: number,
): Promise<Reading<Page<FailedPage>>> {
  const after = query.get('after');
  if (after !== null && !/^\d+( [0-9a-f]*)?$/.test(after))
    throw new HttpError(400, 'bad_request', 'after is the `next` of the page before');
  const filter = filterOf(Object.fromEntries(query));
  return crawl.read(`failed ${limit} ${query}`, FRESH_MS, (frontier) =>
    readFailed(frontier, filter, after, limit),
  );
}

async function readFailed(
  frontier: Frontier,
  filter: FailedFilter | null,
  after: string | null,
  limit: number,
): Promise<Page<FailedPage>> {
  const found: FailedPage[] = [];
  let cursor = after;
  for (let chunk = 0; chunk < MOST_CHUNKS && found.length < limit; chunk += 1) {
    const page = await frontier.failed.list(cursor, filter === null ? limit : CHUNK);
    const some = page.requests.map((failed) => ({ failed, request: readRecord(failed.record) }));
    found.push(...some.filter((each) => filter === null || matches(each, filter)).map(describeFailed));
    cursor = page.cursor;
    if (cursor === null) break;
  }
  return { found, next: cursor };
}

/** As `failed summary --json` has it. */
export function failedSummary(crawl: CrawlView): Promise<Reading<CrawlName & FailedSummary>> {
  const { spider, job } = crawl.source;
  return crawl.read('failed summary', SUMMARY_FRESH_MS, async (frontier) => ({
    ...{ spider, job },
    ...(await summarizeFailed(frontier, { crawl: crawl.name, most: MOST_SUMMARIZED })),
  }));
}

/** Bad seeds as `seed --list-bad` has them, the oldest first. */
export function badSeeds(crawl: CrawlView, from: number, limit: number): Promise<Reading<Page<unknown>>> {
  return crawl.read(`seeds ${limit} ${from}`, FRESH_MS, async (frontier) => {
    const entries = await frontier.badSeeds(from, limit);
    return {
      found: entries.map(asJson),
      next: entries.length < limit ? null : String(from + entries.length),
    };
  });
}

/** Others can write to the store: what is not JSON is shown as text. */
function asJson(entry: string): unknown {
  try {
    return JSON.parse(entry);
  } catch {
    return entry;
  }
}
