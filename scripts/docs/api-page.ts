/** docs/reference/api.md, from the docstrings of what `src/index.ts` exports. */
import { code, fence, page } from './markdown.js';
import type { Documented, DocumentedType, SourceApi } from './source-api.js';

const groups: readonly (readonly [title: string, names: readonly string[]])[] = [
  ['Spiders', ['Spider', 'CrawlSpider', 'Rule', 'RefreshRule', 'MadeRequests', 'Logger']],
  [
    'Requests',
    [
      'Request',
      'RequestOptions',
      'FormData',
      'Headers',
      'Meta',
      'Callback',
      'Failure',
      'JsonObject',
      'JsonValue',
    ],
  ],
  [
    'Responses',
    ['Response', 'ResponseParts', 'FollowOptions', 'LinkOptions', 'Patterns', 'SelectorList', 'Selector'],
  ],
  [
    'Fields of items',
    ['loadItem', 'field', 'first', 'each', 'join', 'trim', 'number', 'decimalComma', 'absoluteUrl', 'orElse'],
  ],
  ['Types of fields', ['Processor', 'Field', 'LoadedItem', 'Selectable']],
  ['Item pipelines', ['ItemPipeline', 'PipelineInput', 'CommittedItem', 'CrawlContext', 'DropItem']],
  [
    'Middleware',
    ['DownloaderMiddleware', 'OutgoingRequest', 'SpiderMiddleware', 'SpiderResult', 'IgnoreRequest'],
  ],
  ['Settings in code', ['defineSettings', 'SettingsInput', 'Settings']],
  ['Functions', ['canonicalizeUrl', 'fingerprint', 'decodeBody', 'baseUrl', 'metaRefresh', 'parseRobots']],
];

/** The page. */
export function apiPage(source: SourceApi): string {
  const exported = source.exportsOf('index.ts');
  const named = new Set(groups.flatMap(([, names]) => names));
  const others = exported.filter(({ name }) => !named.has(name));
  const errors = others.filter(({ name }) => name.endsWith('Error'));
  const rest = others.filter(({ name }) => !name.endsWith('Error'));
  const chosen = (names: readonly string[]) =>
    names.flatMap((name) => exported.find((each) => each.name === name) ?? []);
  return page(
    '# API',
    "Everything that `import { … } from 'crawlnode'` gives. [Writing spiders](../guide/writing-spiders.md) explains it with examples.",
    ...groups.flatMap(([title, names]) => section(title, chosen(names))),
    ...section('For programs', rest),
    ...section('Errors', errors),
  );
}

function section(title: string, types: readonly DocumentedType[]): string[] {
  return types.length === 0 ? [] : [`## ${title}`, ...types.map(describeType)];
}

function describeType({ name, kind, signatures, text, members }: DocumentedType): string {
  const parts = [`### ${name}`];
  if (kind !== 'interface') parts.push(fence('ts', signatures.join('\n')));
  if (text !== '') parts.push(text);
  if (name === 'SettingsInput')
    return [...parts, 'Its members are the [settings](settings.md).'].join('\n\n');
  // Spiders catch errors of crawlnode, and make none of them but DropItem.
  const shown = members.filter((member) => !(member.name === 'constructor' && name.endsWith('Error')));
  return [...parts, ...shown.map(describeMember)].join('\n\n');
}

function describeMember({ signatures, text }: Documented): string {
  const head = signatures.map((signature) => code(signature.replace(/^readonly /, ''))).join('<br>');
  return text === '' ? `- ${head}` : `- ${head}\n\n${indented(text)}`;
}

const indented = (text: string) => text.replace(/^(?=.)/gm, '  ');
