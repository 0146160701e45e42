/** What an errback is called with. */
import type { Request } from '../http/message/request.js';
import type { Response } from '../http/message/response.js';

/** Why a request brought no page to its callback, after all retries. */
export interface Failure {
  /** A stable word, such as `timeout`, `dns_not_found`, `http_status`. */
  readonly reason: string;
  /** The HTTP status, when an answer came. */
  readonly status: number | null;
  /** The answer, when one came. */
  readonly response: Response | null;
  readonly request: Request;
  /** One sentence for a log. */
  readonly message: string;
}
