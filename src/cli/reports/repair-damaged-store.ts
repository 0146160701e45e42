/** `doctor --repair` for a damaged file of an embedded store: saves what can be read, and reports what is lost. */
import { openOptions } from '../../crawler/project/open-frontier.js';
import { n } from '../../format-amounts.js';
import { openFrontier, salvageStore } from '../../frontier/choose-engine.js';
import type { Salvaged } from '../../frontier/open-options.js';
import { crawlFindings, type SpiderFinding } from './doctor-findings.js';
import { type RepairedCrawl, repairCrawl } from './repair-crawl.js';

/** Copy the readable rows to a new store, then repair this crawl in it. @throws RefusedError while other processes use it, unless `force`. */
export async function repairDamagedStore(of: RepairedCrawl, force: boolean): Promise<SpiderFinding[]> {
  const { spider, crawl, settings } = of;
  const options = openOptions(settings, spider);
  const salvaged = await salvageStore(options, force);
  const frontier = await openFrontier(options);
  try {
    const repaired = await repairCrawl(frontier, of, '', true);
    const snapshot = await frontier.snapshot();
    const others = salvaged.crawls.filter((name) => name !== options.keys.requests);
    return [
      savedFinding(salvaged),
      ...salvaged.lost.map((what) => ({ ...lostFinding(what, crawl), spider })),
      { ...backupFinding(salvaged, crawl), spider },
      ...others.map((key) => ({ ...otherFinding(key), spider })),
      ...repaired,
      ...crawlFindings(spider, crawl, snapshot, settings.NODE_TIMEOUT * 1000, false),
    ];
  } finally {
    await frontier.close();
  }
}

function savedFinding({ saved, unreadable, damagedFile }: Salvaged): SpiderFinding {
  const rows = Object.entries(saved).filter(([, count]) => count > 0);
  const what = rows.map(([table, count]) => `${n(count)} ${table}`).join(', ');
  const cost =
    unreadable.length === 0
      ? 'every table could be read'
      : `not everything could be read of ${unreadable.join(', ')}`;
  return {
    ...about(
      'damaged_store',
      `the store was damaged, and what can be read of it is in a new one: ${cost}; rows saved: ${what || 'none'}`,
    ),
    action: `the damaged file is kept as ${damagedFile}: delete it when nothing more is wanted from it`,
  };
}

function lostFinding(what: string, crawl: string): SpiderFinding {
  const action = `seed what is missing, or "crawlnode reset ${crawl}" and crawl anew`;
  return { ...about('lost', `lost: ${what}`), action };
}

function backupFinding({ backup }: Salvaged, crawl: string): SpiderFinding {
  const what =
    backup === undefined
      ? 'no backup of it is known'
      : `its last backup is ${backup.file}, made at ${backup.madeAt}`;
  const action =
    backup === undefined
      ? `make one now and then: "crawlnode reset ${crawl} --backup FILE"`
      : `"crawlnode restore ${backup.file} --force" adds what it has and the new store lacks`;
  return { ...about('backup', what), level: 'info', action };
}

function otherFinding(key: string): SpiderFinding {
  return {
    ...about('paused', `${key} was saved too, and is paused`),
    action: 'run "crawlnode doctor SPIDER --repair" for it as well',
  };
}

const about = (check: string, message: string) =>
  ({ level: 'problem', check, message, spider: null, action: null }) as const;
