/** `crawlnode pause|resume|stop S`: sets the control state of a crawl, which its nodes read with their next lease. */
import os from 'node:os';
import type { Command } from 'commander';
import { type CrawlName, crawlName, refuseMissingJob } from '../../crawler/project/crawls-in-store.js';
import { openOptions, withFrontier } from '../../crawler/project/open-frontier.js';
import { orderCrawl } from '../../crawler/run/order-crawl.js';
import { CrawlnodeError } from '../../errors.js';
import { howMany } from '../../format-amounts.js';
import type { Control } from '../../frontier/frontier.js';
import type { CliCommand } from '../command.js';
import { type Context, printResult } from '../context.js';
import { crawlArguments } from '../messages/crawl-arguments.js';
import { jobOption, settingTextsOf, spiderWords } from '../options/spider-argument.js';
import { loadSpiderOrSettings } from '../project/open-project.js';

const helps: Readonly<Record<Control, string>> = {
  paused: `
Nodes finish their current pages and then wait. Nodes that join later wait too. Seeds and stats work as before.
"crawlnode resume SPIDER" continues the crawl.

Example:
  crawlnode pause shop`,
  running: `
The nodes of the crawl start requests again within two seconds.

Example:
  crawlnode resume shop`,
  stopping: `
Nodes finish their current pages and end with exit code 0. Pending requests stay for the next
"crawlnode crawl SPIDER". Without a live node nothing happens.

Example:
  crawlnode stop shop@may`,
};

export const pause: CliCommand = tell('paused');
export const resume: CliCommand = tell('running');
export const stop: CliCommand = tell('stopping');

function tell(control: Control): CliCommand {
  return {
    define: (command: Command) =>
      void command
        .argument('<spider>', spiderWords)
        .addOption(jobOption())
        .addHelpText('after', helps[control]),
    run: async (context, [spider = ''], options) => {
      const { loaded } = await loadSpiderOrSettings(context, spider, settingTextsOf(options));
      return withFrontier(openOptions(loaded.settings, spider), async (frontier) => {
        const crawl = { spider, job: loaded.settings.JOB };
        if (control !== 'paused') await refuseMissingJob(frontier, crawl);
        const { nodes, hasBegun } = await orderCrawl(frontier, control, orderedBy());
        if (control === 'paused' && !hasBegun) throw notBegun(context, crawl);
        const text = sentence(crawlName(crawl), control, nodes, hasBegun);
        printResult(context, { spider, control, nodes }, text);
        return 0;
      });
    },
  };
}

/** Who gives the order, as the events of the crawl show it. */
function orderedBy(): string {
  try {
    return `${os.userInfo().username}@${os.hostname()}`;
  } catch {
    // A user without an entry in the system's list, as in a container.
    return os.hostname();
  }
}

function notBegun(context: Context, crawl: CrawlName): CrawlnodeError {
  const what = `${crawlName(crawl)} has not begun, so there is nothing to pause`;
  const how = `seed it ("crawlnode seed ${crawlArguments(context, crawl)} URL"), then pause it`;
  return new CrawlnodeError('not_begun', `${what}: ${how}`);
}

function sentence(name: string, control: Control, nodes: number, hasBegun: boolean): string {
  const who = nodes === 0 ? 'no node is running' : howMany(nodes, 'node');
  if (control === 'running' && !hasBegun) return `${name}: nothing to resume, the crawl has not begun`;
  if (control === 'stopping' && nodes === 0) return `${name}: nothing to stop, no node is running`;
  const what = { paused: 'paused', running: 'resumed', stopping: 'stopping after the pages in progress' }[
    control
  ];
  return `${name}: ${what} (${who})`;
}
