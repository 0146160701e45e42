/**
 * The end of a request's record, from its callback on. All links of a page have the same one, so it is made once: a link
 * on its way to the frontier is then a text of two pieces, not of ten that the collector goes through (on the embedded
 * engine 5 % of a new link and a tenth of a seen one).
 */
import { detached } from '../detached-text.js';
import type { RequestRecord } from './request-record.js';

type Ending = Omit<RequestRecord, 'url' | 'method' | 'headers' | 'body' | 'meta'>;

let last: { readonly of: Ending; readonly text: string } | undefined;

/** Keys as `encodeRecord` has them, defaults left out, and the closing brace. */
export function endingOf(record: Ending): string {
  if (last !== undefined && isAlike(last.of, record)) return last.text;
  const { callback, errback, priority, dontFilter, depth, origin, parent, attempts, redirects } = record;
  const { cookies, cookieJar, acceptedAtMs } = record;
  let text = '';
  if (callback !== null) text += `,"c":${JSON.stringify(callback)}`;
  if (errback !== null) text += `,"e":${JSON.stringify(errback)}`;
  if (priority !== 0) text += `,"p":${priority}`;
  if (dontFilter) text += ',"n":1';
  if (depth !== 0) text += `,"d":${depth}`;
  if (origin !== null) text += `,"o":"${origin.seed}${origin.private ? '!' : ''}"`;
  if (parent !== null) text += `,"q":"${parent}"`;
  if (attempts !== 0) text += `,"a":${attempts}`;
  if (redirects !== 0) text += `,"r":${redirects}`;
  if (cookies !== null) text += `,"k":${JSON.stringify(cookies)}`;
  if (cookieJar !== null) text += `,"j":${JSON.stringify(cookieJar)}`;
  if (acceptedAtMs !== 0) text += `,"t":${acceptedAtMs}`;
  text = detached(`${text}}`);
  if (cookies === null) {
    const alone = { callback, errback, priority, dontFilter, depth, origin, parent, attempts, redirects };
    last = { of: { ...alone, cookies, cookieJar, acceptedAtMs }, text };
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
    a.redirects === b.redirects &&
    a.cookies === b.cookies &&
    a.cookieJar === b.cookieJar &&
    a.acceptedAtMs === b.acceptedAtMs
  );
}
