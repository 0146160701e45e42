/** `doctor --repair` for a damaged file of an embedded store: saves what can be read, and reports what is lost. */
import { openOptions, withFrontier } from '../../crawler/project/open-frontier.js';
import { n } from '../../format-amounts.js';
import { salvageStore } from '../../frontier/choose-engine.js';
import { findingsAbout } from '../../frontier/findings.js';
import type { Finding } from '../../frontier/frontier.js';
import { crawlFindings } from './doctor-findings.js';
import { type RepairedCrawl, repairCrawl, replaceLost } from './repair-crawl.js';

/** Copy the readable rows to a new store, then repair this crawl in it. @throws RefusedError while other processes use it, unless `force`. */
export async function repairDamagedStore(of: RepairedCrawl, force: boolean): Promise<Finding[]> {
  const { spider, crawl, settings } = of;
  const options = openOptions(settings, spider);
  const { saved, unreadable, damagedFile, lost, backup, crawls } = await salvageStore(options, force);
  const store = findingsAbout('store');
  const rows = Object.entries(saved).filter(([, count]) => count > 0);
  const what = rows.map(([table, count]) => `${n(count)} ${table}`).join(', ');
  const cost =
    unreadable.length === 0
      ? 'every table could be read'
      : `not everything could be read of ${unreadable.join(', ')}`;
  store.problem(
    'damaged_store',
    rows.length === 0
      ? 'the store was damaged, and no row could be read of it: a new one takes its place'
      : `the store was damaged, and what can be read of it is in a new one: ${cost}; rows saved: ${what}`,
    `the damaged file is kept as ${damagedFile}: delete it when nothing more is wanted from it`,
  );
  const { found, info, problem } = findingsAbout('crawl');
  for (const each of lost) problem('lost', `lost: ${each}`, replaceLost(crawl));
  if (backup === undefined) {
    const action = `make one now and then: "crawlnode reset ${crawl} --backup FILE"`;
    info('backup', 'no backup of it is known', action);
  } else {
    const action = `"crawlnode restore ${backup.file} --force" adds what it has and the new store lacks`;
    info('backup', `its last backup is ${backup.file}, made at ${backup.madeAt}`, action);
  }
  for (const key of crawls.filter((name) => name !== options.keys.requests)) {
    const action = 'run "crawlnode doctor SPIDER --repair" for it as well';
    problem('paused', `${key} was saved too, and is paused`, action);
  }
  return withFrontier(options, async (frontier) => {
    const repaired = await repairCrawl(frontier, of, '', true);
    const snapshot = await frontier.snapshot();
    const others = crawlFindings(crawl, snapshot, settings.NODE_TIMEOUT * 1000, false);
    return [...store.found, ...found, ...repaired, ...others];
  });
}
