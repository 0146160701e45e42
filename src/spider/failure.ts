/** The argument of an errback. */
import type { Request } from '../http/message/request.js';
import type { Response } from '../http/message/response.js';

/** Why a request did not reach its callback, after all retries. */
export interface Failure {
  /** A stable name, such as `timeout`, `dns_not_found`, `http_status`. */
  readonly reason: string;
  /** The HTTP status; null without a response. */
  readonly status: number | null;
  /** Null when the server did not respond. */
  readonly response: Response | null;
  /** The request that failed. */
  readonly request: Request;
  /** A sentence for the log. */
  readonly message: string;
}
