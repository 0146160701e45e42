/** Whether a request may connect to private addresses, which it inherits from the page that led to it. */
import type { Origin } from './record/request-record.js';

/**
 * The origin of the links and redirects of a page. They may connect to private addresses only if the page was allowed to
 * and came from a private address. So a crawl of an intranet follows links between its hosts. A public page never leads
 * to a private address, even if a private page or a trusted seed led to it.
 */
export function inheritedOrigin(origin: Origin | null, fromPrivateAddress: boolean): Origin | null {
  if (origin === null || !origin.private || fromPrivateAddress) return origin;
  return { seed: origin.seed, private: false };
}
