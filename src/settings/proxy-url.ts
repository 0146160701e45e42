/** The address of a proxy as users write it. Its errors and its masked form never contain the password. */
import { isIPv6 } from 'node:net';
import { MASK, maskUrls } from './mask-urls.js';

export type ProxyProtocol = 'http' | 'https' | 'socks5';

export interface ProxyAddress {
  /** How the proxy itself is spoken to; `https` is HTTP over TLS. */
  readonly protocol: ProxyProtocol;
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
  /** Decoded; empty for none. */
  readonly username: string;
  readonly password: string;
  /** The whole address in one spelling, credentials included. It identifies the proxy. */
  readonly url: string;
  /** `host:port`, for messages. */
  readonly label: string;
}

export const PROXY_FORMS = 'http://user:password@host:port (or https://, socks5://)';

const protocols: Readonly<Record<string, ProxyProtocol>> = {
  http: 'http',
  https: 'https',
  socks: 'socks5',
  socks5: 'socks5',
  socks5h: 'socks5',
};
const defaultPorts: Readonly<Record<ProxyProtocol, number>> = { http: 80, https: 443, socks5: 1080 };

/** `scheme://user:password@host:port`; the last `@` counts, so that a password may contain one. */
const URL_FORM = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(?:(.*)@)?([^@]*)$/is;
/** `host:port:user:password`, as sellers of proxies list them; it does not end in the `@host:port` of a URL. */
const LIST_FORM =
  /^(?:([a-z][a-z0-9+.-]*):\/\/)?([^:@/]+|\[[^\]@]+\]):(\d+):([^:]+):(?!.*@[^@]+:\d+\/?$)(.+)$/is;

/** `host` or `host:port`. Any other text without an `@` may hold a password, such as `user:password:host:port`. */
const PLAIN_FORM = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?\/?$/i;

/**
 * Read the address of a proxy: a URL, `host:port`, `user:password@host:port` or `host:port:user:password`. Without a scheme
 * it is an HTTP proxy. `socks5` and `socks5h` both leave name look-ups to the proxy.
 * @throws Error with the reason, without any part of the text.
 */
export function parseProxy(text: string): ProxyAddress {
  const { scheme, username, password, place } = partsOf(text.trim());
  const protocol = protocols[scheme.toLowerCase()];
  if (protocol === undefined) throw new Error('its scheme is not http, https or socks5');
  const { host, port } = placeOf(place, protocol);
  if (/[\r\n\0]/.test(username + password)) throw new Error('its user name or password has a line break');
  const label = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const secret = password === '' ? '' : `:${encodeURIComponent(password)}`;
  const before = username === '' && secret === '' ? '' : `${encodeURIComponent(username)}${secret}@`;
  return { protocol, host, port, username, password, url: `${protocol}://${before}${label}`, label };
}

/** The address of a proxy, or a text that should be one, without its credentials. */
export function maskProxy(text: string): string {
  const { scheme, username, password, place } = partsOf(text);
  if (username === '' && password === '') return PLAIN_FORM.test(place) ? maskUrls(text) : MASK;
  return `${scheme}://${MASK}@${place}`;
}

interface Parts {
  readonly scheme: string;
  readonly username: string;
  readonly password: string;
  /** Host and port. */
  readonly place: string;
}

function partsOf(text: string): Parts {
  const listed = LIST_FORM.exec(text);
  if (listed !== null) {
    const [, scheme = 'http', host, port, username = '', password = ''] = listed;
    return { scheme, username, password, place: `${host}:${port}` };
  }
  const [, scheme = 'http', userinfo = '', place = ''] = URL_FORM.exec(text) ?? [];
  const [username, password] = credentialsOf(userinfo);
  return { scheme, username, password, place };
}

function credentialsOf(userinfo: string): [username: string, password: string] {
  const colon = userinfo.indexOf(':');
  if (colon < 0) return [decoded(userinfo), ''];
  return [decoded(userinfo.slice(0, colon)), decoded(userinfo.slice(colon + 1))];
}

function placeOf(text: string, protocol: ProxyProtocol): { host: string; port: number } {
  let parsed: URL;
  try {
    // As http, so that the host is read as that of a page is: names in lower case and ASCII, addresses in one form.
    parsed = new URL(`http://${text}`);
  } catch {
    throw new Error('its host or port is not valid');
  }
  if (parsed.pathname !== '/' || parsed.search !== '' || parsed.hash !== '') {
    throw new Error('there is text after its port');
  }
  const host = parsed.hostname.replace(/^\[|\]$/g, '');
  // URL removes port 80, the default of http, also where it was written.
  const port = Number(parsed.port || (/:0*80\/?$/.test(text) ? 80 : defaultPorts[protocol]));
  if (port === 0) throw new Error('its port is 0');
  return { host, port };
}

/** A percent-encoded text, or a text that only looks like one, decoded where that is possible. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
