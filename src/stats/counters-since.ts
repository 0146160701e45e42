/**
 * What counters have grown by since a reading. One that is smaller than it was began anew, after a reset of the stats.
 * @param before counters at that reading; one that was not there yet was 0
 */
export function countersSince(
  before: Readonly<Record<string, number>>,
  now: Readonly<Record<string, number>>,
): Record<string, number> {
  const grown = Object.entries(now).map(([name, value]) => {
    const began = before[name] ?? 0;
    return [name, value < began ? value : value - began] as const;
  });
  return Object.fromEntries(grown.filter(([, value]) => value > 0));
}
