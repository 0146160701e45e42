/** `crawlnode inspect S URL`: the state of one request. */
import type { Command } from 'commander';
import { openOptions, withFrontier } from '../../crawler/project/open-frontier.js';
import type { Identified } from '../../crawler/requests/identify-request.js';
import { domainOfRecord, readRecord } from '../../crawler/requests/recorded-request.js';
import { maskedCookies } from '../../crawler/requests/session-cookies.js';
import { duration, howMany } from '../../format-amounts.js';
import type { Inspection, RequestLife, RequestState } from '../../frontier/frontier.js';
import type { CliCommand } from '../command.js';
import { masked, print, printJson } from '../context.js';
import { crawlArguments } from '../messages/crawl-arguments.js';
import { jobOption, spiderWords } from '../options/spider-argument.js';
import { openIdentifier } from '../project/request-identity.js';
import { oneLine } from '../terminal/printable.js';

const help = `
Shows whether the request was seen, its state, and the cookies that the crawl would send with it, without their values.
With DUPEFILTER_CLASS: StateDupeFilter it also shows the last event of the request, with HTTP status and attempts, even
after the request is done.

A request is identified by its fingerprint, a hash of its method, canonical URL and body. So a POST is a different request
than a GET of the same URL: use -X and -d. Requests with dontFilter have other ids, and one URL can have several.
"crawlnode failed SPIDER list --json" shows the ids of failed requests, and inspect accepts an id instead of a URL.

Examples:
  crawlnode inspect shop https://example.com/product/7
  crawlnode inspect shop https://example.com/search -X POST -d 'q=shoes'`;

const meanings: Readonly<Record<RequestState, string>> = {
  pending: 'waits for a node',
  delayed: 'waits for its time: a retry, or a delayed request',
  leased: 'a node has it in progress',
  failed: 'failed for good; "crawlnode failed CRAWL retry" brings it back',
  seen: 'was accepted, and is done or was dropped; its links are not taken again',
  unknown: 'was never accepted, or has been forgotten since',
};

/** Of a request that may not connect to its address, so that a retry fails again. A seed of the command line may. */
const refusedAddress =
  'failed for good, and a retry fails again: it may not connect to its private address. If you want the page, "crawlnode seed CRAWL URL" makes it a trusted seed';

/** Of a page that a refresh rule lets be fetched again. */
const seenInPeriod = 'was accepted in this period, and is done or was dropped; in the next it is new again';

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('<spider>', spiderWords)
      .argument('<url>', 'a URL, a JSON object as in a file of seeds, or the id of a request')
      .option('-X, --method <method>', 'method of the request, if not GET')
      .option('-d, --data <body>', 'body of the request')
      .addOption(jobOption())
      .addHelpText('after', help),
  run: async (context, [spider = '', url = ''], options) => {
    const { loaded, identifyIn } = await openIdentifier(context, spider, options);
    return withFrontier(openOptions(loaded.settings, spider), async (frontier) => {
      const identify = await identifyIn(frontier);
      const request = identify(url, {
        ...(typeof options.method === 'string' ? { method: options.method } : {}),
        ...(typeof options.data === 'string' ? { body: options.data } : {}),
      });
      const first = await frontier.inspect(request);
      // An id does not give the domain; the record does.
      const isById = request.domain === '' && first.record !== null;
      const record = isById ? readRecord(first.record) : null;
      const inspection =
        record === null
          ? first
          : await frontier.inspect({ ...request, domain: domainOfRecord(record, loaded.settings) });
      const described = describe(spider, loaded.settings.JOB, url, request, inspection);
      const cookies = await maskedCookies(
        frontier,
        described.url,
        readRecord(inspection.record),
        loaded.settings.COOKIES_MAX_HEADER,
      );
      const shown = { ...described, cookies };
      if (context.globals.json) printJson(context, masked(context, shown));
      else {
        const isOfPeriod = shown.state === 'seen' && shown.period !== null;
        const isRefused = shown.failure?.reason === 'private_address';
        const meaning = isOfPeriod ? seenInPeriod : isRefused ? refusedAddress : meanings[shown.state];
        const crawl = crawlArguments(context, { spider, job: loaded.settings.JOB });
        const state = meaning.replace('CRAWL', crawl);
        const rows = {
          ...shown,
          seen: shown.seen ? 'yes' : 'no',
          state: `${shown.state}: ${state}`,
          life: inWords(shown.life),
          ...timesInWords(shown, Date.now()),
        };
        for (const [name, value] of Object.entries(rows)) {
          if (value === null) continue;
          const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
          print(context, `${name.padEnd(12)}  ${oneLine(context.mask(text))}`);
        }
      }
      return 0;
    });
  },
};

