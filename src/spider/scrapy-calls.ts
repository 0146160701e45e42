/** Hints for calls of Scrapy's and Crawlee's methods that have another name in crawlnode or do not exist. */
import { existsSync, readFileSync } from 'node:fs';
import { SelectorList } from '../http/markup/selector.js';
import { Request } from '../http/message/request.js';
import { Response } from '../http/message/response.js';
import { uncountedStats } from '../stats/stats.js';
import { whereThrown } from '../user-code/where-thrown.js';
import { LinkExtractor } from './rules/link-extractor.js';

/** By the name of the method, with that of its object where the method alone says too little. */
const hints: Readonly<Record<string, string>> = {
  extract: 'use getAll(), or get() for the first match',
  extract_first: 'use get()',
  re: 'it is a method of selections: call it in place of get()',
  'meta.get': 'meta is a plain object: response.meta.name',
  'headers.get': "headers is a plain object: response.header('content-type')",
  'settings.get': 'settings is a plain object: this.settings.DOWNLOAD_DELAY',
  getint: 'settings is a plain object: this.settings.DOWNLOAD_DELAY',
  from_response: 'it is Request.fromForm() here',
  log: 'write this.log.info()',
  'log.warning': 'it is warn() here',
  'log.critical': 'it is error() here',
  'log.exception': 'it is error() here',
  enqueueLinks: 'write yield* response.followAll(response.links({ allow }), this.parse)',
  addRequests: 'write yield new Request(url, { callback: this.parse })',
  pushData: 'write yield item',
  inc: 'it is incValue() here',
  decode: 'response.text is the page as text, and the data of a seed is a text already',
};

const LOG = 'the log is this.log';
const SELECTIONS = 'the first of a selection is at(0), and response.css() needs no selector before it';

/** What of a spider or a page is undefined here, by what is read of it. */
const readHints: Readonly<Record<string, string>> = {
  stats: 'the stats are this.stats',
  engine: 'there is no engine; throw new CloseSpider(reason) to end the crawl',
  settings: 'the settings are this.settings',
  info: LOG,
  debug: LOG,
  warning: `${LOG}, with warn()`,
  warn: LOG,
  error: LOG,
  get: SELECTIONS,
  getAll: SELECTIONS,
  attr: SELECTIONS,
  css: SELECTIONS,
  xpath: SELECTIONS,
  href: "an attribute of a selection is attr('href')",
  src: "an attribute of a selection is attr('src')",
  response: 'an errback gets a Failure, with failure.response, failure.request and failure.reason',
};

const methodsOf = (owner: object) =>
  Object.entries(Object.getOwnPropertyDescriptors(owner))
    .filter(([, { value }]) => typeof value === 'function')
    .map(([name]) => name);
const ofResponse: ReadonlySet<string> = new Set(methodsOf(Response.prototype));
/** What a Response has without being called, such as `text`. */
const propertiesOfResponse: ReadonlySet<string> = new Set([
  ...Object.entries(Object.getOwnPropertyDescriptors(Response.prototype)).flatMap(([name, { get }]) =>
    get === undefined ? [] : [name],
  ),
  ...Object.keys(new Response({ url: 'http://a.example/' })),
]);
/** The methods that authors call, by their letters: `re_first` is `reFirst`. */
const byLetters: ReadonlyMap<string, string> = new Map(
  [SelectorList.prototype, Response.prototype, Request.prototype, LinkExtractor.prototype, uncountedStats]
    .flatMap(methodsOf)
    .map((name) => [name.toLowerCase(), name]),
);

/** The hint to append to an error such as `x.getall is not a function`; empty where there is none. */
export function scrapyHint(error: unknown): string {
  if (!(error instanceof TypeError)) return '';
  const [, read = ''] = /^Cannot read properties of undefined \(reading '(\w+)'\)$/.exec(error.message) ?? [];
  if (Object.hasOwn(readHints, read)) return `: ${readHints[read]}`;
  const [, newless] = /^Class constructor _?(\w+) cannot be invoked without 'new'$/.exec(error.message) ?? [];
  if (newless !== undefined) return `: write new ${newless}(…)`;
  const notCallable = /(?:(\w+)?(?:\([^)]*\))?\.)?(\w+) is not a function/.exec(error.message);
  const [, owner, method] = notCallable ?? iteratedCall(error) ?? [];
  const hint = method === undefined ? undefined : hintFor(`${owner}.${method}`, method);
  return hint === undefined ? '' : `: ${hint}`;
}

/** V8 says of `yield* response.follow_all()` only that "(intermediate value) is not iterable": the line of the code has the name. */
function iteratedCall(error: TypeError): RegExpExecArray | null {
  if (!/intermediate value.* is not (?:async )?iterable$/.test(error.message)) return null;
  const [, file = '', line = '', column = ''] = /^(.+):(\d+):(\d+)$/.exec(whereThrown(error) ?? '') ?? [];
  if (file === '' || !existsSync(file)) return null;
  const text = readFileSync(file, 'utf8').split('\n')[Number(line) - 1] ?? '';
  return /(?:(\w+)\.)?(\w+)\(/.exec(text.slice(Number(column) - 1));
}

function hintFor(call: string, method: string): string | undefined {
  const name = [call, method].find((each) => Object.hasOwn(hints, each));
  if (name !== undefined) return hints[name];
  if (ofResponse.has(method)) {
    return `${method}() is a method of the Response, the first parameter of a callback; an errback gets a Failure, with failure.response`;
  }
  if (propertiesOfResponse.has(method)) return `it is a property here: write ${method} without ()`;
  const here = byLetters.get(method.replaceAll('_', '').toLowerCase());
  return here === undefined || here === method ? undefined : `it is ${here}() here`;
}
