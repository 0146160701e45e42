/** One change of a set of cookies. */
import type { CookieChange, StoredCookie } from '../../../http/cookies/stored-cookie.js';

/**
 * The cookies after a change. A cookie that is replaced keeps its place, since cookies are sent in the order of creation.
 * @returns the same list when nothing changes.
 */
export function mergeCookie(
  cookies: readonly StoredCookie[],
  change: CookieChange,
  nowMs: number,
): readonly StoredCookie[] {
  const { path, name, text, setBy } = change;
  const at = cookies.findIndex((cookie) => cookie.path === path && cookie.name === name);
  const expiresAtMs = expiryOf(change, nowMs);
  if (text === null || (expiresAtMs !== null && expiresAtMs <= nowMs)) {
    return at < 0 ? cookies : cookies.toSpliced(at, 1);
  }
  const cookie = { path, name, text, expiresAtMs, ...(setBy !== undefined && { setBy }) };
  const before = cookies[at];
  if (before === undefined) return [...cookies, cookie];
  const isSame = before.text === text && before.expiresAtMs === expiresAtMs;
  return isSame ? cookies : cookies.with(at, cookie);
}

/**
 * At most `most` cookies. The oldest one of the host that has set the most is left out first, so that one subdomain cannot
 * push out the cookies of another.
 */
export function withinShares(cookies: readonly StoredCookie[], most: number): readonly StoredCookie[] {
  const left = [...cookies];
  const counts = new Map<string | undefined, number>();
  for (const { setBy } of left) counts.set(setBy, (counts.get(setBy) ?? 0) + 1);
  while (left.length > most) {
    const largest = Math.max(...counts.values());
    const at = left.findIndex(({ setBy }) => counts.get(setBy) === largest);
    counts.set(left[at]!.setBy, largest - 1);
    left.splice(at, 1);
  }
  return left;
}

/** Without expired cookies. */
export function unexpired(cookies: readonly StoredCookie[], nowMs: number): readonly StoredCookie[] {
  return cookies.filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs);
}

function expiryOf({ expiresInMs, expiresAtMs }: CookieChange, nowMs: number): number | null {
  if (expiresInMs !== undefined) return nowMs + Math.round(expiresInMs);
  return expiresAtMs === undefined ? null : Math.round(expiresAtMs);
}
