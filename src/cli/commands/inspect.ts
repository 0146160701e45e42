/** `crawlnode inspect S URL`: the state of one request; with `--domain`, of one domain. */
import type { Command } from 'commander';
import { crawlName, noSuchJob } from '../../crawler/project/crawls-in-store.js';
import { openOptions, withFrontier } from '../../crawler/project/open-frontier.js';
import { shellWord } from '../../crawler/project/shell-word.js';
import type { Identified } from '../../crawler/requests/identify-request.js';
import { domainOfRecord, readRecord } from '../../crawler/requests/recorded-request.js';
import { maskedCookies } from '../../crawler/requests/session-cookies.js';
import { statsOf } from '../../crawler/stats/crawl-stats.js';
import { domainNamed, inspectDomain } from '../../crawler/stats/inspect-domain.js';
import { UsageError } from '../../errors.js';
import { duration, howMany } from '../../format-amounts.js';
import type { Inspection, RequestLife, RequestState } from '../../frontier/frontier.js';
import type { RequestRecord } from '../../http/message/record/request-record.js';
import { howToSeed } from '../../node/shutdown/node-stop-reason.js';
import type { CliCommand } from '../command.js';
import { type Context, masked, note, print, printJson } from '../context.js';
import { crawlArguments } from '../messages/crawl-arguments.js';
import { jobOption, settingTextsOf, spiderWords } from '../options/spider-argument.js';
import { loadSpiderOrSettings } from '../project/open-project.js';
import { withIdentifier } from '../project/request-identity.js';
import { isMissingJob } from '../reports/crawl-state-text.js';
import { domainDetail } from '../reports/domain-detail.js';
import { oneLine } from '../terminal/printable.js';
import { wrapped } from '../terminal/reflow.js';

const help = `
Shows whether the request was seen, its state, and the cookies that the crawl would send with it, without their values.
With DUPEFILTER_CLASS: StateDupeFilter it also shows the last event of the request, with HTTP status and attempts, even
after the request is done.

A request is identified by its fingerprint, a hash of its method, canonical URL and body. So a POST is a different request
than a GET of the same URL: use -X and -d. Requests with dontFilter have other ids, and one URL can have several.
"crawlnode failed SPIDER list --json" shows the ids of failed requests, and inspect accepts an id instead of a URL.

With --domain it shows all that the store knows of a domain: what waits and what is in progress, its delay and who asked for
it, its robots.txt, its answers and failures, and what to do about them.

Examples:
  crawlnode inspect shop https://example.com/product/7
  crawlnode inspect shop --domain example.com
  crawlnode inspect shop https://example.com/search -X POST -d 'q=shoes'`;

const meanings: Readonly<Record<RequestState, string>> = {
  pending: 'waits for a node',
  delayed: 'waits for its time: a retry, or a delayed request',
  leased: 'a node has it in progress',
  failed: 'failed for good; "crawlnode failed CRAWL retry" brings it back',
  seen: 'was accepted, and is done or was dropped; links to it are not followed again; to fetch it again: HOW_TO_SEED',
  unknown: 'was never accepted, or has been forgotten since',
};

/** Of a request that may not connect to its address, so that a retry fails again. A seed of the command line may. */
const refusedAddress =
  'failed for good, and a retry fails again: it may not connect to its private address. As a trusted seed it may: crawlnode seed CRAWL OWN_SEED';

/** Of a page that a refresh rule lets be fetched again. */
const seenInPeriod = 'was accepted in this period, and is done or was dropped; in the next it is new again';

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('<spider>', spiderWords)
      .argument('[url]', 'a URL, a JSON object as in a file of seeds, or the id of a request')
      .option('-X, --method <method>', 'method of the request, if not GET')
      .option('-d, --data <body>', 'body of the request')
      .option('--domain <host>', 'a domain instead of a request')
      .addOption(jobOption())
      .addHelpText('after', help),
  run: async (context, [spider = '', url], options) => {
    if (typeof options.domain === 'string') {
      if (url !== undefined || options.method !== undefined || options.data !== undefined)
        throw new UsageError('--domain shows a domain: leave out the URL, --method and --data');
      return showDomain(context, spider, domainNamed(options.domain), options);
    }
    if (url === undefined) throw new UsageError('a URL is missing, or --domain HOST');
    return withIdentifier(context, spider, options, async (frontier, identify, settings) => {
      const request = identify(url, {
        ...(typeof options.method === 'string' ? { method: options.method } : {}),
        ...(typeof options.data === 'string' ? { body: options.data } : {}),
      });
      let inspection = await frontier.inspect(request);
      // An id does not give the domain; the record does.
      const byId = request.domain === '' ? readRecord(inspection.record) : null;
      if (byId !== null) {
        inspection = await frontier.inspect({ ...request, domain: domainOfRecord(byId, settings) });
      }
      const record = readRecord(inspection.record);
      const crawl = { spider, job: settings.JOB };
      const described = describe(record?.url ?? url, request, inspection, record);
      const most = settings.COOKIES_MAX_HEADER;
      const cookies = await maskedCookies(frontier, described.url, record, most);
      const shown = { ...crawl, ...described, cookies };
      if (
        shown.state === 'unknown' &&
        isMissingJob(statsOf({ ...crawl, frontier }, await frontier.snapshot()))
      )
        note(context, noSuchJob(crawlName(crawl)));
      if (context.globals.json) printJson(context, masked(context, shown));
      else {
        const rows = { ...shown, ...inWords(described, crawlArguments(context, crawl), Date.now()) };
        for (const [name, value] of Object.entries(rows)) {
          if (value === null) continue;
          const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
          const line = `${name.padEnd(12)}  ${oneLine(context.mask(text))}`;
          print(context, wrapped(line, context.stdout, ' '.repeat(14)));
        }
      }
      return 0;
    });
  },
};

