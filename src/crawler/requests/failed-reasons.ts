/** Why requests are on the failed list. */
import { downloadFailures } from '../../downloader/download-error.js';
import { commandErrorCodes } from '../../error-codes.js';

/** The reasons that do not come from the download, in the order of a page's way. */
const otherReasons = [
  'http_status',
  'max_redirects',
  'callback_error',
  'invalid_item',
  'too_many_items',
  'unknown_callback',
  'pipeline_error',
  'crashed',
  'bad_record',
  'internal_error',
] as const;

/** What `failed --reason` takes, for its help. */
export const failedReasons: readonly string[] = [...otherReasons, ...downloadFailures];

/** Whether a request may have failed for this reason: spider code may also fail with any code of our errors. */
export function isFailedReason(word: string): boolean {
  return failedReasons.includes(word) || Object.hasOwn(commandErrorCodes, word);
}
