/** Load the modules that EXTENSIONS names, in the order of their numbers. */
import type { CrawlContext } from '../../user-code/crawl-context.js';
import { type Loaded, loadNumbered } from '../../user-code/numbered-modules.js';
import { type OpenModules, openModules } from '../../user-code/open-modules.js';
import type { Extension, ExtensionEvents } from './extension.js';

/** The extensions of a node. Opening throws CrawlnodeError `extension_error`. */
export interface Extensions extends OpenModules {
  /** By their numbers. */
  readonly all: readonly Loaded<Extension>[];
}

export interface LoadExtensionsOptions {
  readonly projectDir: string;
  readonly loadModule: (path: string) => Promise<Record<string, unknown>>;
  /** Its settings name the modules. */
  readonly context: CrawlContext;
}

const eventNames: readonly (keyof ExtensionEvents)[] = [
  ...(['spiderOpened', 'spiderIdle', 'spiderClosed', 'spiderError', 'responseReceived'] as const),
  ...(['requestDropped', 'itemScraped', 'itemDropped', 'itemError'] as const),
];
const expected = { kind: 'extension', names: ['open', 'close', ...eventNames] };

/**
 * @returns null when no module is named.
 * @throws SettingsError for a module that does not exist or is no extension; SpiderLoadError for one that does not load.
 */
export async function loadExtensions(options: LoadExtensionsOptions): Promise<Extensions | null> {
  const { context } = options;
  const from = { ...options, setting: 'EXTENSIONS', folder: 'extensions', builtIn: [] };
  const all = await loadNumbered<Extension>(context.settings.EXTENSIONS, expected, from);
  if (all.length === 0) return null;
  return { all, ...openModules(all, { context, kind: 'extension', code: 'extension_error' }) };
}