/** All that the store knows of a domain. */
async function showDomain(
  context: Context,
  spider: string,
  name: string,
  options: Readonly<Record<string, unknown>>,
): Promise<number> {
  const { settings } = (await loadSpiderOrSettings(context, spider, settingTextsOf(options))).loaded;
  const crawl = { spider, job: settings.JOB };
  const words = crawlArguments(context, crawl);
  const found = await withFrontier(openOptions(settings, spider), (frontier) =>
    inspectDomain(frontier, name, words),
  );
  if (context.globals.json)
    printJson(context, masked(context, { ...crawl, domain: name, known: found !== null, ...found }));
  else if (found !== null) print(context, context.mask(domainDetail(found).join('\n')));
  if (found === null)
    note(
      context,
      `nothing is known of the domain ${name}; "crawlnode stats ${words} --domains" lists those that are`,
    );
  return 0;
}

type Described = ReturnType<typeof describe>;

/** Fields are null when the record is gone or unreadable. `period` is set when a refresh rule applies. */
function describe(
  url: string,
  { fingerprint, period }: Identified,
  { state, seen, crashes, owner, leasedAtMs, dueAtMs, failure, life }: Inspection,
  request: RequestRecord | null,
) {
  return {
    ...{ url, fingerprint, period, state, seen, life: life && lifeOf(life) },
    attempts: failure?.attempts ?? request?.attempts ?? life?.attempts ?? null,
    ...{ crashes: request && crashes, owner, leasedAt: instant(leasedAtMs), dueAt: instant(dueAtMs) },
    failure: failure && failureJson(failure),
    method: request?.method ?? null,
    priority: request?.priority ?? null,
    depth: request?.depth ?? null,
    callback: request && (request.callback ?? 'parse'),
    errback: request?.errback ?? null,
    redirects: request?.redirects ?? null,
    acceptedAt: instant(request?.acceptedAtMs),
    meta: unlessEmpty(request?.meta),
    cbKwargs: unlessEmpty(request?.cbKwargs),
  };
}

const instant = (atMs: number | null = null) => (atMs === null ? null : new Date(atMs).toISOString());
const unlessEmpty = (map: object = {}) => (Object.keys(map).length === 0 ? null : map);

function failureJson({
  failedAtMs,
  reason,
  status,
  attempts,
  node,
  detail,
}: NonNullable<Inspection['failure']>) {
  return { reason, status, attempts, node, at: new Date(failedAtMs).toISOString(), detail };
}

/** What a StateDupeFilter stores about a request, even when its record is gone. */
const lifeOf = ({ atMs, ...life }: RequestLife) => ({ ...life, at: new Date(atMs).toISOString() });

/** The fields that read otherwise as text: instants with the time since or until them, and the meaning of the state. */
function inWords(described: Described, crawl: string, nowMs: number) {
  const { state, seen, period, life, leasedAt, dueAt, failure, acceptedAt } = described;
  const ago = (at: string | null) => at && `${at} (${duration(nowMs - Date.parse(at))} ago)`;
  const isOfPeriod = state === 'seen' && period !== null;
  const isRefused = failure?.reason === 'private_address';
  const meaning = isOfPeriod ? seenInPeriod : isRefused ? refusedAddress : meanings[state];
  const due = dueAt && duration(Math.max(0, Date.parse(dueAt) - nowMs));
  const ofDomain = state === 'pending' ? ', when its domain may be asked again' : '';
  return {
    seen: seen ? 'yes' : 'no',
    state: `${state}: ${filled(meaning, described, crawl)}`,
    life: life && `${life.state} at ${life.at}${httpStatus(life)}, ${howMany(life.attempts, 'attempt')}`,
    leasedAt: ago(leasedAt),
    dueAt: due && `${dueAt} (in ${due}${ofDomain})`,
    failure:
      failure &&
      [
        `${failure.reason}${httpStatus(failure)}`,
        `after ${howMany(failure.attempts, 'attempt')}`,
        ...(failure.node === '' ? [] : [`on node ${failure.node}`]),
        `at ${ago(failure.at)}`,
        ...(failure.detail === null ? [] : [failure.detail]),
      ].join(', '),
    acceptedAt: ago(acceptedAt),
  };
}

/** A meaning with the crawl, and with the seed that would be the same request. */
function filled(meaning: string, { url, callback, meta, cbKwargs }: Described, crawl: string): string {
  const isPlain = (callback ?? 'parse') === 'parse' && meta === null && cbKwargs === null;
  const own = isPlain
    ? url
    : JSON.stringify({ url, callback, meta: meta ?? undefined, cbKwargs: cbKwargs ?? undefined });
  return meaning
    .replace('CRAWL', () => crawl)
    .replace('OWN_SEED', () => shellWord(own))
    .replace('HOW_TO_SEED', () => howToSeed(crawl));
}

const httpStatus = ({ status }: { readonly status: number | null }) =>
  status === null ? '' : `, HTTP ${status}`;
