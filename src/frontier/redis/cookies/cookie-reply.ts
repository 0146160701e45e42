/** Changes of cookies as they travel to `lua/cookies/cookies.lua`, and its reply. */
import {
  type CookieChange,
  type CookieNews,
  type CookieSet,
  decodeCookies,
} from '../../../http/cookies/stored-cookie.js';
import type { Arguments } from '../connection/lua-message.js';
import { int, list, type Reply, text } from '../connection/reply.js';

/** A change as the verbs take it. NUL separates jar and domain in the store. */
export function changeArguments({
  jar,
  domain,
  path,
  name,
  text,
  expiresInMs,
  expiresAtMs,
}: CookieChange): Arguments {
  return {
    ...{ jar: jar.replaceAll('\0', ''), domain: domain.replaceAll('\0', ''), path, name },
    text: text ?? undefined,
    forMs: expiresInMs === undefined ? undefined : Math.round(expiresInMs),
    untilMs: expiresAtMs === undefined ? undefined : Math.round(expiresAtMs),
  };
}

/** @param reply of `cookies.since`; null where nothing has changed. */
export function readCookieNews(reply: Reply | undefined): CookieNews | null {
  const [version, latest, isAnew, nowMs, names, texts] = list(reply);
  if (version === undefined) return null;
  return {
    version: int(version),
    latest: int(latest),
    isAnew: int(isAnew) === 1,
    nowMs: int(nowMs),
    sets: list(names).map((name, n) => cookieSet(text(name), text(list(texts)[n]))),
  };
}

/** @param field of the HASH `cookies`: jar, NUL, domain. */
export function cookieSet(field: string, json: string): CookieSet {
  const at = field.indexOf('\0');
  return { jar: field.slice(0, Math.max(0, at)), domain: field.slice(at + 1), cookies: decodeCookies(json) };
}
