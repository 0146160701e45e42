/** `crawlnode fetch URL`: download one page with the project's settings, and print its body or its headers. */
import type { Command } from 'commander';
import { fetchPage } from '../../crawler/requests/fetch-page.js';
import { Request } from '../../http/message/request.js';
import type { Response } from '../../http/message/response.js';
import { silentLogger } from '../../log.js';
import type { CliCommand } from '../command.js';
import { type Context, note, print, printJson } from '../context.js';
import { loadProject } from '../project/open-project.js';
import { stopOnSignal } from '../signals/run-until-signal.js';
import { printable } from '../terminal/printable.js';

const help = `
Downloads the page with the headers, timeouts and redirects of the project's settings, and prints its body. Nothing is
stored, and no crawl changes. It does not check robots.txt.

Examples:
  crawlnode fetch https://example.com/ > page.html
  crawlnode fetch https://example.com/ --headers -s USER_AGENT=my-crawler`;

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('<url>', 'the page')
      .option('--headers', 'print status and headers instead of the body')
      .addHelpText('after', help),
  run: async (context, [url = ''], options) => {
    const { settings } = await loadProject(context);
    const response = await fetchPage(new Request(url), settings, silentLogger, stopOnSignal());
    if (context.globals.json) {
      const { status, headers, body } = response;
      printJson(context, {
        url: context.mask(response.url),
        status,
        headers,
        bytes: body.length,
        text: response.text,
      });
    } else if (options.headers === true) printHeaders(context, response);
    else printBody(context, response);
    return 0;
  },
};

function printHeaders(context: Context, { status, url, headers }: Response): void {
  print(context, printable(`${status} ${context.mask(url)}`));
  for (const [name, value] of Object.entries(headers)) {
    for (const each of [value].flat()) print(context, printable(`${name}: ${each}`));
  }
}

/** A pipe gets the exact bytes. A terminal gets text with control characters escaped. */
function printBody(context: Context, response: Response): void {
  if (response.status !== 200) note(context, printable(`${response.status} ${response.url}`));
  if (!context.stdout.isTTY) context.stdout.write(response.body);
  else print(context, printable(response.text));
}
