/** `stats()`: a crawl as its store has it. */
import { SpiderLoadError } from '../../errors.js';
import { isInStore } from '../project/crawls-in-store.js';
import { loadProject } from '../project/load-spider.js';
import { openOptions, withFrontier } from '../project/open-frontier.js';
import type { CrawlStats } from '../stats/crawl-stats.js';
import { StatsReader } from '../stats/read-stats.js';
import { checkCall } from './check-call.js';
import { programSource } from './environment.js';
import { loadProgramSpider } from './load-program-spider.js';
import type { ProgramOptions, SpiderChoice } from './options.js';

export async function stats(choice: SpiderChoice, options: ProgramOptions): Promise<CrawlStats> {
  checkCall('stats', choice, options);
  const { name, settings } = await settingsOf(choice, options);
  return withFrontier(openOptions(settings, name), (frontier) =>
    new StatsReader({ spider: name, job: settings.JOB, scaleMax: settings.SCALE_MAX, frontier }).read(),
  );
}

/**
 * The settings of the spider. When its module is not on this machine, those of the project are used, as by the command.
 * @throws SpiderLoadError for a spider that has no crawl in the store either
 */
export async function settingsOf(choice: SpiderChoice, options: ProgramOptions) {
  try {
    const { found, loaded } = await loadProgramSpider(choice, options);
    return { name: found.name, settings: loaded.settings };
  } catch (error) {
    if (typeof choice !== 'string' || !(error instanceof SpiderLoadError)) throw error;
    const { settings } = await loadProject(programSource(options));
    if (!(await isInStore(settings, choice))) throw error;
    return { name: choice, settings };
  }
}
