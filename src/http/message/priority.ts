/** The range of priorities. A separate file, so that importing it does not load the Request. */

export const MIN_PRIORITY = -(2 ** 31);
export const MAX_PRIORITY = 2 ** 31 - 1;

/** The nearest valid priority: an integer within ±2³¹. */
export function priorityInBounds(priority: number): number {
  return Math.max(MIN_PRIORITY, Math.min(MAX_PRIORITY, Math.trunc(priority) || 0));
}
