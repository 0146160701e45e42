/** Open crawls for commands that only look at them. */
import { openOptions } from '../../crawler/project/open-frontier.js';
import type { ReadCrawl } from '../../crawler/stats/read-stats.js';
import { RefusedError } from '../../errors.js';
import { openFrontier } from '../../frontier/choose-engine.js';
import type { Settings } from '../../settings/schema.js';
import { type Context, note } from '../context.js';
import { crawlArguments } from '../messages/crawl-arguments.js';
import { fillCrawlArguments } from '../messages/error-report.js';
import { crawlLister } from './list-crawls.js';
import type { SettingTexts } from './open-project.js';

/** A store that may evict is refused to nodes. To look at it does no harm, and is needed then most. */
export async function openToRead(spider: string, settings: Settings): Promise<ReadCrawl> {
  const frontier = await openFrontier({ ...openOptions(settings, spider), allowEviction: true });
  return { spider, job: settings.JOB, scaleMax: settings.SCALE_MAX, frontier };
}

/** The crawls of the store and of the spiders of the project; the caller closes their frontiers. */
export async function openAllCrawls(context: Context, texts: SettingTexts): Promise<ReadCrawl[]> {
  const crawls: ReadCrawl[] = [];
  for (const { spider, loaded } of await (await crawlLister(context, texts))()) {
    try {
      crawls.push(await openToRead(spider, loaded.settings));
    } catch (error) {
      noteRefused(context, { spider, job: loaded.settings.JOB }, error);
    }
  }
  return crawls;
}

/** A crawl that refuses access must not hide the others. @throws any other error */
export function noteRefused(
  context: Context,
  crawl: { readonly spider: string; readonly job: string | null },
  error: unknown,
): void {
  if (!(error instanceof RefusedError)) throw error;
  note(context, `${crawl.spider}: ${fillCrawlArguments(error.message, crawlArguments(context, crawl))}`);
}