type Failure = NonNullable<Inspection['failure']>;
type Described = ReturnType<typeof describe>;

/** Fields are null when the record is gone or unreadable. `period` is set when a refresh rule applies. */
function describe(
  spider: string,
  job: string | null,
  text: string,
  { fingerprint, period }: Identified,
  { state, seen, record, crashes, owner, leasedAtMs, dueAtMs, failure, life }: Inspection,
) {
  const request = readRecord(record);
  return {
    ...{ spider, job, url: request?.url ?? text, fingerprint, period, state, seen },
    life: life === null ? null : lifeOf(life),
    attempts: failure?.attempts ?? request?.attempts ?? life?.attempts ?? null,
    crashes: request === null ? null : crashes,
    owner,
    leasedAt: leasedAtMs === null ? null : new Date(leasedAtMs).toISOString(),
    dueAt: dueAtMs === null ? null : new Date(dueAtMs).toISOString(),
    failure: failure === null ? null : failureJson(failure),
    method: request?.method ?? null,
    priority: request?.priority ?? null,
    depth: request?.depth ?? null,
    callback: request === null ? null : (request.callback ?? 'parse'),
    errback: request?.errback ?? null,
    redirects: request?.redirects ?? null,
    acceptedAt: request === null ? null : new Date(request.acceptedAtMs).toISOString(),
    meta: request === null || Object.keys(request.meta).length === 0 ? null : request.meta,
    cbKwargs: request === null || Object.keys(request.cbKwargs).length === 0 ? null : request.cbKwargs,
  };
}

function failureJson({ failedAtMs, reason, status, attempts, node, detail }: Failure) {
  return { reason, status, attempts, node, at: new Date(failedAtMs).toISOString(), detail };
}

/** Instants with the time since or until them. */
function timesInWords({ state, owner, leasedAt, dueAt, failure, acceptedAt }: Described, nowMs: number) {
  const ago = (at: string) => `${at} (${duration(nowMs - Date.parse(at))} ago)`;
  return {
    owner,
    leasedAt: leasedAt === null ? null : ago(leasedAt),
    dueAt:
      dueAt === null
        ? null
        : `${dueAt} (in ${duration(Math.max(0, Date.parse(dueAt) - nowMs))}${state === 'pending' ? ', when its domain may be asked again' : ''})`,
    failure:
      failure === null
        ? null
        : [
            failure.status === null ? failure.reason : `${failure.reason}, HTTP ${failure.status}`,
            `after ${howMany(failure.attempts, 'attempt')}`,
            ...(failure.node === '' ? [] : [`on node ${failure.node}`]),
            `at ${ago(failure.at)}`,
            ...(failure.detail === null ? [] : [failure.detail]),
          ].join(', '),
    acceptedAt: acceptedAt === null ? null : ago(acceptedAt),
  };
}

/** What a StateDupeFilter stores about a request, even when its record is gone. */
const lifeOf = ({ atMs, ...life }: RequestLife) => ({ ...life, at: new Date(atMs).toISOString() });

function inWords(life: ReturnType<typeof lifeOf> | null): string | null {
  if (life === null) return null;
  const status = life.status === null ? '' : `, HTTP ${life.status}`;
  return `${life.state} at ${life.at}${status}, ${howMany(life.attempts, 'attempt')}`;
}
