/**
 * Module hooks that resolve and load spider code; `load-module.ts` registers them. They run in the main thread where Node
 * has `module.registerHooks`, and in Node's hooks thread in earlier versions.
 *
 * The hooks do three things for the user's own modules that Node alone does not:
 * - The bare specifier `crawlnode` resolves to the running copy.
 * - TypeScript loads without a build step.
 * - A `.js` file with `import` statements is an ES module, whatever its package.json says.
 *
 * A module is the user's own when `load-module.ts` imports it, or when a user's module imports it and it is not in
 * node_modules. tsx was rejected: it starts more slowly, and it loads a `.ts` file in a CommonJS package as CommonJS, whose
 * `require('crawlnode')` loads a second copy.
 */
import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { compileFunction } from 'node:vm';
import { compileCached } from './compile-cached.js';

/** Configuration of the hooks. */
export interface HooksData {
  /** URL of the entry of the running copy. */
  readonly crawlnode: string;
  /** Folder of the cache of compiled TypeScript; null for no cache. */
  readonly typescriptFolder: string | null;
  /** Modules that were loaded before the hooks: the URL of the user's file → that of its compiled file. */
  readonly standalone: ReadonlyMap<string, string>;
}

/** Result of Node's `resolve` hook. */
interface Resolved {
  readonly url: string;
  readonly format?: string | null | undefined;
  readonly importAttributes?: object | undefined;
  readonly shortCircuit?: boolean | undefined;
}
interface ResolveContext {
  readonly parentURL?: string | undefined;
}

/** Result of Node's `load` hook. */
interface Loaded {
  readonly format: string | null | undefined;
  readonly source?: unknown;
  readonly shortCircuit?: boolean | undefined;
}

/** `load-module.ts` imports this and the URL of a user's module. */
export const USER_MODULE = 'crawlnode-user-module:';

let config: HooksData;
const userModules = new Set<string>();

export function initialize(data: HooksData): void {
  config = data;
}

/** Node's `resolve` hook. Returns a promise where `next` does, which is in the hooks thread. */
export function resolve<C extends ResolveContext>(
  specifier: string,
  context: C,
  next: (specifier: string, context: C) => Resolved | Promise<Resolved>,
): Resolved | Promise<Resolved> {
  // For every importer, including packages in node_modules: `instanceof` fails across two copies.
  if (specifier === 'crawlnode') return { url: config.crawlnode, format: 'module', shortCircuit: true };
  const parent = context.parentURL;
  if (specifier.startsWith(USER_MODULE)) {
    return marked(next(specifier.slice(USER_MODULE.length), context), true);
  }
  if (parent === undefined || !userModules.has(parent)) return next(specifier, context);
  const isPath = /^(\.{1,2}\/|\/|file:)/.test(specifier);
  return isPath
    ? marked(next(existingFile(new URL(specifier, parent)), context), true)
    : marked(next(specifier, contextOfPackage(specifier, parent, context)), false);
}

function marked(resolved: Resolved | Promise<Resolved>, isPath: boolean): Resolved | Promise<Resolved> {
  return resolved instanceof Promise
    ? resolved.then((found) => markUserModule(found, isPath))
    : markUserModule(resolved, isPath);
}

function markUserModule(resolved: Resolved, isPath: boolean): Resolved {
  const { url } = resolved;
  const loaded = config.standalone.get(url);
  if (loaded !== undefined) return { url: loaded, format: 'module', shortCircuit: true };
  if (!url.startsWith('file:')) return resolved;
  if (isPath || !url.includes('/node_modules/')) userModules.add(url);
  // JSON needs no `with { type: 'json' }` here. Where it is written, Node 20 would print an experimental warning.
  return url.endsWith('.json') ? { ...resolved, importAttributes: {} } : resolved;
}

/** Node's `load` hook. Returns a promise where `next` does. */
export function load<C extends object>(
  url: string,
  context: C,
  next: (url: string, context: C) => Loaded | Promise<Loaded>,
): Loaded | Promise<Loaded> {
  if (!userModules.has(url)) return next(url, context);
  const file = fileURLToPath(url);
  if (/\.[mc]?tsx?$/.test(file)) return esModule(compileCached(file, config.typescriptFolder));
  if (file.endsWith('.json')) return esModule(`export default ${readFileSync(file, 'utf8')}`);
  if (!file.endsWith('.js')) return next(url, context);
  const source = readFileSync(file, 'utf8');
  return isCommonJs(source) ? next(url, { ...context, format: 'commonjs' }) : esModule(source);
}

function esModule(source: string): Loaded {
  return { format: 'module', source, shortCircuit: true };
}

/** Find the file of an import path as TypeScript does: `./a` and `./a.js` may mean a.ts. Returns the URL unchanged when no file exists. */
function existingFile(url: URL): string {
  const { href } = url;
  const asTypeScript = href.replace(/\.([mc]?)js$/, '.$1ts');
  const candidates = [href, asTypeScript, ...endings.map((ending) => href.replace(/\/$/, '') + ending)];
  return candidates.find((candidate) => isFile(new URL(candidate))) ?? href;
}

const endings = ['.ts', '.js', '.mts', '.mjs', '.tsx', '.json', '/index.ts', '/index.js', '/index.mjs'];

function isFile(url: URL): boolean {
  return statSync(url, { throwIfNoEntry: false })?.isFile() ?? false;
}

/**
 * Packages are resolved from the importing module, as usual. Only zod falls back to crawlnode's own dependency, because
 * item schemas use it and a mounted folder of spiders may have no node_modules.
 */
function contextOfPackage<C extends ResolveContext>(specifier: string, parent: string, context: C): C {
  if (specifier !== 'zod' && !specifier.startsWith('zod/')) return context;
  try {
    createRequire(parent).resolve(specifier);
    return context;
  } catch {
    return { ...context, parentURL: config.crawlnode };
  }
}

/** Detect CommonJS as `--experimental-detect-module` of later Node versions does: source that compiles as CommonJS is CommonJS. */
function isCommonJs(source: string): boolean {
  try {
    compileFunction(source, ['exports', 'require', 'module', '__filename', '__dirname']);
    return true;
  } catch {
    return false;
  }
}
