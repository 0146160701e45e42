/** `crawlnode crawl SPIDER`: run one node of a crawl, or several. */
import type { Command } from 'commander';
import type { CliCommand } from '../command.js';
import { crawlOptions, runCrawlCommand } from '../crawl/crawl-command.js';
import { spiderWords } from '../options/spider-argument.js';

const help = `
Run the same command again to resume a crawl. Run it in more terminals, or on more machines, to add nodes. After Ctrl-C
the node finishes its pages and ends. After a second Ctrl-C it ends at once. Nothing is lost in either case.

With -o or -O each committed item is in the file exactly once, even if nodes are killed. -O empties its file when a new crawl
begins: after a reset or a flush, or with another --job. If a crawl is resumed, -O appends.

Without a file (-o, -O or FEEDS) RedisPipeline appends items to the items list <spider>:items of the store.
"crawlnode items SPIDER export" moves them from there into a file. With a file, items go only to the file, unless
ITEM_PIPELINES names RedisPipeline.

--min-items and --max-failed are limits for the totals of the run: those of all its nodes since it began. A node with one of
these options checks the totals when the run has ended. If a limit is not met, the node exits with 1 and prints the reason. A
node that exits while other nodes continue reports that it could not check.

--must-finish fails any end but a finished crawl: a budget, "crawlnode stop", a signal. Without any of these options a crawl
exits with 1 when no page of its run succeeded.

--dry-run loads settings, spider, pipelines and middleware, and connects to the store. It checks that the crawl in the store
has the same shape (settings that all nodes must share), and that the output files can be written. It reads the start
requests (of start() the first ten), and prints what would be crawled. It joins nothing, downloads nothing and writes
nothing. Exit codes are those of the crawl.

Examples:
  crawlnode crawl shop -o shop.jsonl --dry-run
  crawlnode crawl shop -o shop.jsonl --exit-when-done     crawl to the end, then exit
  crawlnode crawl shop -O new.jsonl --exit-when-done --must-finish --min-items 1000 --max-failed 50
  crawlnode crawl shop --workers auto                     a service: waits for seeds
  crawlnode crawl shop -O today.csv --max-pages 100 --job trial
  crawlnode crawl shop -a category=shoes -s DOWNLOAD_DELAY=1

Exit codes: 0 done, also when pages failed (the last lines say so); 1 failed at run time, no page succeeded, or --min-items,
--max-failed or --must-finish is not met; 2 wrong usage, settings or spider; 3 refused, for example because settings differ
from those of the crawl; 4 the store cannot be reached.`;

export const command: CliCommand = {
  define: (command: Command) =>
    void crawlOptions(command.argument('<spider>', spiderWords))
      .option(
        '--exit-when-done',
        'exit when the crawl is finished on all nodes, instead of waiting for seeds',
      )
      .addHelpText('after', help),
  run: async (context, [name = ''], options) => runCrawlCommand(context, async () => name, options),
};
