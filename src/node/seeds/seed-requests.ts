/**
 * Converts seeds and `startUrls` to requests. They have depth 0, and each is the origin of its descendants. Trusted ones,
 * which the user named, may connect to private addresses and name a proxy; seeds of the store and of sitemaps may not.
 */
import { InvalidRequestError, messageOf, UsageError } from '../../errors.js';
import { expires } from '../../frontier/dupefilter-classes.js';
import { type Dupefilter, MAX_SEED_REQUEST_BYTES, MAX_SEED_REQUESTS } from '../../frontier/frontier.js';
import type { FrontierRequest } from '../../http/message/record/request-record.js';
import { Request } from '../../http/message/request.js';
import { withoutProxy } from '../../http/message/request-meta.js';
import { isPrivateHost } from '../../http/url/private-hosts.js';
import { callbackName } from '../../spider/run-callback.js';
import type { Spider } from '../../spider/spider.js';
import { type LinkRules, toFrontier } from '../links/filter-links.js';

/**
 * Whether the user named a seed, in the spider or on the command line. Seeds in the store are untrusted, since others may
 * add them.
 */
export type Trust = 'trusted' | 'untrusted';

/**
 * A seed as the frontier takes it; `crawlnode seed` and the intake use the same.
 * @param ordinal tells seeds with dontFilter of one job apart.
 */
export function seedRequest(
  request: Request,
  ordinal: number,
  spider: Spider,
  rules: LinkRules,
  nowMs: number,
  trust: Trust,
): FrontierRequest {
  const names = {
    callback: callbackName(spider, request.callback),
    errback: callbackName(spider, request.errback),
  };
  const isTrustedSeed = trust === 'trusted';
  const place = { parentId: null, ordinal, depth: 0, origin: null, isTrustedSeed };
  return toFrontier(request, names, place, rules, nowMs);
}

/** The spider's `startUrls` as requests, in order. @param isWanted leaves some out. */
export function startRequests(
  spider: Spider,
  rules: LinkRules,
  nowMs: number,
  isWanted: (request: Request) => boolean = () => true,
): FrontierRequest[] {
  const requests = spider.startUrls.map((start, n) => startRequest(start, n, spider));
  return requests.flatMap((request, ordinal) =>
    isWanted(request) ? [seedRequest(request, ordinal, spider, rules, nowMs, 'trusted')] : [],
  );
}

/** @throws UsageError that names spider and place. */
function startRequest(start: unknown, n: number, { name }: Spider): Request {
  const place = `startUrls[${n}] of the spider "${name}"`;
  if (start instanceof Request) return start;
  if (typeof start !== 'string') {
    const hint = start === undefined ? '; is an argument (-a NAME=VALUE) missing?' : '';
    throw new UsageError(
      `${place} is ${start === null ? 'null' : typeof start}, not a URL or a Request${hint}`,
    );
  }
  try {
    return new Request(start);
  } catch (error) {
    throw new UsageError(`${place}: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Selects start requests that a later run of the job pushes again; the dupefilter decides about each. They are those of a
 * refresh rule, and all of them when fingerprints expire. Those with dontFilter are excluded: the second node of a run could not
 * tell that the first has pushed them.
 */
export function comesAgain({ refresh }: LinkRules, dupefilter: Dupefilter): (request: Request) => boolean {
  const allExpire = expires(dupefilter);
  return ({ url, dontFilter }) => !dontFilter && (allExpire || refresh?.matches(url) === true);
}

/**
 * The requests of one external seed, by the spider's `makeRequestFromData`: one, several (an iterable, also an async
 * one), or none.
 * @param onProxyIgnored called when an untrusted seed names a proxy, which is removed.
 * @throws whatever the spider throws, and InvalidRequestError when it yields something else than requests.
 */
export async function requestsOfSeed(
  data: string,
  spider: Spider,
  rules: LinkRules,
  nowMs: number,
  trust: Trust,
  onProxyIgnored: () => void = () => {},
): Promise<FrontierRequest[]> {
  const made: unknown = await spider.makeRequestFromData(data);
  const seedOf = (request: Request, ordinal: number) => {
    if (trust === 'untrusted' && !rules.allowPrivateAddresses && isPrivateHost(request.url)) {
      throw privateSeed(request.url);
    }
    const mayName = trust === 'trusted' || rules.proxyFromSeeds || request.meta.proxy === undefined;
    if (mayName) return seedRequest(request, ordinal, spider, rules, nowMs, trust);
    onProxyIgnored();
    const without = request.replace({ meta: withoutProxy(request.meta) });
    return seedRequest(without, ordinal, spider, rules, nowMs, trust);
  };
  if (made instanceof Request) return [seedOf(made, 0)];
  const requests: FrontierRequest[] = [];
  let bytes = 0;
  for await (const request of severalOf(made)) {
    if (!(request instanceof Request)) throw noRequest(request);
    const next = seedOf(request, requests.length);
    bytes += next.record.length;
    if (requests.length === MAX_SEED_REQUESTS || bytes > MAX_SEED_REQUEST_BYTES) throw tooMany();
    requests.push(next);
  }
  return requests;
}

function severalOf(made: unknown): Iterable<unknown> | AsyncIterable<unknown> {
  if (made === null || made === undefined) return [];
  if (typeof made === 'object' && (Symbol.iterator in made || Symbol.asyncIterator in made)) {
    return made as Iterable<unknown> | AsyncIterable<unknown>;
  }
  throw noRequest(made);
}

/** A limit, since all requests of a seed are accepted in one step, which blocks the store. */
function tooMany(): InvalidRequestError {
  return new InvalidRequestError(
    `bad seed: it makes more than ${MAX_SEED_REQUESTS} requests, or more than 64 MB of them; make several seeds of it`,
    { code: 'bad_seed' },
  );
}

/** Refused before it is accepted: a link of a page that may connect there must not find its URL seen. */
function privateSeed(url: string): InvalidRequestError {
  const host = new URL(url).hostname;
  return new InvalidRequestError(
    `bad seed: ${host} is a private address, which only "crawlnode seed SPIDER URL" may name, or any seed with ALLOW_PRIVATE_ADDRESSES: true`,
    { code: 'bad_seed' },
  );
}

function noRequest(made: unknown): InvalidRequestError {
  const what = made === null ? 'null' : typeof made;
  return new InvalidRequestError(`makeRequestFromData gave ${what} where a Request is needed`);
}
