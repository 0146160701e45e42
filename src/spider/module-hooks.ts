/**
 * How spider code is resolved and loaded; these run in Node's module-hooks thread (`load-module.ts` registers them).
 *
 * Three things that Node alone does not do, for the user's own modules and no others: the bare name `crawlnode` is
 * the copy that runs; TypeScript loads as it is; a `.js` with `import` in it is a module whatever package.json says.
 *
 * A module is the user's when `load-module.ts` imported it, or when a user's module imports it and it does not lie
 * in node_modules. tsx would do half of this at 60 ms more a start, and makes a `.ts` in a CommonJS package a
 * CommonJS module, whose `require('crawlnode')` is a second copy.
 */
import { readFile, stat } from 'node:fs/promises';
import type { InitializeHook, LoadHook, ResolveHook } from 'node:module';
import { fileURLToPath } from 'node:url';
import { compileFunction } from 'node:vm';
import { compileOnce } from './compile-once.js';

/** What the thread is told when it starts. */
export interface HooksData {
  /** The module whose `import()` brings in the user's modules. */
  readonly loader: string;
  /** The entry of the running copy. */
  readonly crawlnode: string;
  /** Where compiled TypeScript is kept; null: nowhere. */
  readonly cacheFolder: string | null;
}

let own: HooksData;
const userModules = new Set<string>();

export const initialize: InitializeHook<HooksData> = (data) => {
  own = data;
};

export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  // From whatever asks, a package in node_modules included: `instanceof` allows no second copy.
  if (specifier === 'crawlnode') return { url: own.crawlnode, format: 'module', shortCircuit: true };
  const parent = context.parentURL;
  if (parent === undefined || (parent !== own.loader && !userModules.has(parent))) {
    return nextResolve(specifier, context);
  }
  const path = /^(\.{1,2}\/|\/|file:)/.test(specifier);
  const resolved = path
    ? await nextResolve(await existingFile(new URL(specifier, parent)), context)
    : await resolvePackage(specifier, context, nextResolve);
  if (!resolved.url.startsWith('file:')) return resolved;
  if (path || !resolved.url.includes('/node_modules/')) userModules.add(resolved.url);
  // `with { type: 'json' }` is not needed here, and where it is written Node 20 would warn of an experiment.
  return resolved.url.endsWith('.json') ? { ...resolved, importAttributes: {} } : resolved;
};

export const load: LoadHook = async (url, context, nextLoad) => {
  if (!userModules.has(url)) return nextLoad(url, context);
  const file = fileURLToPath(url);
  if (/\.[mc]?tsx?$/.test(file)) return asModule(await compileOnce(file, own.cacheFolder));
  if (file.endsWith('.json')) return asModule(`export default ${await readFile(file, 'utf8')}`);
  if (!file.endsWith('.js')) return nextLoad(url, context);
  const source = await readFile(file, 'utf8');
  return isCommonJs(source) ? nextLoad(url, { ...context, format: 'commonjs' }) : asModule(source);
};

function asModule(source: string) {
  return { format: 'module', source, shortCircuit: true } as const;
}

/** TypeScript's spellings of a path: `./a` and `./a.js` may both mean a.ts. The URL as it is when no file fits. */
async function existingFile(url: URL): Promise<string> {
  const { href } = url;
  const written = href.replace(/\.([mc]?)js$/, '.$1ts');
  const candidates = [href, written, ...endings.map((ending) => href.replace(/\/$/, '') + ending)];
  for (const candidate of new Set(candidates)) {
    const found = await stat(new URL(candidate)).catch(() => null);
    if (found?.isFile()) return candidate;
  }
  return href;
}

const endings = ['.ts', '.js', '.mts', '.mjs', '.tsx', '.json', '/index.ts', '/index.js', '/index.mjs'];

/**
 * A package is looked for from the module that asks, as always. Only zod is also taken from crawlnode's own
 * dependencies: item schemas are written with it, and a mounted folder of spiders has no node_modules.
 */
async function resolvePackage(
  specifier: string,
  context: Parameters<ResolveHook>[1],
  nextResolve: Parameters<ResolveHook>[2],
) {
  try {
    return await nextResolve(specifier, context);
  } catch (error) {
    if (specifier !== 'zod' && !specifier.startsWith('zod/')) throw error;
    return nextResolve(specifier, { ...context, parentURL: own.crawlnode });
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
