/** Load the modules that DOWNLOADER_MIDDLEWARES and SPIDER_MIDDLEWARES name, in the order of their numbers. */
import { CrawlnodeError, messageOf, SettingsError } from '../../errors.js';
import { builtInMiddleware, builtInOf, type MiddlewareSetting } from '../../settings/built-in-middleware.js';
import { inOrder, instantiate, loadProjectModule } from '../../user-code/project-modules.js';
import { DownloaderChain } from './downloader-chain.js';
import type { DownloaderMiddleware, Loaded, MiddlewareContext } from './downloader-middleware.js';
import { SpiderChain } from './spider-chain.js';
import type { SpiderMiddleware } from './spider-middleware.js';

/** The middleware of a node. A chain is null where it has no module, so that pages do not pass it. */
export interface Middleware {
  readonly downloader: DownloaderChain | null;
  readonly spider: SpiderChain | null;
  /** Open the modules in order. @throws CrawlnodeError `middleware_error`, after closing those opened before. */
  open(): Promise<void>;
  /** Close the opened modules in reverse order. Errors are only logged. */
  close(): Promise<void>;
}

export interface LoadMiddlewareOptions {
  readonly projectDir: string;
  readonly loadModule: (path: string) => Promise<Record<string, unknown>>;
  /** Its settings name the modules. */
  readonly context: MiddlewareContext;
}

const methodsOf = {
  DOWNLOADER_MIDDLEWARES: ['processRequest', 'processResponse', 'processException'],
  SPIDER_MIDDLEWARES: ['processSpiderInput', 'processSpiderOutput', 'processSpiderException'],
} as const;

/**
 * @returns null when no module is named.
 * @throws SettingsError for a module that does not exist or has none of the methods; SpiderLoadError for one that does not
 *   load.
 */
export async function loadMiddleware(options: LoadMiddlewareOptions): Promise<Middleware | null> {
  const { settings, log } = options.context;
  const downloader = await loadAll<DownloaderMiddleware>('DOWNLOADER_MIDDLEWARES', options);
  const spider = await loadAll<SpiderMiddleware>('SPIDER_MIDDLEWARES', options);
  const all = [...downloader, ...spider];
  if (all.length === 0) return null;
  const opened: Loaded<DownloaderMiddleware | SpiderMiddleware>[] = [];

  async function open(): Promise<void> {
    for (const each of all) {
      try {
        await each.methods.open?.(options.context);
      } catch (cause) {
        await close();
        throw new CrawlnodeError('middleware_error', `${each.name}: open: ${messageOf(cause)}`, { cause });
      }
      opened.push(each);
    }
  }

  async function close(): Promise<void> {
    for (const { name, methods } of opened.splice(0).reverse()) {
      try {
        await methods.close?.();
      } catch (error) {
        log.error({ middleware: name, error: messageOf(error) }, 'a middleware failed to close');
      }
    }
  }

  return {
    downloader: downloader.length === 0 ? null : new DownloaderChain(downloader, settings),
    spider: spider.length === 0 ? null : new SpiderChain(spider, settings.CALLBACK_TIMEOUT * 1_000),
    open,
    close,
  };
}

async function loadAll<M>(setting: MiddlewareSetting, options: LoadMiddlewareOptions): Promise<Loaded<M>[]> {
  const loaded: Loaded<M>[] = [];
  const builtIn = builtInMiddleware[setting].map(({ name }) => name);
  const from = { ...options, setting, folder: 'middlewares', builtIn };
  for (const [name, number] of inOrder(options.context.settings[setting])) {
    if (builtInOf(setting, name) !== undefined) continue;
    const methods = instantiate(await loadProjectModule(name, from));
    const problem = problemOf(methods, setting);
    if (problem !== null)
      throw new SettingsError(`${setting} names ${name}, whose default export ${problem}.`);
    loaded.push({ name, number, methods: methods as M });
  }
  return loaded;
}

function problemOf(methods: unknown, setting: MiddlewareSetting): string | null {
  const names = methodsOf[setting];
  const kind = setting === 'SPIDER_MIDDLEWARES' ? 'spider' : 'downloader';
  if (typeof methods !== 'object' || methods === null) {
    return `is neither a class nor an object: export a class with ${names.join(', ')}, or some of them`;
  }
  const members = methods as Record<string, unknown>;
  for (const name of names) {
    const inScrapy = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (inScrapy in members) return `has ${inScrapy}: call it ${name}`;
    if (members[name] !== undefined && typeof members[name] !== 'function') {
      return `has ${name}, which is no function`;
    }
  }
  if (names.some((name) => name in members)) return null;
  return `is no ${kind} middleware: it has none of ${names.join(', ')}`;
}
