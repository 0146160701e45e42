/** URLs of endless sites, such as a calendar or a relative link that repeats its folder: `/a/b/a/b/a/b`. */

/** Limits on the path of a URL; 0 is no limit. */
export interface TrapLimits {
  /** Segments. */
  readonly pathDepth: number;
  /** How often one segment may occur. */
  readonly repeatedSegments: number;
}

/** Which limit a URL exceeds; null for none. Empty segments do not count. */
export function trapOf(url: string, { pathDepth, repeatedSegments }: TrapLimits): keyof TrapLimits | null {
  const path = /^[^:]+:\/\/[^/?#]*([^?#]*)/.exec(url)?.[1] ?? '';
  const segments = path.split('/').filter((segment) => segment !== '');
  if (pathDepth > 0 && segments.length > pathDepth) return 'pathDepth';
  if (repeatedSegments === 0) return null;
  const counts = new Map<string, number>();
  for (const segment of segments) {
    const count = (counts.get(segment) ?? 0) + 1;
    if (count > repeatedSegments) return 'repeatedSegments';
    counts.set(segment, count);
  }
  return null;
}
