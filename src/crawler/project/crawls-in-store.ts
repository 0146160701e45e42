/** List the crawls in a store by the key templates, including crawls of spiders that this project does not have. */
import { RefusedError, UsageError } from '../../errors.js';
import { findCrawls } from '../../frontier/choose-engine.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { Settings } from '../../settings/schema.js';
import { openOptions, withFrontier } from './open-frontier.js';
import { storeOf } from './store-address.js';

export interface CrawlName {
  readonly spider: string;
  readonly job: string | null;
}

/** The name of a crawl in messages: `shop`, or `shop@may` with a job. */
export function crawlName({ spider, job }: CrawlName): string {
  return job === null ? spider : `${spider}@${job}`;
}

/** The crawls found in a store. */
export interface FoundCrawls {
  readonly crawls: readonly CrawlName[];
  /** Whether the search was cut off because the store has too many keys. */
  readonly isCut: boolean;
}

/** Find the crawls in the store of these settings by their requests keys. */
export async function crawlsInStore(settings: Settings): Promise<FoundCrawls> {
  const [before = '', after = ''] = settings.SCHEDULER_QUEUE_KEY.replaceAll('%%', '%').split(
    /%\((?:spider|name)\)s/,
  );
  const { names, isCut } = await findCrawls(storeOf(settings), settings.REDIS_CONNECT_TIMEOUT * 1000, [
    before,
    after,
  ]);
  return { crawls: names.flatMap((name) => crawlOf(name, before, after) ?? []), isCut };
}

/**
 * The crawls in a store beside the unnamed jobs of these spiders: jobs, and crawls of spiders that the project does not have. None where
 * the settings name one job.
 */
export async function furtherCrawls(
  settings: Settings,
  spiders: { has(name: string): boolean },
): Promise<FoundCrawls> {
  if (settings.JOB !== null) return { crawls: [], isCut: false };
  const { crawls, isCut } = await crawlsInStore(settings);
  return { crawls: crawls.filter(({ spider, job }) => job !== null || !spiders.has(spider)), isCut };
}

/** @throws UsageError for a job of which the store has nothing, as after a typo */
export async function refuseMissingJob(frontier: Frontier, crawl: CrawlName): Promise<void> {
  if (crawl.job === null) return;
  const { beganAtMs, startUrls, badSeeds, items, outbox, nodes } = await frontier.snapshot();
  if (beganAtMs === null && startUrls + badSeeds + items + outbox.length + nodes.length === 0)
    throw new UsageError(noSuchJob(crawlName(crawl)));
}

export const noSuchJob = (crawl: string) =>
  `there is no crawl ${crawl} in the store; "crawlnode stats" lists the crawls there`;

/** Whether a store holds anything of a spider, in any job. */
export async function isInStore(settings: Settings, spider: string): Promise<boolean> {
  const { crawls, isCut } = await crawlsInStore(settings);
  if (isCut || crawls.some((crawl) => crawl.spider === spider)) return true;
  const options = { ...openOptions(settings, spider), allowEviction: true };
  try {
    const { beganAtMs, startUrls, badSeeds, items } = await withFrontier(options, (crawl) =>
      crawl.snapshot(),
    );
    return beganAtMs !== null || startUrls + badSeeds + items > 0;
  } catch (error) {
    // Another data format, or a key of another type: the command itself says more.
    if (error instanceof RefusedError) return true;
    throw error;
  }
}

/** Null for a key that does not match the template. */
function crawlOf(name: string, before: string, after: string): CrawlName | null {
  const at = name.lastIndexOf(after);
  if (!name.startsWith(before) || at < before.length) return null;
  // In a Cluster the spider's name is in braces.
  const spider = name.slice(before.length, at).replace(/^\{(.*)\}$/, '$1');
  const rest = name.slice(at + after.length);
  const isName = (text: string) => /^[A-Za-z0-9._-]{1,64}$/.test(text);
  if (!isName(spider)) return null;
  if (rest === '') return { spider, job: null };
  return rest.startsWith('@') && isName(rest.slice(1)) ? { spider, job: rest.slice(1) } : null;
}
