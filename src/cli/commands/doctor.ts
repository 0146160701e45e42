/** `crawlnode doctor`: is this machine, this store and this crawl as it should be, and what to do where not. */
import type { Command } from 'commander';
import { FrontierUnavailableError, RefusedError } from '../../errors.js';
import type { Frontier } from '../../frontier/frontier.js';
import { type OpenOptions, openFrontier } from '../../frontier/open.js';
import type { Settings } from '../../settings/schema.js';
import { problemsOf } from '../../spider/discover.js';
import type { CliCommand } from '../commands.js';
import { type Context, note, print, printJson } from '../context.js';
import { crawlFindings, type Finding, nodeVersion } from '../findings.js';
import { jobOption, textsOf } from '../job-option.js';
import { discover, loadProject, loadSpider, loadSpiderOrSettings, openOptions } from '../open-project.js';
import { oneLine } from '../printable.js';

const help = `
Looks at Node, the spiders of the project, the store and each crawl in it; changes nothing. One line for each finding,
with what to do. Exit code 0 when there is no problem, 1 when there is, 4 when the store cannot be reached.

Examples:
  crawlnode doctor
  crawlnode doctor shop --deep`;

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('[spider]', 'without it, all spiders of the project')
      .option(
        '--deep',
        'also compare all records of the crawl with each other; reads the whole frontier, best while no node runs',
      )
      .addOption(jobOption())
      .addHelpText('after', help),
  run: async (context, [spider], options) => {
    const findings: Finding[] = [nodeVersion(process.versions.node)];
    const crawls = await crawlsOf(context, spider, options, findings);
    for (const [name, settings] of crawls) {
      try {
        findings.push(...(await examine(name, settings, options.deep === true)));
      } catch (error) {
        if (!(error instanceof FrontierUnavailableError)) throw error;
        const { message } = error;
        findings.push({ level: 'problem', check: 'unreachable', spider: name, message, action: null });
        // One store for all of them, in nearly every project: asking again would take as long.
        show(context, findings);
        return 4;
      }
    }
    show(context, findings);
    return findings.some(({ level }) => level === 'problem') ? 1 : 0;
  },
};

/** The crawls to look at, by name; spiders that do not load are findings. */
async function crawlsOf(
  context: Context,
  spider: string | undefined,
  options: Readonly<Record<string, unknown>>,
  findings: Finding[],
): Promise<[name: string, settings: Settings][]> {
  const texts = textsOf(options);
  if (spider !== undefined) {
    const { loaded, missing } = await loadSpiderOrSettings(context, spider, texts);
    if (missing !== null) note(context, missing);
    return [[spider, loaded.settings]];
  }
  const { settings } = loadProject(context, texts).loaded;
  const discovery = await discover(settings);
  for (const message of problemsOf(discovery)) {
    findings.push({ level: 'problem', check: 'spiders', spider: null, message, action: 'mend the module' });
  }
  const crawls: [string, Settings][] = [];
  for (const name of discovery.spiders.keys()) {
    crawls.push([name, (await loadSpider(context, name, texts)).loaded.settings]);
  }
  return crawls;
}

async function examine(spider: string, settings: Settings, deep: boolean): Promise<Finding[]> {
  const options = openOptions(settings, spider);
  const { frontier, findings } = await openAnyway(spider, options);
  if (frontier === null) return findings;
  try {
    const snapshot = await frontier.snapshot();
    findings.push(
      ...crawlFindings(spider, snapshot, options.keys.startUrls, settings.NODE_TIMEOUT * 1000),
      ...(deep ? await invariants(spider, frontier) : []),
    );
    const { done, pending, delayed, leased, failed } = snapshot;
    const numbers = Object.entries({ pending, delayed, leased, done, failed })
      .map(([name, value]) => `${value.toLocaleString('en')} ${name}`)
      .join(', ');
    findings.unshift({
      ...{ level: 'ok', check: 'crawl', spider, action: null },
      message: `${frontier.engine} engine, ${snapshot.nodes.length} live nodes; ${numbers}`,
    });
    return findings;
  } finally {
    await frontier.close();
  }
}

/** What a node would be refused for is a finding; we look on all the same, since we only read. */
async function openAnyway(
  spider: string,
  options: OpenOptions,
): Promise<{ frontier: Frontier | null; findings: Finding[] }> {
  const findings: Finding[] = [];
  let now = options;
  for (;;) {
    try {
      return { frontier: await openFrontier(now), findings };
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      const { code, message } = error;
      findings.push({ level: 'problem', check: code, spider, message, action: null });
      if (code === 'eviction_policy' && !now.allowEviction) now = { ...now, allowEviction: true };
      else if (code === 'foreign_key' && !now.acceptForeignKeys) now = { ...now, acceptForeignKeys: true };
      else return { frontier: null, findings };
      // With a foreign key nothing but counting is possible.
      if (now.acceptForeignKeys === true) return { frontier: null, findings };
    }
  }
}

async function invariants(spider: string, frontier: Frontier): Promise<Finding[]> {
  const breaches = await frontier.verify();
  if (breaches.length === 0) {
    const message = 'all records agree with each other';
    return [{ level: 'ok', check: 'invariants', spider, message, action: null }];
  }
  return breaches.map((message) => ({
    ...{ level: 'problem', check: 'invariants', spider, message },
    action: `stop the nodes and look again; if it stays, "crawlnode reset ${spider} --only queue" and seed anew`,
  }));
}

/** Problems last, where the eye is. */
function show(context: Context, findings: readonly Finding[]): void {
  const ranks = { ok: 0, info: 1, problem: 2 };
  const ordered = [...findings].sort((a, b) => ranks[a.level] - ranks[b.level]);
  const isWell = !findings.some(({ level }) => level === 'problem');
  if (context.globals.json) {
    printJson(context, { ok: isWell, findings: ordered });
    return;
  }
  for (const { level, spider, message, action } of ordered) {
    const about = spider === null ? '' : `${spider}: `;
    const todo = action === null ? '' : ` → ${action}`;
    print(context, `${level.padEnd(7)}  ${oneLine(context.mask(`${about}${message}${todo}`))}`);
  }
  if (isWell) print(context, 'no problems');
}
