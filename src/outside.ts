/**
 * What has to be an ES module in its own place, and so stays outside of the executable's bundle: V8's code cache keeps
 * neither `import()` nor `import.meta` (`executable/load-bundle.ts`). The bundle is given these by whoever loads it.
 */

/** The folder this copy of crawlnode runs from, src/ or dist/. */
export const ownFolder = new URL('.', import.meta.url);

/** Whether that is src/: a loader of TypeScript is at work then, tsx or vitest. */
export const isSource = import.meta.url.endsWith('.ts');

/** The module that spiders know as `crawlnode`. */
export const entry = new URL(isSource ? 'index.ts' : 'index.js', ownFolder);

/** The heartbeat's thread. */
export const heartbeatThread = new URL(`engine/heartbeat-thread.${isSource ? 'ts' : 'js'}`, ownFolder);

/** What teaches a thread TypeScript. */
export const typescriptLoader = () => import.meta.resolve('tsx/esm/api');

/** Where compiled code may be kept between runs: nowhere but by the executable. */
export const cacheFolder: string | null = null;

/** The module whose `import()` brings in the user's: this one. */
export const importer = import.meta.url;

/** @param href - a `file:` URL */
export function importModule(href: string): Promise<Record<string, unknown>> {
  return import(/* @vite-ignore */ href);
}
