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
  const { path, name, text } = change;
  const at = cookies.findIndex((cookie) => cookie.path === path && cookie.name === name);
  const expiresAtMs = expiryOf(change, nowMs);
  if (text === null || (expiresAtMs !== null && expiresAtMs <= nowMs)) {
    return at < 0 ? cookies : cookies.toSpliced(at, 1);
  }
  const cookie = { path, name, text, expiresAtMs };
  const before = cookies[at];
  if (before === undefined) return [...cookies, cookie];
  const isSame = before.text === text && before.expiresAtMs === expiresAtMs;
  return isSame ? cookies : cookies.with(at, cookie);
}

/** Without expired cookies. */
export function unexpired(cookies: readonly StoredCookie[], nowMs: number): readonly StoredCookie[] {
  return cookies.filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs);
}

function expiryOf({ expiresInMs, expiresAtMs }: CookieChange, nowMs: number): number | null {
  if (expiresInMs !== undefined) return nowMs + Math.round(expiresInMs);
  return expiresAtMs === undefined ? null : Math.round(expiresAtMs);
}
