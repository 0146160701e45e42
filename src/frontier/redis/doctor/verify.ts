/**
 * The invariants I1–I8 (DESIGN §5). A crawl of any size is examined in steps of some ms, so that its nodes can go on. What
 * changes meanwhile is no breach: each sentence is about what one step shows, or what was confirmed at one instant.
 */
import { list, text } from '../connection/reply.js';
import type { CrawlAccess } from '../crawl-access.js';
import { steps } from '../read/steps.js';
import { checkPieces } from './dupefilter-pieces.js';
import { checkCookies } from './verify-cookies.js';
import { checkRequests } from './verify-requests.js';

/** The words of keys of which each step is exact. */
const places = ['leases', 'meta', 'domains', 'ready', 'waiting', 'robots-kept'];
/** A domain is compared with its queue, which takes several times as long as any other entry. */
const DOMAINS = 100;

/** @returns one sentence for each breach. */
export async function verifyInvariants(crawl: CrawlAccess): Promise<string[]> {
  const { connection, options, call } = crawl;
  const breaches = await checkRequests(crawl);
  for (const place of places) {
    const count = place === 'domains' ? DOMAINS : undefined;
    for await (const step of steps(call, 'examine', { place }, count))
      breaches.push(...list(step.breaches).map(text));
  }
  breaches.push(...(await connection.patiently((client) => checkPieces(client, options.keys))));
  breaches.push(...(await checkCookies(crawl)));
  // A step may show an entry that another has shown.
  return [...new Set(breaches)];
}
