/**
 * The failed list marks a page whose items and links were committed although its callback threw (CALLBACK_ERROR `keep`) by
 * its reason. To retry it would give them again.
 */
const ENDING = '_kept';

/** `callback_error` → `callback_error_kept`. */
export function keptReason(reason: string): string {
  return `${reason}${ENDING}`;
}

/** Whether a failed request has committed what it gave. */
export function isKept(reason: string): boolean {
  return reason.endsWith(ENDING);
}

/** The reason without the mark. */
export function plainReason(reason: string): string {
  return isKept(reason) ? reason.slice(0, -ENDING.length) : reason;
}
