/** A request that a middleware returned: the same request again is a retry, any other one counts as a redirect. */
import { InvalidRequestError } from '../../errors.js';
import { noEffects } from '../../frontier/frontier.js';
import type { Request } from '../../http/message/request.js';
import { maskUrls } from '../../settings/mask-urls.js';
import { callbackName } from '../../spider/callbacks.js';
import { add, type Place, refusalOf, toFrontier } from '../links/filter-links.js';
import { failed } from '../page/apply-verdict.js';
import type { PageEnding, Work } from '../page/page-work.js';
import { planRetry } from '../page/retry-plan.js';

/** @param by the module, for messages. @param status of the response that it was returned for; null without one */
export async function takeReturned(
  work: Work,
  returned: Request,
  by: string,
  status: number | null,
): Promise<PageEnding> {
  const { fingerprint } = work.deps.rules;
  try {
    const isSame = fingerprint(returned) === fingerprint(work.request);
    return await (isSame ? again(work, returned, by, status) : hop(work, returned, by, status));
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    const message = maskUrls(`${by} returned a request that cannot be crawled: ${error.message}`);
    return failed(work, { reason: 'middleware_error', status, response: null, message });
  }
}

/** The changed request replaces the stored one. RETRY_ENABLED does not matter, since the module asked for the retry. */
async function again(work: Work, returned: Request, by: string, status: number | null): Promise<PageEnding> {
  const { record, counters, deps } = work;
  const { retry } = deps.options;
  const asked = { attempts: record.attempts, priority: returned.priority };
  const meta = { ...returned.meta, dont_retry: false };
  const plan = planRetry({ ...asked, meta }, null, { ...retry, enabled: true });
  if (plan === null) {
    add(counters, 'retry/max_reached');
    const message = maskUrls(
      `${by} returned the request of ${record.url} once more, and its ${record.attempts} retries are used up (RETRY_TIMES); to change a request, set its headers or meta and return nothing`,
    );
    return failed(work, { reason: 'middleware_error', status, response: null, message });
  }
  add(counters, 'retry/count');
  add(counters, 'retry/reason_count/middleware');
  const attempts = record.attempts + 1;
  const request = returned.replace({ attempts, priority: plan.priority, redirects: record.redirects });
  const stored = store(work, request, record.parent, record.acceptedAtMs);
  const outcome = { kind: 'retry', reason: 'middleware', attempts, ...plan, record: stored.record } as const;
  return {
    outcome: status === null ? outcome : { ...outcome, status },
    effects: { ...noEffects, stats: counters },
  };
}

/** The dupefilter judges the other request like any discovered one; this one is done. */
async function hop(work: Work, returned: Request, by: string, status: number | null): Promise<PageEnding> {
  const { record, counters, deps, flight } = work;
  const redirects = record.redirects + 1;
  if (redirects > deps.options.maxHops) {
    add(counters, 'redirect/max_times_reached');
    const message = maskUrls(
      `${by} returned another request for ${record.url}, after ${record.redirects} hops (REDIRECT_MAX_TIMES)`,
    );
    return failed(work, { reason: 'max_redirects', status, response: null, message });
  }
  const attempts = record.attempts + 1;
  const outcome = { kind: 'done', reason: 'middleware', attempts, noPage: 'other' } as const;
  const done = {
    outcome: status === null ? outcome : { ...outcome, status },
    effects: { ...noEffects, stats: counters },
  };
  const refusal = refusalOf(returned, record.depth, deps.rules);
  if (refusal !== null && record.waitingItem === null) {
    add(counters, refusal.counter);
    deps.deadEnds.note(`request of ${by} to a URL that the crawl does not follow`, record.url);
    return done;
  }
  add(counters, 'redirect/count');
  const request = returned.replace({ attempts: 0, redirects });
  const requests = [store(work, request, flight.lease.id, Date.now())];
  return { ...done, effects: { ...done.effects, requests } };
}

function store({ record, deps }: Work, request: Request, parentId: string | null, nowMs: number) {
  const callback = callbackName(deps.spider, request.callback);
  const names = {
    callback: callback === 'parse' ? null : callback,
    errback: callbackName(deps.spider, request.errback),
  };
  const { depth, origin, waitingItem } = record;
  const place: Place = { parentId, ordinal: 0, depth, origin, isTrustedSeed: false, waitingItem };
  // The dupefilter must not reject a request that carries an item.
  const stored = waitingItem === null ? request : request.replace({ dontFilter: true });
  return toFrontier(stored, names, place, deps.rules, nowMs);
}
