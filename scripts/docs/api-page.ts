/**
 * docs/reference/api.md, from the docstrings of what `src/index.ts` exports and the examples of `examples/api/`. An export
 * without a section, a description or an example is an error.
 */
import { type ApiExample, apiExamples } from './api-examples.js';
import { code, fence, page } from './markdown.js';
import type { Documented, DocumentedType, SourceApi } from './source-api.js';

const sections: readonly (readonly [title: string, names: readonly string[]])[] = [
  [
    'Spiders',
    [
      ...['Spider', 'CrawlSpider', 'Rule', 'LinkExtractor', 'LinkExtractorOptions', 'Link'],
      ...['SitemapSpider', 'SitemapRule', 'SitemapEntry', 'XMLFeedSpider', 'XMLIterator'],
      ...['CSVFeedSpider', 'CSVRow', 'FeedSpider', 'RefreshRule', 'StartRequests', 'MadeRequests'],
      ...['CallbackName', 'SpiderContext', 'SpiderLogger', 'Stats', 'StatValue'],
    ],
  ],
  [
    'Requests',
    [
      ...['Request', 'RequestOptions', 'Meta', 'FormData', 'FormRequestOptions', 'HeadersInput', 'Headers'],
      ...['CookieInput', 'RequestCookie', 'RequestCookies', 'Callback', 'CbKwargs', 'Failure'],
      ...['CallbackResults', 'Yielded', 'Result'],
    ],
  ],
  [
    'Responses',
    [
      ...['Response', 'FollowOptions', 'LinkOptions', 'Patterns', 'glob', 'SelectorList', 'Selector'],
      ...['XPathVariables', 'ResponseParts', 'SavedPage'],
    ],
  ],
  [
    'Items',
    [
      ...['ItemSchema', 'ItemOf', 'loadItem', 'field', 'first', 'each', 'join', 'trim', 'number'],
      ...['decimalComma', 'absoluteUrl', 'orElse', 'Processor', 'Field', 'LoadedItem', 'Selectable'],
      ...['JsonObject', 'JsonValue'],
    ],
  ],
  [
    'Item pipelines',
    [
      'ItemPipeline',
      'PipelineInput',
      'CommittedItem',
      'CrawlContext',
      'FilesPipeline',
      'ImagesPipeline',
      'FilePathInput',
      'FileResult',
      'DropItem',
    ],
  ],
  [
    'Middleware',
    ['DownloaderMiddleware', 'OutgoingRequest', 'SpiderMiddleware', 'SpiderResult', 'IgnoreRequest'],
  ],
  ['Extensions', ['Extension', 'ExtensionEvents', 'IdleRequests', 'CloseSpider']],
  ['Identity and order of requests', ['RequestModule']],
  ['Settings in code', ['defineSettings', 'SettingsInput', 'Settings', 'ProjectTypes']],
  [
    'For programs',
    [
      ...['crawl', 'CrawlOptions', 'CrawlResult', 'seed', 'SeedOptions', 'SeedResult', 'stats'],
      ...['items', 'failed', 'FailedPage'],
      ...['CrawlStats', 'runSpider', 'RunSpiderOptions', 'SpiderOutput', 'ProgramOptions', 'SpiderChoice'],
      'Logger',
    ],
  ],
  [
    'Functions',
    ['canonicalizeUrl', 'fingerprint', 'decodeBody', 'baseUrl', 'metaRefresh', 'parseRobots', 'Robots'],
  ],
  [
    'Errors',
    [
      ...['CrawlnodeError', 'UsageError', 'SettingsError', 'SpiderLoadError', 'RefusedError'],
      ...['FrontierUnavailableError', 'InvalidRequestError'],
    ],
  ],
];

/** The page. @throws Error that names an export without section, description or example. */
export function apiPage(source: SourceApi): string {
  const exported = new Map(source.exportsOf('index.ts').map((each) => [each.name, each]));
  const examples = apiExamples();
  const names = sections.flatMap(([, listed]) => listed);
  refuseMissing('section in scripts/docs/api-page.ts', exported.keys(), (name) => names.includes(name));
  refuseMissing('example in examples/api', exported.keys(), (name) => examples.has(name));
  refuseMissing('description', exported.keys(), (name) => isDescribed(exported.get(name)!));
  return page(
    '# API',
    "Everything that `import { … } from 'crawlnode'` gives. [Writing spiders](../guide/writing-spiders.md) and [Rules, feeds and items](../guide/rules-feeds-and-items.md) explain it with examples. Each example here is compiled by a test.",
    ...sections.flatMap(([title, listed]) => [
      `## ${title}`,
      ...listed.flatMap((name) => {
        const found = exported.get(name);
        return found === undefined ? [] : [describeType(found, examples.get(name)!)];
      }),
    ]),
  );
}

function refuseMissing(what: string, names: Iterable<string>, has: (name: string) => boolean): void {
  const without = [...names].filter((name) => !has(name));
  if (without.length > 0) throw new Error(`the API page: no ${what} for ${without.join(', ')}`);
}

/** With all of its members. Those of SettingsInput are described by the page of the settings. */
function isDescribed({ name, text, members }: DocumentedType): boolean {
  return (
    text !== '' &&
    (name === 'SettingsInput' || shownMembers(name, members).every((member) => member.text !== ''))
  );
}

/** Nobody but crawlnode makes its errors, except those that end a page. */
function shownMembers(name: string, members: readonly Documented[]): readonly Documented[] {
  return members.filter((member) => !(member.name === 'constructor' && name.endsWith('Error')));
}

function describeType(
  { name, kind, signatures, text, members }: DocumentedType,
  example: ApiExample,
): string {
  const parts = [`### ${name}`];
  if (kind !== 'interface') parts.push(fence('ts', signatures.join('\n')));
  parts.push(text, exampleOf(name, example));
  if (name === 'SettingsInput')
    return [...parts, 'Its members are the [settings](settings.md).'].join('\n\n');
  return [...parts, ...shownMembers(name, members).map(describeMember)].join('\n\n');
}

function exampleOf(name: string, { names: [owner = ''], code: text }: ApiExample): string {
  return owner === name
    ? `Example:\n\n${fence('ts', text)}`
    : `Example: see [${owner}](#${owner.toLowerCase()}).`;
}

function describeMember({ signatures, text }: Documented): string {
  const head = signatures.map((signature) => code(signature.replace(/^readonly /, ''))).join('<br>');
  return text === '' ? `- ${head}` : `- ${head}\n\n${indented(text)}`;
}

const indented = (text: string) => text.replace(/^(?=.)/gm, '  ');
