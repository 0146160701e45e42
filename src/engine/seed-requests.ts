/** Requests that come from outside or from `startUrls`: depth 0, and each the origin of what descends from it. */
import { InvalidRequestError } from '../errors.js';
import { Request } from '../http/request.js';
import type { FrontierRequest } from '../http/request-record.js';
import { callbackName } from '../spider/run-callback.js';
import type { Spider } from '../spider/spider.js';
import { type LinkRules, toFrontier } from './discovered.js';

/**
 * A seed as the frontier takes it; `crawlnode seed` and the intake use the same.
 * @param ordinal tells unfiltered seeds of one job apart.
 */
export function seedRequest(
  request: Request,
  ordinal: number,
  spider: Spider,
  rules: LinkRules,
  nowMs: number,
): FrontierRequest {
  const names = {
    callback: callbackName(spider, request.callback),
    errback: callbackName(spider, request.errback),
  };
  // Without an origin given it is its own.
  return toFrontier(request, names, { parentId: null, ordinal, depth: 0, origin: null }, rules, nowMs);
}

/** The spider's `startUrls` as requests, in order. */
export function startRequests(spider: Spider, rules: LinkRules, nowMs: number): FrontierRequest[] {
  return spider.startUrls.map((start, ordinal) => {
    const request = typeof start === 'string' ? new Request(start) : start;
    return seedRequest(request, ordinal, spider, rules, nowMs);
  });
}

/**
 * The requests of one external seed, by the spider's `makeRequestFromData`.
 * @throws whatever the spider throws, and InvalidRequestError when it yields something else than requests.
 */
export async function requestsOfSeed(
  data: string,
  spider: Spider,
  rules: LinkRules,
  nowMs: number,
): Promise<FrontierRequest[]> {
  const made: unknown = await spider.makeRequestFromData(data);
  const list = Array.isArray(made) ? made : made === null || made === undefined ? [] : [made];
  return list.map((request: unknown, ordinal) => {
    if (request instanceof Request) return seedRequest(request, ordinal, spider, rules, nowMs);
    throw new InvalidRequestError(`makeRequestFromData returned ${typeof request} instead of a Request`);
  });
}
