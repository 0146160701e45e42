/**
 * How got's requests reach node:http: with what it needs, and no more.
 *
 * got describes each request by 35 properties, most of them undefined, and node:http copies them three times. Objects of
 * that size are tables to V8, filled by slow ways of its runtime. got's `request` option is a function in place of
 * `http.request`; this one hands on the five that matter. What concerns connections only (certificates, look-ups) is told to
 * the agents, which node:http has ask for it. What it saves stands in docs/internals/tuning.md.
 */
import http from 'node:http';
import https from 'node:https';
import type { HandlerFunction, Options, RequestFunction } from 'got';
import type { Agents } from './agents.js';

/**
 * A handler of got that gives each request an object of its own for `cacheOptions`, which it does not use. Otherwise got begins
 * its description of the request with a copy of a frozen one, and V8 11 (Node 20) makes a new hidden class for every property
 * that is added to that: 86 µs a request instead of 11.
 */
export const withoutFrozenOptions: HandlerFunction = (options, next) => {
  // got has none where it could not read the URL; the stream then fails with the reason.
  if (options as Options | undefined) options.cacheOptions = {};
  return next(options);
};

/** got's `request` option: opens requests through `agents`. */
export function requestThrough(agents: Agents): RequestFunction {
  return (url, { method, headers }) => {
    const { protocol, hostname, port, pathname, search } = url;
    const isHttps = protocol === 'https:';
    const options: http.RequestOptions = {
      // As Node takes a URL apart: an IPv6 address without its brackets.
      host: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
      path: pathname + search,
      headers: headers as http.OutgoingHttpHeaders,
      agent: isHttps ? agents.https : agents.http,
    };
    if (port !== '') options.port = Number(port);
    if (method !== 'GET') options.method = method;
    const request = (isHttps ? https : http).request(options);
    // Node keeps the first 1,000 headers and drops the rest silently; their size is bounded anyway.
    request.maxHeadersCount = 0;
    return request;
  };
}
