/**
 * The end of the encoded record of a request, from its callback on. The links of a page usually share it, so the last one
 * is cached. A record is then a string of two pieces instead of ten, which makes garbage collection cheaper.
 */
import { detached } from '../../text-memory.js';
import type { RequestRecord } from './request-record.js';

type Ending = Omit<
  RequestRecord,
  'url' | 'method' | 'headers' | 'body' | 'meta' | 'cbKwargs' | 'waitingItem'
>;

let lastEncoded: { readonly ending: Ending; readonly text: string } | undefined;

/** The fields with the keys of `encodeRecord`, without defaults, and the closing brace. */
export function endingOf(record: Ending): string {
  if (lastEncoded !== undefined && isAlike(lastEncoded.ending, record)) return lastEncoded.text;
  const { callback, errback, priority, dontFilter, depth, origin, parent, attempts, redirects } = record;
  const { lenient, cookies, cookieJar, acceptedAtMs } = record;
  let text = '';
  if (callback !== null) text += `,"c":${JSON.stringify(callback)}`;
  if (errback !== null) text += `,"e":${JSON.stringify(errback)}`;
  if (priority !== 0) text += `,"p":${priority}`;
  if (dontFilter) text += ',"n":1';
  if (depth !== 0) text += `,"d":${depth}`;
  if (origin !== null) text += `,"o":"${origin.seed}${origin.private ? '!' : ''}"`;
  if (parent !== null) text += `,"q":"${parent}"`;
  if (attempts !== 0) text += `,"a":${attempts}`;
  if (lenient === true) text += ',"l":1';
  if (redirects !== 0) text += `,"r":${redirects}`;
  if (cookies !== null) text += `,"k":${JSON.stringify(cookies)}`;
  if (cookieJar !== null) text += `,"j":${JSON.stringify(cookieJar)}`;
  if (acceptedAtMs !== 0) text += `,"t":${acceptedAtMs}`;
  text = detached(`${text}}`);
  if (cookies === null && lenient === undefined) {
    const fields = { callback, errback, priority, dontFilter, depth, origin, parent, attempts, redirects };
    lastEncoded = { ending: { ...fields, cookies, cookieJar, acceptedAtMs }, text };
  }
  return text;
}

function isAlike(a: Ending, b: Ending): boolean {
  return (
    a.callback === b.callback &&
    a.errback === b.errback &&
    a.priority === b.priority &&
    a.dontFilter === b.dontFilter &&
    a.depth === b.depth &&
    a.origin?.seed === b.origin?.seed &&
    a.origin?.private === b.origin?.private &&
    a.parent === b.parent &&
    a.attempts === b.attempts &&
    b.lenient === undefined &&
    a.redirects === b.redirects &&
    a.cookies === b.cookies &&
    a.cookieJar === b.cookieJar &&
    a.acceptedAtMs === b.acceptedAtMs
  );
}
