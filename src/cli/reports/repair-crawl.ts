/** `doctor --repair`: repairs a crawl, and says what came of it and what could not be brought back. */
import { recordedRequest } from '../../crawler/requests/recorded-request.js';
import { howMany, n } from '../../format-amounts.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { Settings } from '../../settings/schema.js';
import type { SpiderFinding } from './doctor-findings.js';

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
  { spider, crawl, settings }: RepairedCrawl,
  after: string,
  force: boolean,
): Promise<SpiderFinding[]> {
  const read = readerOf(settings);
  const { pending, delayed, failed, unreadable, losses } = await frontier.repair(read, { force });
  const left = await frontier.verify(read);
  const found = (check: string, message: string, action: string): SpiderFinding => ({
    ...{ level: 'problem', check, spider, message, action },
  });
  const lost = losses.map((what) => {
    const isSeen = what.includes('fingerprints');
    const action = isSeen
      ? 'such pages are fetched again where they are linked to'
      : `seed what is missing, or "crawlnode reset ${crawl}" and crawl anew`;
    return found('lost', `lost: ${what}`, action);
  });
  const message = `repaired${after}: ${n(pending)} pending, ${n(delayed)} delayed, ${n(failed)} failed`;
  return [
    {
      level: 'info',
      check: 'repaired',
      spider,
      message,
      action: `"crawlnode crawl ${crawl}" goes on with them`,
    },
    ...lost,
    ...(unreadable === 0
      ? []
      : [
          found(
            'bad_records',
            `${howMany(unreadable, 'request')} failed as bad_record: their records cannot be read`,
            `"crawlnode failed ${crawl} list" names them`,
          ),
        ]),
    ...limitBreaches(left).map((breach) =>
      found('invariants', breach, `"crawlnode reset ${crawl} --only queue" and seed again`),
    ),
  ];
}

/** What verify and repair read records by. */
export const readerOf = (settings: Settings) => (_: string, record: string) =>
  recordedRequest(record, settings);

export function limitBreaches(breaches: readonly string[]): string[] {
  const more = breaches.length - MAX_BREACHES;
  return [...breaches.slice(0, MAX_BREACHES), ...(more > 0 ? [`and ${n(more)} more of the kind`] : [])];
}
