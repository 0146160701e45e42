/** The crawls that commands without a spider show: those in the store, and those of the spiders of the project. */
import { type CrawlName, crawlName, furtherCrawls } from '../../crawler/project/crawls-in-store.js';
import type { LoadedSpider } from '../../crawler/project/load-spider.js';
import type { LoadedSettings } from '../../settings/sources/load-settings.js';
import { type Context, note } from '../context.js';
import { discover, loadProject, loadSpider, type SettingTexts } from './open-project.js';

/** A crawl, and how its spider runs. */
export interface ListedCrawl extends CrawlName {
  readonly loaded: LoadedSettings;
  /** Null where the project does not have the spider. */
  readonly create: LoadedSpider['create'] | null;
}

/**
 * Load the project. @returns a function that looks into the store, each time anew, and gives the crawls in order. What it has
 * loaded of a crawl it does not load again.
 */
export async function crawlLister(
  context: Context,
  texts: SettingTexts,
): Promise<() => Promise<ListedCrawl[]>> {
  const project = await loadProject(context, texts);
  const { settings } = project;
  const { spiders } = await discover(context, settings);
  const own = [...spiders.keys()].map((name) => ({ spider: name, job: settings.JOB }));
  const listed = new Map<string, ListedCrawl>();
  let isCutNoted = false;

  const load = async ({ spider, job }: CrawlName): Promise<ListedCrawl> => {
    if (!spiders.has(spider)) {
      const loaded = { ...project, settings: { ...settings, JOB: job } };
      return { spider, job, loaded, create: null };
    }
    const { loaded, create } = await loadSpider(
      context,
      spider,
      job === null ? texts : { ...texts, JOB: job },
    );
    // Its customSettings may name a job.
    return { spider, job: loaded.settings.JOB, loaded, create };
  };

  return async () => {
    const found = await furtherCrawls(settings, spiders);
    if (found.isCut && !isCutNoted)
      note(context, 'this Redis has very many keys, and not all were read: there may be more crawls');
    isCutNoted = found.isCut;
    const names: CrawlName[] = [...own, ...found.crawls];
    const crawls: ListedCrawl[] = [];
    for (const name of names.sort(byName)) {
      const crawl = listed.get(crawlName(name)) ?? (await load(name));
      listed.set(crawlName(name), crawl);
      crawls.push(crawl);
    }
    return crawls;
  };
}

/** By spider, its unnamed job first. */
function byName(a: CrawlName, b: CrawlName): number {
  if (a.spider !== b.spider) return a.spider < b.spider ? -1 : 1;
  return (a.job ?? '') < (b.job ?? '') ? -1 : 1;
}
