/** `doctor --repair`: repairs a crawl, and says what came of it and what could not be brought back. */
import { recordedRequest } from '../../crawler/requests/recorded-request.js';
import { howMany, n } from '../../format-amounts.js';
import { findingsAbout } from '../../frontier/findings.js';
import type { Finding, Frontier } from '../../frontier/frontier.js';
import type { Settings } from '../../settings/schema.js';

export interface RepairedCrawl {
  readonly spider: string;
  /** The arguments that select it (`crawlArguments`). */
  readonly crawl: string;
  readonly settings: Settings;
}

/** How many breaches of one crawl are shown. A damaged key breaks every record in the same way. */
const MAX_BREACHES = 20;

/** @param after what the repair was needed for. @throws RefusedError while nodes live, unless `force`. */
export async function repairCrawl(
  frontier: Frontier,
  { crawl, settings }: RepairedCrawl,
  after: string,
  force: boolean,
): Promise<Finding[]> {
  const read = readerOf(settings);
  const { pending, delayed, failed, unreadable, losses } = await frontier.repair(read, { force });
  const left = await frontier.verify(read);
  const { found, info, problem } = findingsAbout('crawl');
  const counts = `${n(pending)} pending, ${n(delayed)} delayed, ${n(failed)} failed`;
  info('repaired', `repaired${after}: ${counts}`, `"crawlnode crawl ${crawl}" goes on with them`);
  for (const what of losses) {
    const refetched = 'such pages are fetched again where they are linked to';
    problem('lost', `lost: ${what}`, what.includes('fingerprints') ? refetched : replaceLost(crawl));
  }
  if (unreadable > 0) {
    const message = `${howMany(unreadable, 'request')} failed as bad_record: their records cannot be read`;
    problem('bad_records', message, `"crawlnode failed ${crawl} list" names them`);
  }
  for (const breach of limitBreaches(left)) {
    problem('invariants', breach, `"crawlnode reset ${crawl} --only queue" and seed again`);
  }
  return found;
}

export const replaceLost = (crawl: string) =>
  `seed what is missing, or "crawlnode reset ${crawl}" and crawl anew`;

/** What verify and repair read records by. */
export const readerOf = (settings: Settings) => (_: string, record: string) =>
  recordedRequest(record, settings);

export function limitBreaches(breaches: readonly string[]): string[] {
  const more = breaches.length - MAX_BREACHES;
  return [...breaches.slice(0, MAX_BREACHES), ...(more > 0 ? [`and ${n(more)} more of the kind`] : [])];
}
