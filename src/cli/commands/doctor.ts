/** `crawlnode doctor`: checks machine, store and crawls, and says how to fix problems. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { examineFeeds } from '../../crawler/feeds/examine-feeds.js';
import { userFeedRecords } from '../../crawler/feeds/user-feed-records.js';
import { furtherCrawls } from '../../crawler/project/crawls-in-store.js';
import { openOptions } from '../../crawler/project/open-frontier.js';
import {
  CrawlnodeError,
  DamagedStoreError,
  FrontierUnavailableError,
  RefusedError,
  UsageError,
} from '../../errors.js';
import { howMany, n } from '../../format-amounts.js';
import { openFrontier } from '../../frontier/choose-engine.js';
import { findingsAbout } from '../../frontier/findings.js';
import type { Finding, Frontier, Snapshot } from '../../frontier/frontier.js';
import { howToSeed } from '../../node/shutdown/node-stop-reason.js';
import { changeOf } from '../../pipelines/feeds/changed-feed.js';
import type { Settings } from '../../settings/schema.js';
import { problemsOf } from '../../spider/loading/discover.js';
import type { CliCommand } from '../command.js';
import type { Context } from '../context.js';
import { crawlArguments } from '../messages/crawl-arguments.js';
import { fillCrawlArguments } from '../messages/error-report.js';
import { jobOption, settingTextsOf } from '../options/spider-argument.js';
import {
  discover,
  loadProject,
  loadSpider,
  loadSpiderOrSettings,
  type SettingTexts,
} from '../project/open-project.js';
import {
  crawlFindings,
  feedFindings,
  nodeVersion,
  type SpiderFinding,
  showFindings,
  showOutcome,
} from '../reports/doctor-findings.js';
import { openFiles } from '../reports/file-permissions.js';
import { limitBreaches, type RepairedCrawl, readerOf, repairCrawl } from '../reports/repair-crawl.js';
import { repairDamagedStore } from '../reports/repair-damaged-store.js';

const help = `
Checks Node, the spiders of the project, the store (Redis: version, memory, persistence, clock, rights; embedded: folder
and disk), and each crawl in it, even one that a node would refuse. Without --repair it changes nothing. It prints one line
for each finding, with what to do. Exit code: 0 no problem, 1 a problem, 4 the store cannot be reached.

--accept-losses counts requests whose records vanished as removed: the crawl goes on without these pages and what they link to,
and its next run may be green again. Use it last: --repair brings back each request whose record is still there. It also accepts
that a file of items is gone or was changed: the next run, or "items SPIDER export", writes what waits for it, to a new file if it is gone.

--repair pauses the crawl, rebuilds queues and counters from the records of the requests, and continues the crawl. Afterwards
each request that is not done is pending in its old order, delayed or failed, and exists once. It names what it cannot bring back,
and exits with 1 then. If --repair is interrupted, run it again. If the file of an embedded store is damaged, --repair copies all readable data to a new file, counts the losses, keeps
the damaged file under another name, and exits with 1.

Examples:
  crawlnode doctor
  crawlnode doctor shop --deep
  crawlnode doctor shop --repair`;

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('[spider]', 'without it, all spiders of the project and all crawls in the store')
      .option(
        '--deep',
        'also compare all records of the crawl with each other; reads the whole store, best while no node runs',
      )
      .option(
        '--repair',
        'rebuild inconsistent data from the records of the requests; includes --deep, and needs a spider',
      )
      .option(
        '--accept-losses',
        'go on without lost requests, and without what files of items have lost; needs a spider, and comes after --repair where both are given',
      )
      .option('--force', 'repair even if nodes are live: they drop their current pages and join again')
      .addOption(jobOption())
      .addHelpText('after', help),
  run: async (context, [spider], options) => {
    const given = (name: 'deep' | 'repair' | 'force' | 'acceptLosses') => options[name] === true;
    const [repair, losses] = [given('repair'), given('acceptLosses')];
    if (spider === undefined && (repair || losses))
      throw new UsageError(`${repair ? '--repair' : '--accept-losses'} needs the name of a spider`);
    const depth = { deep: given('deep') || repair, repair, force: given('force'), acceptLosses: losses };
    const findings: SpiderFinding[] = [];
    const add = (found: readonly Finding[], crawl?: Pick<SpiderFinding, 'spider' | 'job'>) => {
      for (const { about, ...finding } of found) {
        const isOfCrawl = crawl !== undefined && about === 'crawl';
        // The store is the same for nearly all crawls, so that what each of them says of it is said once.
        const isKnown = crawl !== undefined && !isOfCrawl && findings.some((each) => isSame(each, finding));
        if (!isKnown)
          findings.push({ ...finding, job: crawl?.job ?? null, spider: isOfCrawl ? crawl.spider : null });
      }
    };
    let shown = 0;
    // Each crawl's findings as soon as they are known: to check many crawls takes long.
    const show = () => {
      showFindings(context, findings.slice(shown));
      shown = findings.length;
    };
    add(nodeVersion(process.versions.node));
    for (const [name, settings] of await crawlsOf(context, spider, settingTextsOf(options), add)) {
      const job = settings.JOB;
      const crawl = crawlArguments(context, { spider: name, job });
      const of = { spider: name, crawl, settings };
      try {
        const found = await examine(context, of, depth).catch((error: unknown) =>
          damagedStore(error, of, depth),
        );
        const words = (text: string) => fillCrawlArguments(text, crawl);
        const reworded = found.map(({ message, action, ...rest }) => ({
          ...{ ...rest, message: words(message), action: action === null ? null : words(action) },
        }));
        add(reworded, { spider: name, job });
        show();
      } catch (error) {
        if (!(error instanceof FrontierUnavailableError)) throw error;
        const { found, problem } = findingsAbout('crawl');
        problem('unreachable', error.message, null);
        add(found, { spider: name, job });
        // Nearly every project has one store for all crawls, so each further attempt would time out too.
        show();
        showOutcome(context, findings);
        return 4;
      }
    }
    show();
    showOutcome(context, findings);
    return findings.some(({ level }) => level === 'problem') ? 1 : 0;
  },
};

/** Whether both are about the same of the store. */
const isSame = (one: SpiderFinding, { check, level }: Pick<Finding, 'check' | 'level'>) =>
  one.spider === null && one.check === check && one.level === level;

