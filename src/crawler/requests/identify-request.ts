/** Turn the text that a user types into a request with the identity that the crawl gives it. */

import { type RefusedError, UsageError } from '../../errors.js';
import type { Frontier, FrontierRequest, Shape } from '../../frontier/frontier.js';
import { otherShape } from '../../frontier/shared-settings/shape-differences.js';
import { Request, type RequestOptions } from '../../http/message/request.js';
import { inRun, linkRules } from '../../node/links/filter-links.js';
import { seedRequest } from '../../node/seeds/seed-requests.js';
import type { Settings } from '../../settings/schema.js';
import { parseSeed } from '../../spider/parse-seed.js';
import { Spider } from '../../spider/spider.js';
import { linkOptionsOf, shapeOf } from '../project/settings-to-options.js';

export interface Identified extends FrontierRequest {
  /** The period of a refresh rule; null for a page that is fetched once per job. */
  readonly period: string | null;
}

/**
 * @param text a URL, a JSON object as in a file of seeds, or the 40 hex digits of a request's id.
 * @throws InvalidRequestError for any other text; UsageError for method or body without a URL; RefusedError for a text other
 *   than an id if nodes of this crawl identify requests in another way.
 */
export type Identify = (text: string, options?: Pick<RequestOptions, 'method' | 'body'>) => Identified;

/**
 * Read the shape and the latest run of the crawl, because identities depend on them.
 * @param spider as the crawl uses it. Without one, REQUEST_FINGERPRINTER determines the identity.
 */
export async function openIdentifier(
  frontier: Pick<Frontier, 'snapshot'>,
  settings: Settings,
  spider: Spider = new Spider(),
): Promise<Identify> {
  const rules = linkRules(spider, linkOptionsOf(settings), settings.DOMAIN_KEY, settings.JOB);
  const snapshot = await frontier.snapshot();
  const refusal = otherIdentity(snapshot.shape, settings);
  const run = rules.refresh === null ? '' : (snapshot.run?.id ?? '');
  const ofRun = inRun(rules, run);
  return (text, given = {}) => {
    const isId = /^[0-9a-f]{40}$/i.test(text);
    const isUrl = !isId && !text.startsWith('{');
    if (!isUrl && Object.keys(given).length > 0) {
      throw new UsageError('--method and --data go with a URL, not with JSON or an id');
    }
    if (isId) return identifiedById(text.toLowerCase());
    if (refusal !== null) throw refusal;
    const request = isUrl ? new Request(text, given) : parseSeed(text);
    // Callbacks are not part of the identity, and without the spider they could not be resolved.
    const withoutCallbacks = request.replace({ callback: null, errback: null });
    const period = rules.refresh?.periodOf(request.url, run, Date.now()) ?? null;
    return { ...seedRequest(withoutCallbacks, 0, spider, ofRun, 0, 'untrusted'), period };
  };
}

function identifiedById(id: string): Identified {
  return { id, fingerprint: id, record: '', domain: '', priority: 0, dontFilter: false, period: null };
}

/**
 * Refuse to identify requests in another way than the crawl does: pages would be fetched twice, or not be found.
 * @returns the refusal (exit 3) of settings whose fingerprints or domains are not those of the crawl; null when they agree.
 * @param there of the crawl in the store; null until a first node has joined
 */
export function otherIdentity(there: Shape | null, settings: Settings): RefusedError | null {
  return there === null ? null : otherShape(identityOf(there), identityOf(shapeOf(settings)));
}

/** The part of a shape that the identity of a request follows from. */
function identityOf({ fingerprinter, domainKey }: Shape): Partial<Shape> {
  return { fingerprinter, domainKey };
}
