/** `crawlnode parse URL --spider S`: run a callback on one page, and print what it yields; nothing is stored. */
import type { Command } from 'commander';
import { fetchPage } from '../../crawler/requests/fetch-page.js';
import { Request } from '../../http/message/request.js';
import type { CliCommand } from '../command.js';
import { printJson } from '../context.js';
import { createLogger } from '../log/logger.js';
import { jobOption, textsOf } from '../options/job-option.js';
import { addPair, type Pairs } from '../options/name-value-pairs.js';
import { loadSpider } from '../project/open-project.js';
import { stopOnSignal } from '../stop-on-signal.js';

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('<url>')
      .requiredOption('--spider <spider>', 'whose callback to run')
      .option('--callback <name>', 'a method of the spider', 'parse')
      .option('-a, --arg <name=value>', 'an argument for the spider; may repeat', addPair)
      .addOption(jobOption()),
  run: async (context, [url = ''], options) => {
    const name = String(options.spider);
    const { loaded, create } = await loadSpider(
      context,
      name,
      textsOf(options),
      (options.arg ?? {}) as Pairs,
    );
    const { log, close } = await createLogger(context, loaded.settings, { spider: name });
    try {
      const spider = await create(log);
      const { callbackName, runCallback } = await import('../../spider/run-callback.js');
      callbackName(spider, String(options.callback));
      const response = await fetchPage(new Request(url), loaded.settings, log, stopOnSignal());
      const { items, requests } = await runCallback(spider, String(options.callback), response);
      printJson(context, {
        url: response.url,
        status: response.status,
        items,
        requests: requests.map(({ request, callback, errback }) => ({
          url: request.url,
          ...(request.method === 'GET' ? {} : { method: request.method }),
          ...(callback === null ? {} : { callback }),
          ...(errback === null ? {} : { errback }),
          ...(Object.keys(request.meta).length === 0 ? {} : { meta: request.meta }),
          ...(request.priority === 0 ? {} : { priority: request.priority }),
          ...(request.dontFilter ? { dontFilter: true } : {}),
        })),
      });
      return 0;
    } finally {
      await close();
    }
  },
};
