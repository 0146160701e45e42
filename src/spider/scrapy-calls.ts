/** Hints for calls of Scrapy methods that have another name in crawlnode or do not exist. */

const hints: Readonly<Record<string, string>> = {
  getall: 'it is getAll() here',
  extract: 'use getAll(), or get() for the first match',
  extract_first: 'use get()',
  follow_all: 'it is followAll() here',
  re: 'match the text of get() with a regular expression',
  re_first: 'match the text of get() with a regular expression',
  'meta.get': 'meta is a plain object: response.meta.name',
};

/** The hint to append to an error such as `x.getall is not a function`; empty where there is none. */
export function scrapyHint(error: unknown): string {
  if (!(error instanceof TypeError)) return '';
  const [, owner, method] = /(\w+)?(?:\([^)]*\))?\.(\w+) is not a function/.exec(error.message) ?? [];
  const names = [`${owner}.${method}`, method ?? ''];
  const hint = names.map((name) => (Object.hasOwn(hints, name) ? hints[name] : undefined)).find(Boolean);
  return hint === undefined ? '' : `: ${hint}`;
}