/** The crawls to check, by name. Spiders that do not load become findings. */
async function crawlsOf(
  context: Context,
  spider: string | undefined,
  texts: SettingTexts,
  add: (findings: readonly Finding[]) => void,
): Promise<[name: string, settings: Settings][]> {
  const loaded =
    spider === undefined
      ? await loadProject(context, texts)
      : (await loadSpiderOrSettings(context, spider, texts)).loaded;
  const { settings } = loaded;
  add(await openFiles(loaded, context.env));
  if (spider !== undefined) return [[spider, settings]];
  const discovery = await discover(context, settings);
  const spiders = findingsAbout('crawl');
  for (const message of problemsOf({ ...discovery, missing: [] })) {
    spiders.problem('spiders', message, 'correct the module');
  }
  // These messages already say what to do.
  for (const message of problemsOf({ ...discovery, broken: [], duplicates: [] })) {
    spiders.problem('spiders', message, null);
  }
  add(spiders.found);
  const crawls: [string, Settings][] = [];
  const names = [...discovery.spiders.keys()];
  const settingsOf = async (name: string, job: string | null) => {
    if (!discovery.spiders.has(name)) return { ...settings, JOB: job };
    const jobTexts = job === null ? texts : { ...texts, JOB: job };
    return (await loadSpider(context, name, jobTexts)).loaded.settings;
  };
  for (const name of names) crawls.push([name, await settingsOf(name, settings.JOB)]);
  // What is wrong with the store is found with the first crawl.
  const further = await furtherCrawls(settings, discovery.spiders).catch((error: unknown) => {
    if (names.length === 0 || !(error instanceof CrawlnodeError)) throw error;
    return { crawls: [] };
  });
  for (const { spider: name, job } of further.crawls) crawls.push([name, await settingsOf(name, job)]);
  return crawls;
}

interface Depth {
  readonly deep: boolean;
  readonly repair: boolean;
  readonly force: boolean;
  readonly acceptLosses: boolean;
}

