/** Load the modules that DOWNLOADER_MIDDLEWARES and SPIDER_MIDDLEWARES name, in the order of their numbers. */
import { builtInMiddleware, builtInOf, type MiddlewareSetting } from '../../settings/built-in-middleware.js';
import type { CrawlContext } from '../../user-code/crawl-context.js';
import type { ExpectedMethods } from '../../user-code/module-methods.js';
import { type Loaded, loadNumbered } from '../../user-code/numbered-modules.js';
import { type OpenModules, openModules } from '../../user-code/open-modules.js';
import type { DownloaderChain } from './downloader-chain.js';
import type { DownloaderMiddleware } from './downloader-middleware.js';
import type { SpiderChain } from './spider-chain.js';
import type { SpiderMiddleware } from './spider-middleware.js';

/**
 * The middleware of a node. A chain without modules is null, and pages skip it. Opening throws CrawlnodeError
 * `middleware_error`.
 */
export interface Middleware extends OpenModules {
  readonly downloader: DownloaderChain | null;
  readonly spider: SpiderChain | null;
}

export interface LoadMiddlewareOptions {
  readonly projectDir: string;
  readonly loadModule: (path: string) => Promise<Record<string, unknown>>;
  /** Its settings name the modules. */
  readonly context: CrawlContext;
}

const expected: Readonly<Record<MiddlewareSetting, ExpectedMethods>> = {
  DOWNLOADER_MIDDLEWARES: {
    kind: 'downloader middleware',
    names: ['processRequest', 'processResponse', 'processException'],
  },
  SPIDER_MIDDLEWARES: {
    kind: 'spider middleware',
    names: ['processSpiderInput', 'processSpiderOutput', 'processSpiderException'],
  },
};

/**
 * @returns null when no module is named.
 * @throws SettingsError for a module that does not exist or has none of the methods; SpiderLoadError for one that does not
 *   load.
 */
export async function loadMiddleware(options: LoadMiddlewareOptions): Promise<Middleware | null> {
  const { context } = options;
  const { settings } = context;
  const downloader = await loadAll<DownloaderMiddleware>('DOWNLOADER_MIDDLEWARES', options);
  const spider = await loadAll<SpiderMiddleware>('SPIDER_MIDDLEWARES', options);
  const all = [...downloader, ...spider];
  if (all.length === 0) return null;
  const { DownloaderChain } = await import('./downloader-chain.js');
  const { SpiderChain } = await import('./spider-chain.js');
  return {
    downloader: downloader.length === 0 ? null : new DownloaderChain(downloader, settings),
    spider: spider.length === 0 ? null : new SpiderChain(spider, settings.CALLBACK_TIMEOUT * 1_000),
    ...openModules(all, { context, kind: 'middleware', code: 'middleware_error' }),
  };
}

function loadAll<M>(setting: MiddlewareSetting, options: LoadMiddlewareOptions): Promise<Loaded<M>[]> {
  const builtIn = builtInMiddleware[setting].map(({ name }) => name);
  const from = { ...options, setting, folder: 'middlewares', builtIn };
  const isBuiltIn = (name: string) => builtInOf(setting, name) !== undefined;
  return loadNumbered(options.context.settings[setting], expected[setting], from, isBuiltIn);
}
