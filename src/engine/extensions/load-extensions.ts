/** Load the modules that EXTENSIONS names, in the order of their numbers. */
import { CrawlnodeError, messageOf, SettingsError } from '../../errors.js';
import type { CrawlContext } from '../../user-code/crawl-context.js';
import { problemOfMethods } from '../../user-code/module-methods.js';
import { type OpenModules, openModules } from '../../user-code/open-modules.js';
import { inOrder, instantiate, loadProjectModule } from '../../user-code/project-modules.js';
import type { Extension, ExtensionEvents } from './extension.js';

/** An extension, loaded. */
export interface LoadedExtension {
  /** As EXTENSIONS names it, for messages. */
  readonly name: string;
  readonly methods: Extension;
}

/** The extensions of a node. Opening throws CrawlnodeError `extension_error`. */
export interface Extensions extends OpenModules {
  /** By their numbers. */
  readonly all: readonly LoadedExtension[];
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
  const all: LoadedExtension[] = [];
  const from = { ...options, setting: 'EXTENSIONS', folder: 'extensions', builtIn: [] };
  for (const [name] of inOrder(context.settings.EXTENSIONS)) {
    const methods = instantiate(await loadProjectModule(name, from), { setting: from.setting, name });
    const problem = problemOfMethods(methods, expected);
    if (problem !== null)
      throw new SettingsError(`EXTENSIONS names ${name}, whose default export ${problem}.`);
    all.push({ name, methods: methods as Extension });
  }
  if (all.length === 0) return null;
  const failure = (name: string, cause: unknown) =>
    new CrawlnodeError('extension_error', `${name}: open: ${messageOf(cause)}`, { cause });
  return { all, ...openModules(all, { context, kind: 'extension', failure }) };
}
