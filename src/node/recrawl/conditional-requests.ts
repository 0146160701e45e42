/**
 * Conditional requests on recrawls: pages that may be crawled again (by a `refresh` rule, or where fingerprints expire) are
 * asked for with the ETag and Last-Modified of their last download. A crawl without such pages has no part in this.
 */
import type { DownloadRequest } from '../../downloader/downloader.js';
import { messageOf } from '../../errors.js';
import { expires } from '../../frontier/dupefilter-classes.js';
import type { Dupefilter, Frontier } from '../../frontier/frontier.js';
import type { Request } from '../../http/message/request.js';
import { conditionalHeaders, decodeValidators } from '../../http/validators.js';
import type { Logger } from '../../log.js';
import type { Refresh } from '../../spider/refresh.js';
import { isHandledByRequest } from '../page/judge-download.js';
import { type ComesAgain, Revisit } from './revisit.js';

/** Headers with which a spider makes its own conditional or partial request. */
const OWN_CONDITIONS = /^(if-|range$)/i;
const NOT_MODIFIED = 304;

export interface RecrawlDeps {
  readonly frontier: Pick<Frontier, 'validators'>;
  readonly dupefilter: Dupefilter;
  readonly refresh: Refresh | null;
  /** Of a request, without its period. */
  readonly fingerprint: (request: Request) => string;
  readonly log: Logger;
}

/** The conditional requests of a crawl; null where no page of it comes again. */
export function conditionalRequestsOf(deps: RecrawlDeps): ConditionalRequests | null {
  const { dupefilter, refresh } = deps;
  const allExpire = expires(dupefilter);
  return allExpire || refresh !== null ? new ConditionalRequests(deps, allExpire) : null;
}

/** A page on its way. */
interface Page {
  readonly flight: { revisit: Revisit | null };
  readonly request: Request;
}

export class ConditionalRequests {
  readonly #deps: RecrawlDeps;
  readonly #mayBeAsked: ComesAgain;
  readonly #comesAgain: ComesAgain;
  /** The pages of one lease answer, whose validators are read in one call. */
  #asked: string[] = [];
  #answer: Promise<readonly (string | null)[]> | null = null;

  /** @param allExpire every fingerprint expires. */
  constructor(deps: RecrawlDeps, allExpire: boolean) {
    this.#deps = deps;
    this.#mayBeAsked = ({ url }) => allExpire || deps.refresh?.matches(url) === true;
    this.#comesAgain = (request) => request.dontFilter || this.#mayBeAsked(request);
  }

  /**
   * Read the validators of the last download of a page. This happens before the lateness of its download is checked. Null
   * for a page that is not crawled again, or whose request has conditions of its own.
   */
  ready({ flight, request }: Page): Promise<void> | null {
    if (request.method !== 'GET' || request.body !== null || !this.#mayBeAsked(request)) return null;
    if (isHandledByRequest(NOT_MODIFIED, request) || hasOwnConditions(request)) return null;
    return this.#read(flight, this.#deps.fingerprint(request));
  }

  async #read(flight: Page['flight'], fingerprint: string): Promise<void> {
    const index = this.#asked.push(fingerprint) - 1;
    this.#answer ??= Promise.resolve().then(() => this.#readAsked());
    const text = (await this.#answer)[index] ?? null;
    const stored = text === null ? null : decodeValidators(text);
    flight.revisit = new Revisit(fingerprint, stored, this.#comesAgain);
  }

  /** When the store does not answer, the pages are downloaded as if for the first time. */
  async #readAsked(): Promise<readonly (string | null)[]> {
    const asked = this.#asked;
    this.#asked = [];
    this.#answer = null;
    try {
      return await this.#deps.frontier.validators(asked);
    } catch (error) {
      this.#deps.log.debug({ error: messageOf(error) }, 'the validators of pages could not be read');
      return [];
    }
  }
}

/** The request as it is sent: with the conditions, if there are any. */
export function withConditions(revisit: Revisit, request: DownloadRequest): DownloadRequest {
  // Middleware may have added some.
  if (revisit.stored === null || hasOwnConditions(request)) return request;
  revisit.isConditional = true;
  return { ...request, headers: { ...request.headers, ...conditionalHeaders(revisit.stored) } };
}

/** Whether an answer says that the page has not changed since its last download. */
export function isUnchanged(revisit: Revisit | null, status: number): boolean {
  if (status !== NOT_MODIFIED || revisit?.isConditional !== true) return false;
  revisit.isUnchanged = true;
  return true;
}

function hasOwnConditions({ headers }: Pick<DownloadRequest, 'headers'>): boolean {
  return Object.keys(headers).some((name) => OWN_CONDITIONS.test(name));
}
