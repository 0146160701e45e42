/** Requests by number: 60-byte URLs, made as a page's links are, or at once where only the frontier is measured. */
import { createHash } from 'node:crypto';
import { fingerprint, Request, toFrontierRequest } from '../../dist/internal.js';

const origin = { seed: '0123abcd', private: false };

const hostOf = (n, domains) => `d${String(n % domains).padStart(5, '0')}.example`;

/** 60 characters; a number has the same URL in either spelling, and only one of them is canonical. */
export function urlOf(n, domains, spelling = 'canonical') {
  const page = String(n).padStart(8, '0');
  const query = spelling === 'canonical' ? `a=1&n=${page}` : `n=${page}&a=1`;
  return `http://${hostOf(n, domains)}/section/of/pages/?${query}`;
}

/** As the engine makes one of a link: canonical URL, fingerprint, record. */
export function linkOf(n, domains, spelling) {
  return toFrontierRequest(new Request(urlOf(n, domains, spelling)), {
    callback: null,
    errback: null,
    parentId: null,
    ordinal: 0,
    depth: 2,
    origin,
    isTrustedSeed: false,
    fingerprint,
    domainKey: 'host',
    nowMs: 1_790_000_000_000,
    job: null,
  });
}

/** The same request without canonicalisation. */
export function requestOf(n, domains) {
  const url = urlOf(n, domains);
  const id = createHash('sha1').update(url).digest('hex');
  const record = `{"v":1,"u":"${url}","d":2,"o":"0123abcd","t":1790000000000}`;
  return { id, fingerprint: id, record, domain: hostOf(n, domains), priority: 0, dontFilter: false };
}

/** Push the requests `from` … `to` by number, in batches, with a few on their way at a time. */
export async function pushAll(frontier, from, to, make, batch = 1_000) {
  const onTheWay = new Set();
  for (let at = from; at < to; at += batch) {
    const length = Math.min(batch, to - at);
    const requests = Array.from({ length }, (_, n) => make(at + n));
    const pushed = frontier.push(requests, 'links').finally(() => onTheWay.delete(pushed));
    onTheWay.add(pushed);
    if (onTheWay.size >= 3) await Promise.race(onTheWay);
  }
  await Promise.all(onTheWay);
}
