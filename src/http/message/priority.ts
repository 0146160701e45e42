/** The range of a priority, in a file of its own: whoever needs the numbers does not load the Request. */

export const MIN_PRIORITY = -(2 ** 31);
export const MAX_PRIORITY = 2 ** 31 - 1;

/** A priority that can be ordered: an integer within ±2³¹. */
export function priorityInBounds(priority: number): number {
  return Math.max(MIN_PRIORITY, Math.min(MAX_PRIORITY, Math.trunc(priority) || 0));
}
