/**
 * How spider code is resolved and loaded (`load-module.ts` registers these hooks): within the process where Node has
 * `module.registerHooks`, in Node's thread for hooks before that.
 *
 * Three things that Node alone does not do, for the user's own modules and no others: the bare name `crawlnode` is
 * the copy that runs; TypeScript loads as it is; a `.js` with `import` in it is a module whatever package.json says.
 *
 * A module is the user's when `load-module.ts` imported it, or when a user's module imports it and it does not lie
 * in node_modules. tsx would do half of this at 60 ms more a start, and makes a `.ts` in a CommonJS package a
 * CommonJS module, whose `require('crawlnode')` is a second copy.
 */
import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { compileFunction } from 'node:vm';
import { compileOnce } from './compile-once.js';

/** What the hooks are told at their start. */
export interface HooksData {
  /** The module whose `import()` brings in the user's modules. */
  readonly loader: string;
  /** The entry of the running copy. */
  readonly crawlnode: string;
  /** Where compiled TypeScript is kept; null: nowhere. */
  readonly typescriptFolder: string | null;
}

/** A module that is found. */
interface Resolved {
  readonly url: string;
  readonly format?: string | null | undefined;
  readonly importAttributes?: object | undefined;
  readonly shortCircuit?: boolean | undefined;
}
interface ResolveContext {
  readonly parentURL?: string | undefined;
}

/** A module that is read. */
interface Loaded {
  readonly format: string | null | undefined;
  readonly source?: unknown;
  readonly shortCircuit?: boolean | undefined;
}

let own: HooksData;
const userModules = new Set<string>();

export function initialize(data: HooksData): void {
  own = data;
}

/** `next` gives a promise in the hooks' thread and a value within the process; so does this. */
export function resolve<C extends ResolveContext>(
  specifier: string,
  context: C,
  next: (specifier: string, context: C) => Resolved | Promise<Resolved>,
): Resolved | Promise<Resolved> {
  // From whatever asks, a package in node_modules included: `instanceof` allows no second copy.
  if (specifier === 'crawlnode') return { url: own.crawlnode, format: 'module', shortCircuit: true };
  const parent = context.parentURL;
  if (parent === undefined || (parent !== own.loader && !userModules.has(parent))) {
    return next(specifier, context);
  }
  const isPath = /^(\.{1,2}\/|\/|file:)/.test(specifier);
  const resolved = isPath
    ? next(existingFile(new URL(specifier, parent)), context)
    : next(specifier, contextOfPackage(specifier, parent, context));
  return resolved instanceof Promise
    ? resolved.then((found) => asUsers(found, isPath))
    : asUsers(resolved, isPath);
}

function asUsers(resolved: Resolved, isPath: boolean): Resolved {
  const { url } = resolved;
  if (!url.startsWith('file:')) return resolved;
  if (isPath || !url.includes('/node_modules/')) userModules.add(url);
  // `with { type: 'json' }` is not needed here, and where it is written Node 20 would warn of an experiment.
  return url.endsWith('.json') ? { ...resolved, importAttributes: {} } : resolved;
}

/** As `resolve`, given what is to be read. */
export function load<C extends object>(
  url: string,
  context: C,
  next: (url: string, context: C) => Loaded | Promise<Loaded>,
): Loaded | Promise<Loaded> {
  if (!userModules.has(url)) return next(url, context);
  const file = fileURLToPath(url);
  if (/\.[mc]?tsx?$/.test(file)) return asModule(compileOnce(file, own.typescriptFolder));
  if (file.endsWith('.json')) return asModule(`export default ${readFileSync(file, 'utf8')}`);
  if (!file.endsWith('.js')) return next(url, context);
  const source = readFileSync(file, 'utf8');
  return isCommonJs(source) ? next(url, { ...context, format: 'commonjs' }) : asModule(source);
}

function asModule(source: string): Loaded {
  return { format: 'module', source, shortCircuit: true };
}

/** TypeScript's spellings of a path: `./a` and `./a.js` may both mean a.ts. The URL as it is when no file fits. */
function existingFile(url: URL): string {
  const { href } = url;
  const written = href.replace(/\.([mc]?)js$/, '.$1ts');
  const candidates = [href, written, ...endings.map((ending) => href.replace(/\/$/, '') + ending)];
  return candidates.find((candidate) => isFile(new URL(candidate))) ?? href;
}

const endings = ['.ts', '.js', '.mts', '.mjs', '.tsx', '.json', '/index.ts', '/index.js', '/index.mjs'];

function isFile(url: URL): boolean {
  return statSync(url, { throwIfNoEntry: false })?.isFile() ?? false;
}

/**
 * A package is looked for from the module that asks, as always. Only zod is also taken from crawlnode's own
 * dependencies: item schemas are written with it, and a mounted folder of spiders has no node_modules.
 */
function contextOfPackage<C extends ResolveContext>(specifier: string, parent: string, context: C): C {
  if (specifier !== 'zod' && !specifier.startsWith('zod/')) return context;
  try {
    createRequire(parent).resolve(specifier);
    return context;
  } catch {
    return { ...context, parentURL: own.crawlnode };
  }
}

/** Node's own test (`--experimental-detect-module`, only in later versions): what compiles as CommonJS is CommonJS. */
function isCommonJs(source: string): boolean {
  try {
    compileFunction(source, ['exports', 'require', 'module', '__filename', '__dirname']);
    return true;
  } catch {
    return false;
  }
}
