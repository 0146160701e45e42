/** Read the failed list page by page, and prepare its requests for a retry. */
import type { FailedRequest, Frontier, FrontierRequest } from '../../frontier/frontier.js';
import { encodeRecord } from '../../http/message/record/request-codec.js';
import type { RequestRecord } from '../../http/message/record/request-record.js';
import { Request } from '../../http/message/request.js';
import type { Settings } from '../../settings/schema.js';
import { identityOf } from '../project/settings-to-options.js';
import { domainOfRecord, readRecord } from './recorded-request.js';

/** A failed request with its decoded record, which is null where it was not stored or cannot be decoded. */
export interface ReadFailed {
  readonly failed: FailedRequest;
  readonly request: RequestRecord | null;
}

/** A page after the other, none of them empty. */
export type FailedPages = AsyncIterable<readonly ReadFailed[]>;

const PAGE = 500;

/**
 * All requests that are on the failed list at the start, a page at a time. Requests that fail again meanwhile are not
 * returned twice, so a retry of all requests ends even while nodes crawl.
 */
export async function* failedPages(frontier: Frontier): AsyncGenerator<ReadFailed[]> {
  let left = (await frontier.snapshot()).failed;
  let cursor: string | null = null;
  while (left > 0) {
    const page: Awaited<ReturnType<Frontier['failed']['list']>> = await frontier.failed.list(
      cursor,
      Math.min(left, PAGE),
    );
    left -= page.requests.length;
    yield page.requests.map((failed) => ({ failed, request: readRecord(failed.record) }));
    if (page.cursor === null) return;
    cursor = page.cursor;
  }
}

/** A failed request, as `failed SPIDER list --json` prints it. */
export interface FailedPage {
  /** What identifies the request, 40 hex digits. */
  readonly id: string;
  /** Null where the record of the request was not kept (beyond FAILED_LIMIT) or cannot be read. */
  readonly url: string | null;
  /** As `url`. */
  readonly method: string | null;
  /** Such as `timeout`; the reasons stand in the help of `failed`. */
  readonly reason: string;
  /** The HTTP status; null without an answer. */
  readonly status: number | null;
  /** Attempts that ended in a retry. */
  readonly attempts: number;
  /** How many nodes died while they processed it. */
  readonly crashes: number;
  /** The node that gave it up. */
  readonly node: string;
  /** ISO 8601, in UTC. */
  readonly failedAt: string;
  /** A sentence; null where the reason says all. */
  readonly detail: string | null;
}

export function describeFailed({ failed, request }: ReadFailed): FailedPage {
  const { id, reason, status, attempts, crashes, node, failedAtMs, detail } = failed;
  return {
    ...{ id, url: request?.url ?? null, method: request?.method ?? null },
    ...{ reason, status, attempts, crashes, node, failedAt: new Date(failedAtMs).toISOString(), detail },
  };
}

/** A failed request with its counts of attempts and redirects reset. */
export function revived(
  { id }: Pick<FailedRequest, 'id'>,
  record: RequestRecord,
  settings: Pick<Settings, 'DOMAIN_KEY' | 'REQUEST_FINGERPRINTER' | 'REQUEST_MODULE'>,
): FrontierRequest {
  return {
    id,
    // Without dontFilter the id of a request is its fingerprint, also where the spider computes its own.
    fingerprint: record.dontFilter ? identityOf(settings)(Request.fromRecord(record)) : id,
    record: encodeRecord({ ...record, attempts: 0, redirects: 0 }),
    domain: domainOfRecord(record, settings),
    priority: record.priority,
    dontFilter: record.dontFilter,
  };
}
