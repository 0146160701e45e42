/** `crawlnode doctor`: checks machine, store and crawls, and says how to fix problems. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { openOptions } from '../../crawler/project/open-frontier.js';
import { DamagedStoreError, FrontierUnavailableError, RefusedError, UsageError } from '../../errors.js';
import { howMany, n } from '../../format-amounts.js';
import { openFrontier } from '../../frontier/choose-engine.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { Settings } from '../../settings/schema.js';
import { problemsOf } from '../../spider/loading/discover.js';
import type { CliCommand } from '../command.js';
import type { Context } from '../context.js';
import { crawlArguments } from '../messages/crawl-arguments.js';
import { fillCrawlArguments } from '../messages/error-report.js';
import { jobOption, settingTextsOf } from '../options/spider-argument.js';
import { discover, loadProject, loadSpider, loadSpiderOrSettings } from '../project/open-project.js';
import { crawlFindings, nodeVersion, type SpiderFinding, showFindings } from '../reports/doctor-findings.js';
import { openFiles } from '../reports/file-permissions.js';
import { limitBreaches, type RepairedCrawl, readerOf, repairCrawl } from '../reports/repair-crawl.js';
import { repairDamagedStore } from '../reports/repair-damaged-store.js';

const help = `
Checks Node, the spiders of the project, the store (Redis: version, memory, persistence, clock, rights; embedded: folder
and disk), and each crawl in it, even one that a node would refuse. Without --repair it changes nothing. It prints one line
for each finding, with what to do. Exit code: 0 no problem, 1 a problem, 4 the store cannot be reached.

--accept-losses counts requests whose records vanished as removed: the crawl goes on without these pages and what they link to,
and its next run may be green again. Use it last: --repair brings back each request whose record is still there.

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
      .argument('[spider]', 'without it, all spiders of the project')
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
        'count the lost requests as removed, and go on without them; needs a spider, and comes after --repair where both are given',
      )
      .option('--force', 'repair even if nodes are live: they drop their current pages and join again')
      .addOption(jobOption())
      .addHelpText('after', help),
  run: async (context, [spider], options) => {
    if (options.repair === true && spider === undefined)
      throw new UsageError('--repair needs the name of a spider');
    if (options.acceptLosses === true && spider === undefined)
      throw new UsageError('--accept-losses needs the name of a spider');
    const depth: Depth = {
      deep: options.deep === true || options.repair === true,
      repair: options.repair === true,
      force: options.force === true,
      acceptLosses: options.acceptLosses === true,
    };
    const findings: SpiderFinding[] = [nodeVersion(process.versions.node)];
    const crawls = await crawlsOf(context, spider, options, findings);
    for (const [name, settings] of crawls) {
      try {
        const crawl = crawlArguments(context, { spider: name, job: settings.JOB });
        const found = await examine(name, crawl, settings, depth).catch((error: unknown) =>
          damagedStore(error, { spider: name, crawl, settings }, depth),
        );
        add(
          findings,
          found.map((finding) => ({ ...inWords(finding, crawl), job: settings.JOB })),
        );
      } catch (error) {
        if (!(error instanceof FrontierUnavailableError)) throw error;
        findings.push({ ...problem('unreachable', error.message), spider: name, job: settings.JOB });
        // Nearly every project has one store for all crawls, so each further attempt would time out too.
        showFindings(context, findings);
        return 4;
      }
    }
    showFindings(context, findings);
    return findings.some(({ level }) => level === 'problem') ? 1 : 0;
  },
};

/** The crawls to check, by name. Spiders that do not load become findings. */
async function crawlsOf(
  context: Context,
  spider: string | undefined,
  options: Readonly<Record<string, unknown>>,
  findings: SpiderFinding[],
): Promise<[name: string, settings: Settings][]> {
  const texts = settingTextsOf(options);
  if (spider !== undefined) {
    const { loaded } = await loadSpiderOrSettings(context, spider, texts);
    findings.push(...(await openFiles(loaded, context.env)));
    return [[spider, loaded.settings]];
  }
  const loaded = await loadProject(context, texts);
  const { settings } = loaded;
  findings.push(...(await openFiles(loaded, context.env)));
  const discovery = await discover(context, settings);
  const found = (messages: readonly string[], action: string | null) => {
    for (const message of messages) findings.push({ ...problem('spiders', message), spider: null, action });
  };
  found(problemsOf({ ...discovery, missing: [] }), 'correct the module');
  // These messages already say what to do.
  found(problemsOf({ ...discovery, broken: [], duplicates: [] }), null);
  const crawls: [string, Settings][] = [];
  for (const name of discovery.spiders.keys()) {
    crawls.push([name, (await loadSpider(context, name, texts)).loaded.settings]);
  }
  return crawls;
}

interface Depth {
  readonly deep: boolean;
  readonly repair: boolean;
  readonly force: boolean;
  readonly acceptLosses: boolean;
}

