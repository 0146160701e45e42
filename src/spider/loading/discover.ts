/** Find the spiders of a project: load every module of its folders and inspect its default export. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SpiderLoadError } from '../../errors.js';
import { nearest } from '../../settings/nearest.js';
import { describeError, shortPath, whereThrown } from '../../user-code/where-thrown.js';
import { createSpider, Spider, type SpiderClass, type SpiderContext } from '../spider.js';
import { loadModule } from './load-module.js';
import { spiderFiles } from './spider-files.js';
import { spiderProblem } from './spider-problems.js';

/** A spider that can run. */
export interface FoundSpider {
  readonly name: string;
  /** Absolute. */
  readonly file: string;
  readonly SpiderClass: SpiderClass;
}

/** A module that does not load, or whose default export is not a usable spider. The message of the error names the file. */
export interface BrokenModule {
  readonly file: string;
  readonly error: SpiderLoadError;
}

/** Several spiders with the same name. None of them can run. */
export interface DuplicateName {
  readonly name: string;
  readonly files: readonly string[];
}

/** The result of a search. A broken module does not hide the others. */
export interface Discovery {
  readonly folders: readonly string[];
  /** By name, in alphabetical order. */
  readonly spiders: ReadonlyMap<string, FoundSpider>;
  readonly broken: readonly BrokenModule[];
  readonly duplicates: readonly DuplicateName[];
  /** Folders that do not exist. */
  readonly missing: readonly string[];
  /** Spiders that a module exports only by name, probably by mistake. Base classes of other spiders are not included. */
  readonly unexported: readonly UnexportedSpider[];
  /** Modules without any spider: helpers of others, or spiders without an export. */
  readonly spiderless: readonly string[];
}

export interface UnexportedSpider {
  readonly file: string;
  readonly exported: string;
  readonly SpiderClass: SpiderClass;
}

/** A message that tells the user how to export the spider. */
export function unexportedText({ file, exported }: UnexportedSpider): string {
  return `${shortPath(file)} exports the spider ${exported} by name only: make it the default export (export default class ${exported} …)`;
}

/**
 * Load all modules of the folders or files of SPIDER_MODULES. Errors in them are part of the result, not thrown. Every
 * class is constructed once with `context`, because the name of a spider is an instance field.
 */
