/** From what a user types to the request it means, under the identity that the crawl gives it. */

import type { Context } from '../../cli/context.js';
import { textsOf } from '../../cli/options/job-option.js';
import { loadSpiderOrSettings } from '../../cli/project/open-project.js';
import { inRun, linkRules } from '../../engine/page/discovered-requests.js';
import { seedRequest } from '../../engine/seeds/seed-requests.js';
import { UsageError } from '../../errors.js';
import type { Frontier, FrontierRequest } from '../../frontier/frontier.js';
import { Request, type RequestOptions } from '../../http/message/request.js';
import type { LoadedSettings } from '../../settings/load.js';
import { parseSeed } from '../../spider/seed.js';
import { Spider } from '../../spider/spider.js';
import { linkOptionsOf } from '../project/engine-settings.js';

export interface Identifier {
  readonly loaded: LoadedSettings;
  /** Where the spider lets pages be fetched again, requests are those of the crawl's latest run and the time it is. */
  identifyIn(frontier: Pick<Frontier, 'snapshot'>): Promise<Identify>;
}

export interface Identified extends FrontierRequest {
  /** In which period of a refresh rule; null where it is fetched once a job. */
  readonly period: string | null;
}

/**
 * @param text a URL, a JSON object as in a file of seeds, or the 40 hex digits of a request's id.
 * @throws InvalidRequestError when it is none of them; UsageError for method or body of what is no URL.
 */
export type Identify = (text: string, options?: Pick<RequestOptions, 'method' | 'body'>) => Identified;

/** Where the module of the spider is not on this machine, the identity is by REQUEST_FINGERPRINTER, and this is said. */
export async function identifier(
  context: Context,
  spider: string,
  options: Readonly<Record<string, unknown>>,
): Promise<Identifier> {
  const { loaded, create } = await loadSpiderOrSettings(context, spider, textsOf(options));
  const { settings } = loaded;
  const instance = create === null ? new Spider() : await create();
  const rules = linkRules(instance, linkOptionsOf(settings), settings.DOMAIN_KEY, settings.JOB);
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
      return { ...seedRequest(bare, 0, instance, ofRun, 0), period };
    };
  };
  return {
    loaded,
    identifyIn: async (frontier) =>
      identifyIn(rules.refresh === null ? '' : ((await frontier.snapshot()).run?.id ?? '')),
  };
}

function known(id: string): Identified {
  return { id, fingerprint: id, record: '', domain: '', priority: 0, unfiltered: false, period: null };
}
