/** Retry or delete failed requests that a filter selects, page by page, so that memory is constant. */
import type { Frontier } from '../../frontier/frontier.js';
import type { Settings } from '../../settings/schema.js';
import type { FailedFilter } from './failed-filter.js';
import { type FailedPages, failedPages, type ReadFailed, revived } from './failed-requests.js';

/** Matching requests that are on the failed list at the start, the oldest first. */
export async function* matchingFailed(
  frontier: Frontier,
  isWanted: (each: ReadFailed) => boolean,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<ReadFailed[]> {
  let left = limit;
  for await (const page of failedPages(frontier)) {
    const some = page.filter(isWanted).slice(0, left);
    left -= some.length;
    if (some.length > 0) yield some;
    if (left === 0) return;
  }
}

export function matches({ failed: { reason, status }, request }: ReadFailed, filter: FailedFilter): boolean {
  return filter({ reason, status, url: request?.url ?? null });
}

/** Failed → pending, with 0 attempts. @returns also how many stay, as their records were not kept or cannot be read */
export async function retryFailed(
  frontier: Pick<Frontier, 'failed'>,
  pages: FailedPages,
  settings: Settings,
): Promise<{ readonly retried: number; readonly withoutRecord: number }> {
  let retried = 0;
  let withoutRecord = 0;
  for await (const page of pages) {
    const requests = page.flatMap(({ failed, request }) =>
      request === null ? [] : [revived(failed, request, settings)],
    );
    withoutRecord += page.length - requests.length;
    if (requests.length > 0) retried += await frontier.failed.retry(requests);
  }
  return { retried, withoutRecord };
}

/** Failed → removed. @returns how many */
export async function purgeFailed(frontier: Pick<Frontier, 'failed'>, pages: FailedPages): Promise<number> {
  let purged = 0;
  for await (const page of pages) purged += await frontier.failed.purge(page.map(({ failed }) => failed.id));
  return purged;
}
