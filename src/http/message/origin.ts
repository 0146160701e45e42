/** Who may connect to private addresses, as requests inherit it from what they descend from. */
import type { Origin } from './request-record.js';

/**
 * The origin of what a page leads to: its links and redirects. They may connect to private addresses only if the page
 * might and came from one. So a crawl of an intranet follows links between its hosts, whatever they are called, and a
 * public page leads to none, even where a private page or a trusted seed led to it.
 */
export function inheritedOrigin(origin: Origin | null, fromPrivateAddress: boolean): Origin | null {
  if (origin === null || !origin.private || fromPrivateAddress) return origin;
  return { seed: origin.seed, private: false };
}