async function examine({ env }: Context, of: RepairedCrawl, depth: Depth): Promise<Finding[]> {
  const { spider, crawl, settings } = of;
  const options = openOptions(settings, spider);
  const { found, ok, problem } = findingsAbout('crawl');
  if (options.store.engine === 'embedded' && !existsSync(options.store.dir)) {
    const store = findingsAbout('store');
    store.ok('store', `nothing is stored in ${options.store.dir} yet; the first seed or crawl makes it`);
    return store.found;
  }
  let frontier: Frontier;
  try {
    // `examine` reports what a node would be refused for. Opening despite it is safe, because this only reads.
    frontier = await openFrontier({ ...options, allowEviction: true, acceptForeignKeys: true });
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    problem(error.code, error.message, null);
    return found;
  }
  try {
    const seen = (await frontier.examine()).map((finding) =>
      finding.check === 'eviction_policy' && settings.REDIS_ALLOW_EVICTION ? accepted(finding) : finding,
    );
    // Keys of another program or format cannot be read.
    if (seen.some(({ level, check }) => level === 'problem' && unreadable.has(check))) return seen;
    // Where the record of the crawl is gone, no counter says anything.
    const isCounted =
      depth.deep || !seen.some(({ level, check }) => level === 'problem' && check === 'record');
    const checked = isCounted ? await invariants(of, frontier, depth) : [];
    const files = { records: userFeedRecords(env, options), settings };
    // After a repair, which may have found lost requests, or others lost.
    if (depth.acceptLosses) found.push(...(await acceptLosses(frontier, crawl, files)));
    const mayRepair = !depth.deep || checked.some(({ level }) => level === 'problem');
    const snapshot = await frontier.snapshot();
    ok('crawl', `${frontier.engine} engine, ${countsOf(snapshot)}`);
    found.push(...crawlFindings(crawl, snapshot, settings.NODE_TIMEOUT * 1000, mayRepair));
    found.push(...feedFindings(snapshot.outbox, await examineFeeds(snapshot, files)));
    return [...seen, ...found, ...checked];
  } finally {
    await frontier.close();
  }
}

const beginsAnew =
  'the store knows no page of this crawl, so the next run begins anew: files of items from before still hold their items, and get all of them again';

/** Go on without lost requests, and without what files have lost, also where no node has found it yet. */
async function acceptLosses(
  frontier: Frontier,
  crawl: string,
  files: Parameters<typeof examineFeeds>[1],
): Promise<Finding[]> {
  const { found, ok, info } = findingsAbout('crawl');
  for (const { feed, change, isOfCrawl } of await examineFeeds(await frontier.snapshot(), files)) {
    if (isOfCrawl) await frontier.feeds.noteChange(feed, change);
  }
  const changed = (await frontier.snapshot()).outbox.flatMap(({ path, change }) =>
    change === null ? [] : [changeOf(path, change)],
  );
  const lost = await frontier.acceptLosses();
  if (lost + changed.length === 0) ok('losses_accepted', 'nothing is lost');
  const { done, pending, delayed, failed } = await frontier.snapshot();
  if (done + pending + delayed + failed === 0)
    info('begins_anew', beginsAnew, 'move such files away, or use -O');
  if (lost > 0) {
    const message = `${howMany(lost, 'lost request')} counted as removed: this crawl goes on without them`;
    info('losses_accepted', message, `to fetch such a page all the same: ${howToSeed(crawl)}`);
  }
  for (const what of changed) info('losses_accepted', `accepted: ${what}`, null);
  return found;
}

/** The findings for a damaged store file; with --repair it is repaired. @throws any other error */
async function damagedStore(error: unknown, of: RepairedCrawl, { repair, force }: Depth): Promise<Finding[]> {
  if (!(error instanceof DamagedStoreError)) throw error;
  if (repair) return repairDamagedStore(of, force);
  const { found, problem } = findingsAbout('store');
  problem(error.code, error.message, null);
  return found;
}

const unreadable = new Set(['foreign_key', 'format', 'slots', 'acl']);

function countsOf({ done, pending, delayed, leased, failed, nodes }: Snapshot): string {
  const counts = Object.entries({ pending, delayed, leased, done, failed });
  const numbers = counts.map(([name, value]) => `${n(value)} ${name}`).join(', ');
  return `${howMany(nodes.length, 'live node')}; ${numbers}`;
}

async function invariants(of: RepairedCrawl, frontier: Frontier, depth: Depth): Promise<Finding[]> {
  const breaches = depth.deep ? await frontier.verify(readerOf(of.settings)) : await frontier.verifyCounts();
  if (breaches.length > 0 && depth.repair) {
    return repairCrawl(frontier, of, `, after ${n(breaches.length)} disagreements`, depth.force);
  }
  const { found, ok, problem } = findingsAbout('crawl');
  if (breaches.length === 0 && depth.deep) ok('invariants', 'all records agree with each other');
  const action = `stop the nodes, then "crawlnode doctor ${of.crawl} --repair"`;
  for (const message of limitBreaches(breaches)) problem('invariants', message, action);
  return found;
}

/** REDIS_ALLOW_EVICTION accepts the eviction policy, so it is no problem. */
function accepted(finding: Finding): Finding {
  return {
    ...finding,
    level: finding.level === 'ok' ? 'ok' : 'info',
    message: finding.message.replace(/; nodes refuse to start/, '; REDIS_ALLOW_EVICTION accepts it'),
  };
}
