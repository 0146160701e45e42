/** How a page ends that a module dropped with IgnoreRequest: errback, done. */
import type { Response } from '../../http/message/response.js';
import { maskUrls } from '../../settings/mask-urls.js';
import { errback } from '../page/apply-verdict.js';
import type { PageEnding, Work } from '../page/page-work.js';
import { tellDropped } from '../page/run-project-code.js';
import type { Thrown } from './downloader-chain.js';

/** @param response that the module was called with; null without one */
export async function dropped(
  work: Work,
  { by, error }: Thrown,
  response: Response | null,
): Promise<PageEnding> {
  const { record, deps } = work;
  deps.deadEnds.note(`dropped by ${by}`, record.url);
  await tellDropped(work, record.url, `dropped by ${by}`);
  const status = response?.status ?? null;
  const message = maskUrls(`${by} dropped ${record.url}: ${error.message}`);
  const attempts = record.attempts + 1;
  const outcome = { kind: 'done', reason: 'ignored', attempts, noPage: 'other' } as const;
  return errback(
    work,
    { reason: 'ignored', status, response, message },
    status === null ? outcome : { ...outcome, status },
  );
}
