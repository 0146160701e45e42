/** The reasons for which requests are on the failed list. */
import { downloadFailures } from '../../downloader/download-error.js';
import { commandErrorCodes } from '../../error-codes.js';
import { plainReason } from '../../frontier/callback-error-keep.js';

/** The reasons other than download failures, in the order of processing. */
const otherReasons = [
  'robots_unreachable',
  'http_status',
  'max_redirects',
  'callback_error',
  'callback_timeout',
  'invalid_item',
  'too_many_items',
  'unknown_callback',
  'invalid_request',
  'pipeline_error',
  'middleware_error',
  'request_module',
  'files_unwritable',
  'crashed',
  'bad_record',
  'internal_error',
] as const;

/** The reasons that the help of `failed --reason` lists. An aborted download is settled as released, never as failed. */
export const failedReasons: readonly string[] = [
  ...otherReasons,
  ...downloadFailures.filter((reason) => reason !== 'aborted'),
];

/** Whether a request may have failed for this reason. Spider code can also fail with any code of a CrawlnodeError. */
export function isFailedReason(word: string): boolean {
  const reason = plainReason(word);
  return failedReasons.includes(reason) || Object.hasOwn(commandErrorCodes, reason);
}
