/** Hints for calls of Scrapy methods that have another name in crawlnode or do not exist. */

const hints: Readonly<Record<string, string>> = {
  getall: 'it is getAll() here',
  extract: 'use getAll(), or get() for the first match',
  extract_first: 'use get()',
  follow_all: 'it is followAll() here',
  re: 'match the text of get() with a regular expression',
  re_first: 'match the text of get() with a regular expression',
  'meta.get': 'meta is a plain object: response.meta.name',
  'settings.get': 'settings is a plain object: this.settings.DOWNLOAD_DELAY',
  getint: 'settings is a plain object: this.settings.DOWNLOAD_DELAY',
  inc_value: 'it is this.stats.incValue()',
};

/** What of a spider is undefined here, by what is read of it. */
const readHints: Readonly<Record<string, string>> = {
  stats: 'the stats are this.stats',
  engine: 'there is no engine; throw new CloseSpider(reason) to end the crawl',
  settings: 'the settings are this.settings',
  info: 'the log is this.log',
  debug: 'the log is this.log',
  warning: 'the log is this.log, with warn()',
  warn: 'the log is this.log',
  error: 'the log is this.log',
};

/** The hint to append to an error such as `x.getall is not a function`; empty where there is none. */
export function scrapyHint(error: unknown): string {
  if (!(error instanceof TypeError)) return '';
  const [, read = ''] = /^Cannot read properties of undefined \(reading '(\w+)'\)$/.exec(error.message) ?? [];
  if (Object.hasOwn(readHints, read)) return `: ${readHints[read]}`;
  const [, owner, method] = /(\w+)?(?:\([^)]*\))?\.(\w+) is not a function/.exec(error.message) ?? [];
  const names = [`${owner}.${method}`, method ?? ''];
  const hint = names.map((name) => (Object.hasOwn(hints, name) ? hints[name] : undefined)).find(Boolean);
  return hint === undefined ? '' : `: ${hint}`;
}