export async function discoverSpiders(
  folders: readonly string[],
  context: Partial<SpiderContext> = {},
): Promise<Discovery> {
  const listings = await Promise.all(folders.map(spiderFiles));
  const missing = folders.filter((_, n) => listings[n] === null);
  const files = [...new Set(listings.flatMap((listing) => listing ?? []))];
  const results = await Promise.all(files.map((file) => inspectModule(file, context)));

  const found = results.filter((result) => result !== null && 'name' in result);
  const broken = results.filter((result) => result !== null && 'error' in result);
  const isBase = ({ SpiderClass: Base }: UnexportedSpider) =>
    found.some(({ SpiderClass }) => SpiderClass.prototype instanceof Base);
  const unexported = results
    .filter((result) => result !== null && 'exported' in result)
    .filter((result) => !isBase(result));
  const byName = new Map<string, FoundSpider[]>();
  for (const spider of found) byName.set(spider.name, [...(byName.get(spider.name) ?? []), spider]);
  return {
    folders,
    missing,
    broken,
    unexported,
    spiderless: files.filter((_, n) => results[n] === null),
    spiders: new Map(
      [...byName.values()]
        .filter((sameName) => sameName.length === 1)
        .map(([spider]) => [spider!.name, spider!] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
    duplicates: [...byName]
      .filter(([, sameName]) => sameName.length > 1)
      .map(([name, sameName]) => ({ name, files: sameName.map((spider) => spider.file) })),
  };
}

/** @throws SpiderLoadError that names duplicates, near names, and modules that do not load. */
export function findSpider(discovery: Discovery, name: string): FoundSpider {
  const spider = discovery.spiders.get(name);
  if (spider !== undefined) return spider;
  const sameName = discovery.duplicates.find((duplicate) => duplicate.name === name);
  if (sameName !== undefined) {
    throw new SpiderLoadError(
      `two spiders are named "${name}": ${sameName.files.map(shortPath).join(' and ')}`,
    );
  }
  const [wanted, others] = brokenByName(discovery, name);
  throw new SpiderLoadError(
    [
      ...wanted.map(({ error }) => error.message),
      ...(wanted.length > 0 ? [] : [`there is no spider "${name}"; ${availableSpiders(discovery, name)}`]),
      ...others.map(({ error }) => error.message),
      ...discovery.unexported.map(unexportedText),
      ...discovery.spiderless
        .filter((file) => isAbout(file, name))
        .map(
          (file) =>
            `${shortPath(file)} exports no spider: begin it with export default class … extends Spider`,
        ),
    ].join('; '),
  );
}

/**
 * The modules that do not load: first those that probably hold the wanted spider, as their file has its name or their text
 * contains it. The name is a field of the instance, so a class that cannot be constructed has none.
 */
function brokenByName({ broken }: Discovery, name: string): [BrokenModule[], BrokenModule[]] {
  const isWanted = ({ file }: BrokenModule) => isAbout(file, name);
  return [broken.filter(isWanted), broken.filter((each) => !isWanted(each))];
}

/** Whether the file has the name of the spider, or its text contains it in quotes. */
function isAbout(file: string, name: string): boolean {
  return (
    path.parse(file).name === name ||
    ["'", '"', '`'].some((quote) => textOf(file).includes(quote + name + quote))
  );
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** One message for each module or folder that cannot be used. */
export function problemsOf(discovery: Discovery): string[] {
  return [
    ...discovery.broken.map(({ error }) => error.message),
    ...discovery.duplicates.map(
      ({ name, files }) => `two spiders are named "${name}": ${files.map(shortPath).join(' and ')}`,
    ),
    ...discovery.missing.map(
      (folder) =>
        `the folder ${shortPath(folder)} of SPIDER_MODULES does not exist; ${missingFolderAdvice(folder)}`,
    ),
  ];
}

/** Advice for a missing folder, which may be a Python module name in a settings file from Scrapy. */
function missingFolderAdvice(folder: string): string {
  const name = path.basename(folder);
  return /^[a-z_]\w*(\.[a-z_]\w*)+$/i.test(name)
    ? `it names folders, not Python modules: ${name.replaceAll('.', '/')}, or leave it out for spiders`
    : '"crawlnode init DIR" makes a project';
}

function availableSpiders({ spiders, folders, missing }: Discovery, wanted: string): string {
  const names = [...spiders.keys()];
  const near = nearest(wanted, names, 3);
  if (near.length > 0) return `did you mean ${near.join(' or ')}?`;
  if (names.length > 0) return `there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}`;
  const places = folders.map(
    (folder) => shortPath(folder) + (missing.includes(folder) ? ' (no such folder)' : ''),
  );
  return `SPIDER_MODULES has no spider at all, in ${places.join(', ')}`;
}

/** @returns null for a module without a spider, such as a helper of other modules. */
async function inspectModule(
  file: string,
  context: Partial<SpiderContext>,
): Promise<FoundSpider | BrokenModule | UnexportedSpider | null> {
  let module: Readonly<Record<string, unknown>>;
  try {
    module = await loadModule(file);
  } catch (error) {
    return { file, error: error as SpiderLoadError };
  }
  const exported = module.default;
  if (!isClass(exported)) return unexportedIn(file, module);
  if (!(exported.prototype instanceof Spider)) {
    return broken(
      file,
      `its default export, the class ${exported.name}, does not extend the Spider of crawlnode`,
    );
  }
  const SpiderClass = exported as SpiderClass;
  try {
    const spider = createSpider(SpiderClass, context);
    const problem = spiderProblem(spider);
    if (problem !== null) return broken(file, problem);
    const { name } = spider;
    if (typeof name === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(name)) return { name, file, SpiderClass };
    return broken(file, nameProblem(SpiderClass, name));
  } catch (error) {
    const where = whereThrown(error) ?? shortPath(file);
    return broken(file, `constructing it failed at ${where}: ${describeError(error)}`, error);
  }
}

function unexportedIn(file: string, module: Readonly<Record<string, unknown>>): UnexportedSpider | null {
  const isSpider = (value: unknown) => isClass(value) && value.prototype instanceof Spider;
  const exported = Object.keys(module).find((name) => isSpider(module[name]));
  return exported === undefined ? null : { file, exported, SpiderClass: module[exported] as SpiderClass };
}

function nameProblem(SpiderClass: SpiderClass, name: unknown): string {
  return name === ''
    ? `the spider ${SpiderClass.name} has no name; give it one: name = '…'`
    : `the name ${JSON.stringify(name)} of its spider is not of 1 to 64 letters, digits, dots, underscores and hyphens`;
}

function broken(file: string, what: string, cause?: unknown): BrokenModule {
  return { file, error: new SpiderLoadError(`${shortPath(file)}: ${what}`, { cause }) };
}

function isClass(value: unknown): value is { readonly name: string; readonly prototype: unknown } {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));
}
