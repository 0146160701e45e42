/** Pages by their final status: what the site answered last, after all retries and redirects. Files of items count as pages. */
import type { Outcome } from '../../frontier/frontier.js';

/** Stands for the status of pages that failed without a response. */
export const NO_RESPONSE = 'none';

const PREFIX = 'page/final_status_count/';

/**
 * The counter of the page that a settle ends; null where none ends (a retry, a redirect hop), or where none was downloaded, as
 * with robots.txt.
 */
export function finalStatusCounter(outcome: Outcome): string | null {
  if (outcome.kind !== 'done' && outcome.kind !== 'failed') return null;
  const { kind, status, reason, unstarted } = outcome;
  if (unstarted === true || reason === 'redirect' || reason === 'meta_refresh') return null;
  if (kind === 'done' && status === undefined) return null;
  return `page/final_status_count/${status ?? NO_RESPONSE}`;
}

/** Pages by final status, from the counters. */
export function pagesByStatus(counters: Readonly<Record<string, number>>): Record<string, number> {
  const named = Object.entries(counters).filter(([name]) => name.startsWith(PREFIX));
  return Object.fromEntries(named.map(([name, count]) => [name.slice(PREFIX.length), count]));
}
