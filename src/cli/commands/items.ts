/** `crawlnode items S export`: write what nodes of this machine committed for their files and died before writing. */
import { existsSync } from 'node:fs';
import os from 'node:os';
import { Argument, type Command } from 'commander';
import { CrawlnodeError, RefusedError } from '../../errors.js';
import type { OutboxSnapshot } from '../../frontier/frontier.js';
import { silentLogger } from '../../log.js';
import type { CliCommand } from '../commands.js';
import { type Context, note, print, printJson } from '../context.js';
import { jobOption, textsOf } from '../job-option.js';
import { loadSpiderOrSettings, openOptions, withFrontier } from '../open-project.js';
import { type OrphansOptions, writeOrphanedFeed } from '../orphaned-feeds.js';
import { oneLine } from '../printable.js';

const help = `
Items for an -o file wait in the store from their commit until they are on disk. Where a node dies in between, they
are written by whoever next writes that file, by any node that ends on that machine, or by this command: each item
once, also when this command is killed in the middle. A file whose writer lives is left to it.

Example:
  crawlnode items shop export`;

/** What became of the items that waited for one file. */
interface Export {
  readonly host: string;
  readonly path: string;
  /** In the file now. */
  readonly written: number;
  /** Still in the store. */
  readonly waiting: number;
  /** Why they still wait; null when none do. */
  readonly why: string | null;
  readonly failed: boolean;
}

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('<spider>')
      .addArgument(new Argument('<action>', 'export: write what waits for files').choices(['export']))
      .addOption(jobOption())
      .addHelpText('after', help),
  run: async (context, [spider = ''], options) => {
    const { loaded, missing } = await loadSpiderOrSettings(context, spider, textsOf(options));
    if (missing !== null) note(context, missing);
    const { settings } = loaded;
    return withFrontier(openOptions(settings, spider), async (frontier) => {
      const { outbox, items } = await frontier.snapshot();
      const how = {
        ...{ frontier, staleMs: settings.NODE_TIMEOUT * 1000, log: silentLogger },
        formats: settings.FEEDS,
      };
      const exports: Export[] = [];
      for (const feed of outbox.filter(({ waiting }) => waiting > 0)) {
        exports.push(await exportOne(feed, how));
      }
      if (context.globals.json) {
        printJson(context, {
          spider,
          job: settings.JOB,
          files: exports.map(({ failed: _, ...rest }) => rest),
        });
      } else show(context, spider, exports);
      if (items > 0 && !context.globals.json) {
        note(
          context,
          `${items.toLocaleString('en')} items are in ${openOptions(settings, spider).keys.items}; they stay there`,
        );
      }
      return exports.some(({ failed }) => failed) ? 1 : 0;
    });
  },
};

async function exportOne(feed: OutboxSnapshot, how: OrphansOptions): Promise<Export> {
  const { host, path, waiting } = feed;
  const stays = (why: string, failed: boolean) => ({ host, path, written: 0, waiting, why, failed });
  if (host !== os.hostname()) return stays(`the file is on ${host}: run this command there`, false);
  if (!existsSync(path)) {
    return stays('the file is not there: put it back, or run this where it is (another container?)', true);
  }
  try {
    return { host, path, written: await writeOrphanedFeed(feed, how), waiting: 0, why: null, failed: false };
  } catch (error) {
    if (!(error instanceof CrawlnodeError)) throw error;
    return stays(error.message, !(error instanceof RefusedError));
  }
}

function show(context: Context, spider: string, exports: readonly Export[]): void {
  if (exports.length === 0) print(context, `${spider}: no items wait for a file`);
  const n = (value: number) => value.toLocaleString('en');
  for (const { path, written, waiting, why } of exports) {
    print(
      context,
      oneLine(
        why === null ? `${path}: ${n(written)} items written` : `${path}: ${n(waiting)} items wait: ${why}`,
      ),
    );
  }
}