/** @param crawl the arguments that select it (`crawlArguments`) */
async function examine(
  spider: string,
  crawl: string,
  settings: Settings,
  depth: Depth,
): Promise<SpiderFinding[]> {
  const options = openOptions(settings, spider);
  if (options.store.engine === 'embedded' && !existsSync(options.store.dir)) {
    const message = `nothing is stored in ${options.store.dir} yet; the first seed or crawl makes it`;
    return [{ level: 'ok', check: 'store', spider: null, message, action: null }];
  }
  let frontier: Frontier;
  try {
    // `examine` reports what a node would be refused for. Opening despite it is safe, because this only reads.
    frontier = await openFrontier({ ...options, allowEviction: true, acceptForeignKeys: true });
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return [{ ...problem(error.code, error.message), spider }];
  }
  try {
    const seen = (await frontier.examine()).map(({ about, ...finding }) => ({
      ...(finding.check === 'eviction_policy' && settings.REDIS_ALLOW_EVICTION ? accepted(finding) : finding),
      spider: about === 'store' ? null : spider,
    }));
    // Keys of another program or format cannot be read.
    if (seen.some(({ level, check }) => level === 'problem' && unreadable.has(check))) return seen;
    const checked = depth.deep ? await invariants({ spider, crawl, settings }, frontier, depth) : [];
    // After a repair, which may have found lost requests, or others lost.
    const gone = depth.acceptLosses ? await acceptLosses(spider, crawl, frontier) : [];
    const mayRepair = !depth.deep || checked.some(({ level }) => level === 'problem');
    const found = await examineCrawl(spider, crawl, settings, frontier, mayRepair);
    return [...seen, ...found, ...gone, ...checked];
  } finally {
    await frontier.close();
  }
}

/** The findings for a damaged store file; with --repair it is repaired. @throws any other error */
async function damagedStore(
  error: unknown,
  of: RepairedCrawl,
  { repair, force }: Depth,
): Promise<SpiderFinding[]> {
  if (!(error instanceof DamagedStoreError)) throw error;
  return repair ? repairDamagedStore(of, force) : [{ ...problem(error.code, error.message), spider: null }];
}

const unreadable = new Set(['foreign_key', 'format', 'slots', 'acl']);

async function examineCrawl(
  spider: string,
  crawl: string,
  settings: Settings,
  frontier: Frontier,
  mayRepair: boolean,
): Promise<SpiderFinding[]> {
  const snapshot = await frontier.snapshot();
  const { done, pending, delayed, leased, failed } = snapshot;
  const numbers = Object.entries({ pending, delayed, leased, done, failed })
    .map(([name, value]) => `${n(value)} ${name}`)
    .join(', ');
  const { length } = snapshot.nodes;
  const message = `${frontier.engine} engine, ${howMany(length, 'live node')}; ${numbers}`;
  return [
    { level: 'ok', check: 'crawl', spider, action: null, message },
    ...crawlFindings(spider, crawl, snapshot, settings.NODE_TIMEOUT * 1000, mayRepair),
  ];
}

async function acceptLosses(spider: string, crawl: string, frontier: Frontier): Promise<SpiderFinding[]> {
  const lost = await frontier.acceptLosses();
  if (lost === 0) {
    return [{ level: 'ok', check: 'losses_accepted', spider, message: 'no request is lost', action: null }];
  }
  const message = `${howMany(lost, 'lost request')} counted as removed: this crawl goes on without them`;
  const action = `to fetch such a page all the same: crawlnode seed ${crawl} URL`;
  return [{ level: 'info', check: 'losses_accepted', spider, message, action }];
}

async function invariants(of: RepairedCrawl, frontier: Frontier, depth: Depth): Promise<SpiderFinding[]> {
  const { spider, crawl, settings } = of;
  const breaches = await frontier.verify(readerOf(settings));
  if (breaches.length === 0) {
    const message = 'all records agree with each other';
    return [{ level: 'ok', check: 'invariants', spider, message, action: null }];
  }
  if (depth.repair) {
    return repairCrawl(frontier, of, `, after ${n(breaches.length)} disagreements`, depth.force);
  }
  const action = `stop the nodes, then "crawlnode doctor ${crawl} --repair"`;
  return limitBreaches(breaches).map((message) => ({ ...problem('invariants', message), spider, action }));
}

function problem(check: string, message: string): Omit<SpiderFinding, 'spider'> {
  return { level: 'problem', check, message, action: null };
}

function inWords({ message, action, ...finding }: SpiderFinding, crawl: string): SpiderFinding {
  const todo = action === null ? null : fillCrawlArguments(action, crawl);
  return { ...finding, message: fillCrawlArguments(message, crawl), action: todo };
}

/** REDIS_ALLOW_EVICTION accepts the eviction policy, so it is no problem. */
function accepted<T extends { level: string; message: string }>(finding: T): T & { level: 'info' | 'ok' } {
  return {
    ...finding,
    level: finding.level === 'ok' ? 'ok' : 'info',
    message: `${finding.message.replace(/; nodes refuse to start/, '; REDIS_ALLOW_EVICTION accepts it')}`,
  };
}

/** Add findings. Those about the store are added once, however many crawls it holds. */
function add(findings: SpiderFinding[], some: readonly SpiderFinding[]): void {
  for (const finding of some) {
    const isKnown =
      finding.spider === null &&
      findings.some(
        ({ spider, check, level }) => spider === null && check === finding.check && level === finding.level,
      );
    if (!isKnown) findings.push(finding);
  }
}
