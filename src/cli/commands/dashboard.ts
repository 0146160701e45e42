/** `crawlnode dashboard`: a page with all crawls of a store, its API, and the metrics of the crawls. */
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import path from 'node:path';
import type { Command } from 'commander';
import type { CrawlSource } from '../../dashboard/crawl-views.js';
import { startDashboard } from '../../dashboard/dashboard.js';
import { messageOf, UsageError } from '../../errors.js';
import { version } from '../../package-folder.js';
import { secretFilter } from '../../settings/mask-secrets.js';
import type { CliCommand } from '../command.js';
import { type Context, note, printResult, wantsStack } from '../context.js';
import { collect, portNumber } from '../options/option-parsers.js';
import { jobOption, settingTextsOf } from '../options/spider-argument.js';
import { crawlLister, type ListedCrawl } from '../project/list-crawls.js';
import { stopOnSignal } from '../signals/run-until-signal.js';

const LEAST_TOKEN = 16;

const help = `
It shows all crawls of the store in a browser: what limits each, its history, domains, nodes, failed requests and seeds. It
changes nothing unless --allow-actions is given; then crawls can be paused, resumed, stopped and seeded, and failed
requests retried and purged.

Beyond this machine (--host) it needs a token, which the page and scripts are asked for. Put a proxy with TLS before it where
others can read the network. docs/guide/dashboard.md describes the views, the API under /api/v1 and the security.

Examples:
  crawlnode dashboard
  crawlnode dashboard --allow-actions --port 8080
  openssl rand -hex 32 > token
  crawlnode dashboard --host 0.0.0.0 --token-file token --allow-host crawls.example.com
  crawlnode dashboard --metrics-only`;

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .option('--host <host>', 'the address to listen on', '127.0.0.1')
      .option('--port <port>', 'the port to listen on; 0 takes any free one', portNumber, 9411)
      .option(
        '--token-file <file>',
        `a file with the token that is asked for, ${LEAST_TOKEN} characters or more`,
      )
      .option(
        '--allow-actions',
        'allow to pause, resume, stop and seed crawls, and to retry and purge requests',
      )
      .option('--metrics-only', 'serve only /metrics, for Prometheus')
      .option(
        '--allow-host <name>',
        'a host name under which it is opened, beside localhost; may repeat',
        collect,
      )
      .addOption(jobOption())
      .addHelpText('after', help),
  run: async (context, _args, options) => {
    const { host, port } = options as { host: string; port: number };
    const token = await tokenOf(context, options.tokenFile as string | undefined, host);
    const list = await crawlLister(context, settingTextsOf(options));
    const sources = new Map<ListedCrawl, CrawlSource>();
    const dashboard = await startDashboard({
      ...{ host, port, token, version: version() },
      hostNames: ((options.allowHost as string[] | undefined) ?? []).map((name) => name.toLowerCase()),
      allowActions: options.allowActions === true,
      metricsOnly: options.metricsOnly === true,
      list: async () =>
        (await list()).map((crawl) => {
          const source = sources.get(crawl) ?? sourceOf(crawl);
          sources.set(crawl, source);
          return source;
        }),
      mask: (text) => context.mask(text),
      onUnexpected: (error) =>
        note(context, wantsStack(context) ? String((error as Error).stack) : messageOf(error), 'warn'),
    });
    const stop = stopOnSignal();
    try {
      const at = urlOf(host, dashboard.port);
      const url = options.metricsOnly === true ? `${at}metrics` : at;
      printResult(context, { url, host, port: dashboard.port }, `dashboard: ${url}`);
      await new Promise((resolve) => {
        stop.addEventListener('abort', resolve);
      });
    } finally {
      await dashboard.close();
    }
    return 0;
  },
};

function sourceOf({ spider, job, loaded, create }: ListedCrawl): CrawlSource {
  const { settings, own } = loaded;
  return {
    ...{ spider, job, settings },
    mask: secretFilter(settings, own),
    createSpider: create === null ? null : () => create(),
  };
}

/** @throws UsageError where one is needed, and for one that is easily guessed */
async function tokenOf(context: Context, file: string | undefined, host: string): Promise<string | null> {
  if (file === undefined) {
    if (isLoopback(host)) return null;
    throw new UsageError(
      `--host ${host} can be reached from other machines, so a token is needed: "openssl rand -hex 32 > token", then --token-file token`,
    );
  }
  const text = await readFile(path.resolve(context.cwd, file), 'utf8').catch((error: Error) => {
    throw new UsageError(`--token-file ${file} cannot be read: ${error.message}`, { cause: error });
  });
  const token = text.trim();
  if (!/^[\x21-\x7e]+$/.test(token) || token.length < LEAST_TOKEN)
    throw new UsageError(
      `--token-file ${file}: expected at least ${LEAST_TOKEN} letters, digits or signs, without spaces`,
    );
  return token;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** Where the page is; an address that stands for all of a machine is none to open. */
function urlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${isIP(name) === 6 ? `[${name}]` : name}:${port}/`;
}
