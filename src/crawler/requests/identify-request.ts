/** From what a user types to the request it means, under the identity that the crawl gives it. */

import { inRun, linkRules } from '../../engine/page/discovered-requests.js';
import { seedRequest } from '../../engine/seeds/seed-requests.js';
import { UsageError } from '../../errors.js';
import type { Frontier, FrontierRequest } from '../../frontier/frontier.js';
import { Request, type RequestOptions } from '../../http/message/request.js';
import type { Settings } from '../../settings/schema.js';
import { parseSeed } from '../../spider/seed.js';
import { Spider } from '../../spider/spider.js';
import { linkOptionsOf } from '../project/engine-settings.js';

/** Where the spider lets pages be fetched again, requests are those of the crawl's latest run and the time it is. */
export type IdentifyIn = (frontier: Pick<Frontier, 'snapshot'>) => Promise<Identify>;

export interface Identified extends FrontierRequest {
  /** In which period of a refresh rule; null where it is fetched once a job. */
  readonly period: string | null;
}

/**
 * @param text a URL, a JSON object as in a file of seeds, or the 40 hex digits of a request's id.
 * @throws InvalidRequestError when it is none of them; UsageError for method or body of what is no URL.
 */
export type Identify = (text: string, options?: Pick<RequestOptions, 'method' | 'body'>) => Identified;

/** @param spider as the crawl uses it; without one the identity is by REQUEST_FINGERPRINTER. */
export function identifierOf(settings: Settings, spider: Spider = new Spider()): IdentifyIn {
  const rules = linkRules(spider, linkOptionsOf(settings), settings.DOMAIN_KEY, settings.JOB);
  const identifyIn = (run: string): Identify => {
    const ofRun = inRun(rules, run);
    return (text, given = {}) => {
      const isUrl = !/^(\{|[0-9a-f]{40}$)/i.test(text);
      if (!isUrl && Object.keys(given).length > 0) {
        throw new UsageError('--method and --data go with a URL, not with JSON or an id');
      }
      if (/^[0-9a-f]{40}$/i.test(text)) return known(text.toLowerCase());
      const request = isUrl ? new Request(text, given) : parseSeed(text);
      // Callbacks are no part of an identity, and the spider may not be here to have them.
      const bare = request.replace({ callback: null, errback: null });
      const period = rules.refresh?.periodOf(request.url, run, Date.now()) ?? null;
      return { ...seedRequest(bare, 0, spider, ofRun, 0, 'untrusted'), period };
    };
  };
  return async (frontier) =>
    identifyIn(rules.refresh === null ? '' : ((await frontier.snapshot()).run?.id ?? ''));
}

function known(id: string): Identified {
  return { id, fingerprint: id, record: '', domain: '', priority: 0, unfiltered: false, period: null };
}
