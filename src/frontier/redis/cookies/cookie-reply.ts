/** Changes of cookies as they travel to `lua/cookies/cookies.lua`, and its reply. */
import {
  type CookieChange,
  type CookieNews,
  type CookieSet,
  decodeCookies,
} from '../../../http/cookies/stored-cookie.js';
import type { Arguments } from '../connection/lua-message.js';
import { json, type Reply } from '../connection/reply.js';

/** A change as the verbs take it. NUL separates jar and domain in the store. */
export function changeArguments({
  jar,
  domain,
  path,
  name,
  text,
  expiresInMs,
  expiresAtMs,
  setBy,
}: CookieChange): Arguments {
  return {
    ...{ jar: jar.replaceAll('\0', ''), domain: domain.replaceAll('\0', ''), path, name },
    text: text ?? undefined,
    forMs: expiresInMs === undefined ? undefined : Math.round(expiresInMs),
    untilMs: expiresAtMs === undefined ? undefined : Math.round(expiresAtMs),
    setBy,
  };
}

interface StoredNews extends Omit<CookieNews, 'sets'> {
  readonly names: readonly string[];
  readonly texts: readonly string[];
}

/** @param reply of `cookies.since`; null where nothing has changed. */
export function readCookieNews(reply: Reply | undefined): CookieNews | null {
  if (reply == null) return null;
  const { names, texts, ...news } = json<StoredNews>(reply);
  return { ...news, sets: Object.values(names).map((name, n) => cookieSet(name, texts[n]!)) };
}

/** @param field of the HASH `cookies`: jar, NUL, domain. */
export function cookieSet(field: string, json: string): CookieSet {
  const at = field.indexOf('\0');
  return { jar: field.slice(0, Math.max(0, at)), domain: field.slice(at + 1), cookies: decodeCookies(json) };
}
