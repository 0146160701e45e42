/**
 * Who may ask the dashboard, decided from the headers of a request alone.
 *
 * - `Host` is an IP literal, localhost or a name that was allowed, so that a site whose name is made to lead here (DNS
 *   rebinding) reads nothing.
 * - With a token, everything but the shell of the page asks for it: as a bearer, or as the cookie that a session gave.
 * - What changes something comes from a page of ours: its `Origin` is this host, and it bears a header that no form can send.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { hostOfHeader, isAddressOrLocalhost } from '../http/url/host-header.js';

export interface AccessRules {
  /** Null where none is asked for. */
  readonly token: string | null;
  /** Part of the name of the cookie: cookies do not know of ports, so dashboards of one host would log each other out. */
  readonly port: number;
  /** Names beside IP literals and localhost, in lower case. */
  readonly hostNames: readonly string[];
}

/** The header of ours. Other sites cannot send it without a CORS preflight, which is never answered. */
export const ACTION_HEADER = 'x-crawlnode-action';

const SESSION_DAYS = 7;
const DAY_MS = 86_400_000;

export function isKnownHost({ hostNames }: AccessRules, { host = '' }: IncomingHttpHeaders): boolean {
  // Browsers keep the final dot of a name.
  const name = hostOfHeader(host)?.replace(/\.$/, '');
  return name !== undefined && (isAddressOrLocalhost(name) || hostNames.includes(name));
}

/** Whether a request that changes something was made by our own page. */
export function isOwnPage({ host = '', origin, [ACTION_HEADER]: action }: IncomingHttpHeaders): boolean {
  if (origin === undefined || action === undefined) return false;
  // A proxy in front may speak TLS, so the scheme is not compared.
  return (
    /^https?:\/\//.test(origin) && origin.replace(/^https?:\/\//, '').toLowerCase() === host.toLowerCase()
  );
}

export function isSignedIn(rules: AccessRules, headers: IncomingHttpHeaders): boolean {
  if (rules.token === null) return true;
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return isSame(bearer, rules.token);
  const cookie = (headers.cookie ?? '').split(/; */).find((pair) => pair.startsWith(`${cookieName(rules)}=`));
  return cookie !== undefined && isSession(rules.token, cookie.slice(cookie.indexOf('=') + 1));
}

/**
 * The cookie of a page that was loaded by HTTPS, which a proxy in front has ended, is sent by HTTPS only: `Secure`. The browser says
 * so in `Origin`, so no header of the proxy is trusted, and a dashboard without TLS still works.
 * @param headers of the request, which is of our own page. @returns the value of `Set-Cookie`; null when the token is another one.
 */
export function openSession(
  rules: AccessRules,
  token: string,
  { origin = '' }: IncomingHttpHeaders,
): string | null {
  if (rules.token === null || !isSame(token, rules.token)) return null;
  const expiresAtMs = Date.now() + SESSION_DAYS * DAY_MS;
  const value = `${expiresAtMs}.${signature(rules.token, expiresAtMs)}`;
  const age = (SESSION_DAYS * DAY_MS) / 1_000;
  const secure = origin.startsWith('https://') ? '; Secure' : '';
  return `${cookieName(rules)}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`;
}

/** A session is nothing that is stored: it ends by its time, or with another token. */
function isSession(token: string, value: string): boolean {
  const [expires = '', given = ''] = value.split('.');
  return Number(expires) > Date.now() && isSame(given, signature(token, Number(expires)));
}

function signature(token: string, expiresAtMs: number): string {
  return createHmac('sha256', token).update(`session until ${expiresAtMs}`).digest('hex');
}

/** Takes the same time wherever they differ, and however long they are. */
function isSame(one: string, other: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(one), hash(other));
}

function cookieName({ port }: AccessRules): string {
  return `crawlnode_${port}`;
}
