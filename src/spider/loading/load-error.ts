/** Describe why a user's module does not load. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { SpiderLoadError } from '../../errors.js';
import { describeError, shortPath, whereThrown } from '../../user-code/where-thrown.js';
import { compileTypeScript } from './compile-typescript.js';

/** The error for a user's module: `file:line:column does not load: reason`. */
export async function loadError(file: string, error: unknown): Promise<SpiderLoadError> {
  const where = error instanceof SyntaxError ? await syntaxErrorPlace(file, error) : whereThrown(error);
  const name = shortPath(file);
  // For an error in a helper that the module imports, name both files.
  const location = where === null || where.startsWith(`${name}:`) ? (where ?? name) : `${name} (at ${where})`;
  const why = isOfCommonJs(error)
    ? AS_MODULE
    : `${describeError(error)}${missingPackageHint(error)}${missingExportHint(error)}`;
  return new SpiderLoadError(`${location} does not load: ${why}`, { cause: error });
}

const AS_MODULE =
  "it is CommonJS (require, module.exports), which cannot load crawlnode here: write import { Spider } from 'crawlnode', and export default class … extends Spider";

function missingPackageHint(error: unknown): string {
  const { message = '' } = error as { readonly message?: string };
  if (!/^Cannot find package '/.test(message)) return '';
  return '; install it, or where it stands for files of the project, name it in "imports" of package.json, as in "#lib/*": "./lib/*.ts", since paths of tsconfig.json have no effect at run time';
}

/** What serves in place of classes of Scrapy, Scrapy-Redis and Crawlee. */
const insteadOfExports: readonly (readonly [name: RegExp, instead: string])[] = [
  [/^RedisSpider$/, 'write Spider: every spider accepts seeds'],
  [
    /^Redis(?:Mixin|\w*Spider)$/,
    'write CrawlSpider, or another spider of crawlnode: every spider accepts seeds',
  ],
  [/(?:Crawler|Process|Runner)$/, 'write a Spider; a program runs it by crawl()'],
  [/Router$/, 'a callback of a request is a method of the spider'],
  [/^Dataset$/, 'yield items, which the items list or -o stores'],
  [/^Request(?:Queue|List)$/, 'the crawl has a queue: yield requests, or use startUrls'],
  [/^FormRequest$/, 'write new Request(url, { formdata }), or Request.fromForm(response)'],
  [/^JsonRequest$/, 'write new Request(url, { json })'],
  [/^\w+Response$/, 'write Response'],
  [/^(?:Item|Field|ItemLoader)$/, 'yield a plain object, or use loadItem() and field()'],
  [/^Rule$/, 'a rule is a plain object'],
];

function missingExportHint(error: unknown): string {
  const { message = '' } = error as { readonly message?: string };
  const [, name = ''] = /'crawlnode' does not provide an export named '(\w+)'/.exec(message) ?? [];
  const [, instead] = insteadOfExports.find(([names]) => names.test(name)) ?? [];
  return instead === undefined ? '' : `; crawlnode exports no ${name}: ${instead}`;
}

/** What Node says of a CommonJS module that requires crawlnode, or that stands in a package of ES modules. */
function isOfCommonJs(error: unknown): boolean {
  const { code, message = '' } = error as { readonly code?: unknown; readonly message?: string };
  if (code === 'ERR_REQUIRE_CYCLE_MODULE') return true;
  return code === 'MODULE_NOT_FOUND' && message.startsWith("Cannot find module 'crawlnode'");
}

/** Where a syntax error is. esbuild gives the position; V8 gives it only for an import that the other module does not export. */
async function syntaxErrorPlace(file: string, error: SyntaxError & { at?: unknown }): Promise<string | null> {
  if (typeof error.at === 'string') return shortPath(error.at);
  const [head = '', , carets = ''] = (error.stack ?? '').split('\n');
  const [, module, line] = /^(.+):(\d+)$/.exec(head) ?? [];
  if (module !== undefined) {
    const moduleFile = module.startsWith('file:') ? fileURLToPath(module) : module;
    return `${shortPath(moduleFile)}:${line}:${carets.indexOf('^') + 1}`;
  }
  // V8 does not give the position of a syntax error in a module, so esbuild parses plain JavaScript again.
  try {
    compileTypeScript(file, await readFile(file, 'utf8'));
    return null;
  } catch (syntaxError) {
    const { at } = syntaxError as { at?: string };
    return at === undefined ? null : shortPath(at);
  }
}
