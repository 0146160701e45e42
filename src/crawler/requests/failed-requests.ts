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
