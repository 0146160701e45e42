/** From what a user types to the request it means, under the identity that the crawl gives it. */
import { linkRules } from '../engine/discovered.js';
import { seedRequest } from '../engine/seed-requests.js';
import { UsageError } from '../errors.js';
import type { FrontierRequest } from '../frontier/frontier.js';
import { Request, type RequestOptions } from '../http/request.js';
import type { LoadedSettings } from '../settings/load.js';
import { parseSeed } from '../spider/seed.js';
import { Spider } from '../spider/spider.js';
import { type Context, note } from './context.js';
import { linkOptionsOf } from './engine-settings.js';
import { textsOf } from './job-option.js';
import { loadSpiderOrSettings } from './open-project.js';

export interface Identifier {
  readonly loaded: LoadedSettings;
  /**
   * @param text a URL, a JSON object as in a file of seeds, or the 40 hex digits of a request's id.
   * @throws InvalidRequestError when it is none of them; UsageError for method or body of what is no URL.
   */
  identify(text: string, options?: Pick<RequestOptions, 'method' | 'body'>): FrontierRequest;
}

/** Where the module of the spider is not on this machine, the identity is by REQUEST_FINGERPRINTER, and this is said. */
export async function identifier(
  context: Context,
  spider: string,
  options: Readonly<Record<string, unknown>>,
): Promise<Identifier> {
  const { loaded, create, missing } = await loadSpiderOrSettings(context, spider, textsOf(options));
  if (missing !== null) note(context, missing);
  const { settings } = loaded;
  const instance = create === null ? new Spider() : await create();
  const rules = linkRules(instance, linkOptionsOf(settings), settings.DOMAIN_KEY, settings.JOB);
  return {
    loaded,
    identify(text, given = {}) {
      const isUrl = !/^(\{|[0-9a-f]{40}$)/i.test(text);
      if (!isUrl && Object.keys(given).length > 0) {
        throw new UsageError('--method and --data go with a URL, not with JSON or an id');
      }
      if (/^[0-9a-f]{40}$/i.test(text)) return known(text.toLowerCase());
      const request = isUrl ? new Request(text, given) : parseSeed(text);
      // Callbacks are no part of an identity, and the spider may not be here to have them.
      return seedRequest(request.replace({ callback: null, errback: null }), 0, instance, rules, 0);
    },
  };
}

function known(id: string): FrontierRequest {
  return { id, fingerprint: id, record: '', domain: '', priority: 0, unfiltered: false };
}
