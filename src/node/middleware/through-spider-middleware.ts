/** Passes a response through the modules of SPIDER_MIDDLEWARES to its callback, and the results back through them. */
import { isIgnoreRequest } from '../../errors.js';
import type { Outcome } from '../../frontier/frontier.js';
import type { Response } from '../../http/message/response.js';
import { runCallback } from '../../spider/run-callback.js';
import { add } from '../links/filter-links.js';
import { failed } from '../page/apply-verdict.js';
import type { PageEnding, Work } from '../page/page-work.js';
import { runProjectCode } from '../page/run-project-code.js';
import { dropped } from './dropped-page.js';
import type { SpiderChain } from './spider-chain.js';

/**
 * Call the callback of a page and commit its results. When a module refuses the response, the errback is called instead.
 */
export async function throughSpiderMiddleware(
  work: Work,
  chain: SpiderChain,
  response: Response,
  outcome: Outcome,
): Promise<PageEnding> {
  const { record, deps, counters } = work;
  const { spider, options } = deps;
  const refused = await chain.input(response, spider);
  if (refused === null || (record.errback === null && !isIgnoreRequest(refused.error))) {
    const around = chain.around(response, spider);
    const through = (results: AsyncIterable<unknown>) =>
      around.through(refused === null ? results : throwing(refused.error));
    const limits = { ...options, ...around, through };
    return runProjectCode(work, () => runCallback(spider, record.callback, response, limits), outcome);
  }
  const { status } = response;
  if (!isIgnoreRequest(refused.error)) {
    return failed(work, { reason: 'middleware_error', status, response, message: refused.message });
  }
  add(counters, 'spider_exceptions/IgnoreRequest');
  return dropped(work, refused, response);
}

/** Takes the place of a callback that is not called. */
// biome-ignore lint/correctness/useYield: it has nothing to yield.
async function* throwing(error: Error): AsyncGenerator<never> {
  throw error;
}
