/**
 * How got's requests reach node:http.
 *
 * got describes each request by 35 properties, most of them undefined, and node:http copies them three times; V8 stores
 * objects of that size as hash tables, which are slow to fill. got's `request` option is a function in place of
 * `http.request`: this one passes on the five properties that matter. Certificates and look-ups are options of the agents.
 * docs/internals/tuning.md has the measurements.
 */
import http from 'node:http';
import https from 'node:https';
import type { HandlerFunction, Options, RequestFunction } from 'got';
import type { AgentPair } from './agents.js';

/**
 * A handler of got that gives each request its own `cacheOptions` object, although the cache is not used. Without it got
 * copies a frozen object, and V8 11 (Node 20) makes a new hidden class for every property added to the copy, which is slow.
 */
export const withoutFrozenOptions: HandlerFunction = (options, next) => {
  // got gives no options when it could not parse the URL; the stream then fails with the reason.
  if (options as Options | undefined) options.cacheOptions = {};
  return next(options);
};

/**
 * got's `request` option: opens requests through `agents`.
 * @param isLenient accepts invalid HTTP that browsers accept. got has no option for it.
 * @param proxy is sent the requests for http pages.
 */
export function requestThrough(
  agents: AgentPair,
  isLenient: boolean,
  proxy: ForwardingProxy | null = null,
): RequestFunction {
  return (url, { method, headers }) => {
    const { protocol, hostname, port, pathname, search } = url;
    const isHttps = protocol === 'https:';
    const options: http.RequestOptions = {
      // As Node expects it: an IPv6 address without its brackets.
      host: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
      path: pathname + search,
      headers: headers as http.OutgoingHttpHeaders,
      agent: isHttps ? agents.https : agents.http,
    };
    if (port !== '') options.port = Number(port);
    if (method !== 'GET') options.method = method;
    if (isLenient) options.insecureHTTPParser = true;
    if (proxy !== null && !isHttps) forwardBy(proxy, url, options);
    const request = (isHttps ? https : http).request(options);
    // Otherwise Node silently drops all but the first 1,000 headers. Their total size is bounded anyway.
    request.maxHeadersCount = 0;
    return request;
  };
}

/** An HTTP proxy that is asked for pages by their whole URL (RFC 9112 §3.2.2). */
export interface ForwardingProxy {
  readonly host: string;
  readonly port: number;
  /** The value of `proxy-authorization`; null for none. */
  readonly authorization: string | null;
}

function forwardBy(proxy: ForwardingProxy, url: URL, options: http.RequestOptions): void {
  const own = options.headers as http.OutgoingHttpHeaders;
  options.host = proxy.host;
  options.port = proxy.port;
  options.path = `${url.protocol}//${url.host}${options.path}`;
  options.headers = {
    host: url.host,
    ...own,
    ...(proxy.authorization !== null && { 'proxy-authorization': proxy.authorization }),
  };
}
