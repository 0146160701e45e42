/** `crawlnode restore`: restores a backup file that `reset --backup` wrote. */
import path from 'node:path';
import type { Command } from 'commander';
import { type CrawlName, crawlName } from '../../crawler/project/crawls-in-store.js';
import { openOptions, withFrontier } from '../../crawler/project/open-frontier.js';
import { shapeOf } from '../../crawler/project/settings-to-options.js';
import { UsageError } from '../../errors.js';
import { n } from '../../format-amounts.js';
import { allParts, type Part } from '../../frontier/frontier.js';
import { refuseIncompatible } from '../backup/backup-compatibility.js';
import { type VerifiedBackup, verifyBackup } from '../backup/read-backup.js';
import { restoreBackup } from '../backup/restore-backup.js';
import type { CliCommand } from '../command.js';
import { type Context, note, print, printJson } from '../context.js';
import { commaList } from '../options/option-parsers.js';
import { jobOption, settingTextsOf, spiderWords } from '../options/spider-argument.js';
import { loadSpiderOrSettings } from '../project/open-project.js';
import { namedParts, ownParts } from '../reset/reset-parts.js';
import { withLiveLine } from '../terminal/live-line.js';

const help = `
The whole file is read first. A truncated or damaged file is refused before anything is written. Requests return to
their old places in the queue, and delayed requests keep their time. Requests that were being processed become pending.
A part is refused if the crawl already has data in it; --force adds only the missing data. If this command is killed,
run it again with the same file: it continues. Until then no node can join the crawl.

A backup can be restored into the other engine, another --job, or with --as into another spider: <spider> is then that
of the backup.

Examples:
  crawlnode restore shop shop-2026-11-21.jsonl.gz
  crawlnode restore shop shop-2026-11-21.jsonl.gz --only dupefilter --job next
  crawlnode restore shop shop-2026-11-21.jsonl.gz --as shop-copy`;

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('<spider>', spiderWords)
      .argument('<file>', 'a file that reset --backup wrote')
      .option('--only <parts>', `only some parts of the file: ${allParts.join(',')}`, commaList)
      .option('--as <spider>', 'restore into the crawl of another spider than that of the backup')
      .option('--dry-run', 'only check the file, and print what it contains')
      .option(
        '--force',
        'restore even if parts have data or nodes are live; also into keys shared with other spiders',
      )
      .addOption(jobOption())
      .addHelpText('after', help),
  run: async (context, [source = '', name = ''], options) => {
    const spider = (options.as as string | undefined) ?? source;
    const file = path.resolve(context.cwd, name);
    const only = options.only === undefined ? allParts : namedParts(options.only as string);
    const { loaded } = await loadSpiderOrSettings(context, spider, settingTextsOf(options), {
      mayBeNew: true,
    });
    const { settings } = loaded;
    const backup = await withLiveLine(
      context,
      (values) => `checking ${n(values)} values`,
      (onProgress) => verifyBackup(file, onProgress),
    );
    if (backup.header.spider !== source) {
      const from = backup.header.spider;
      throw new UsageError(
        `${file} is a backup of ${from}, not of ${source}: "crawlnode restore ${from} ${name} --as ${spider}" restores it into ${spider}`,
      );
    }
    const wanted = backup.header.parts.filter((part) => only.includes(part));
    if (wanted.length === 0) {
      throw new UsageError(
        `${file} holds ${backup.header.parts.join(', ')}, and nothing of ${only.join(', ')}`,
      );
    }
    const open = openOptions(settings, spider);
    const force = options.force === true;
    const { parts, keys, skippedKeys } = ownParts(wanted, settings, open, force);
    for (const key of skippedKeys)
      note(context, `${key} is shared with other spiders and stays; --force adds to it`);
    noteOrigin(context, backup, spider, settings.JOB);
    for (const notice of refuseIncompatible(backup, parts, shapeOf(settings), open.store.engine))
      note(context, notice);
    const shown = {
      spider,
      job: settings.JOB,
      file,
      madeAt: backup.header.madeAt,
      parts,
      counts: backup.counts,
    };
    if (options.dryRun === true) {
      show(context, shown, 'dry run');
      return 0;
    }
    return withFrontier({ ...open, keys }, async (frontier) => {
      const total = Object.values(backup.counts).reduce((sum, count) => sum + count, 0);
      const outcome = await withLiveLine(
        context,
        (values) => `bringing back ${n(values)} of ${n(total)} values`,
        (onProgress) =>
          restoreBackup(frontier, {
            ...{ file, backup, parts, force, onProgress },
            onNotice: (text) => note(context, text),
          }),
      );
      show(context, shown, outcome);
      return 0;
    });
  },
};

function noteOrigin(context: Context, { header }: VerifiedBackup, spider: string, job: string | null): void {
  const [from, to] = [crawlName(header), crawlName({ spider, job })];
  if (from !== to) note(context, `the backup is of ${from}, and goes to ${to}`);
}

interface Restored extends CrawlName {
  readonly file: string;
  readonly madeAt: string;
  readonly parts: readonly Part[];
  readonly counts: VerifiedBackup['counts'];
}

function show(
  context: Context,
  restored: Restored,
  outcome: 'restored' | 'resumed' | 'there already' | 'dry run',
): void {
  if (context.globals.json) {
    printJson(context, { ...restored, outcome });
    return;
  }
  const { madeAt, parts, counts } = restored;
  const what = {
    restored: 'is in the crawl again',
    resumed: 'is in the crawl again; the restore went on where it was cut off',
    'there already': 'was brought back before; nothing was changed',
    'dry run': 'is whole',
  }[outcome];
  print(context, `${crawlName(restored)}: the backup of ${madeAt} ${what} (${parts.join(', ')})`);
  for (const [kind, count] of Object.entries(counts)) {
    print(context, `  ${(kind === 'seeds' ? 'start_urls' : kind).padEnd(10)}  ${n(count)}`);
  }
}
