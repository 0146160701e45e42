/** Load the modules that EXTENSIONS names, in the order of their numbers. */
import { CrawlnodeError, messageOf, SettingsError } from '../../errors.js';
import { inOrder, instantiate, loadProjectModule } from '../../user-code/project-modules.js';
import type { Extension, ExtensionContext, ExtensionEvents } from './extension.js';

/** An extension, loaded. */
export interface LoadedExtension {
  /** As EXTENSIONS names it, for messages. */
  readonly name: string;
  readonly methods: Extension;
}

/** The extensions of a node. */
export interface Extensions {
  /** By their numbers. */
  readonly all: readonly LoadedExtension[];
  /** Open them in order. @throws CrawlnodeError `extension_error`, after closing those opened before. */
  open(): Promise<void>;
  /** Close the opened ones in reverse order. Errors are only logged. */
  close(): Promise<void>;
}

export interface LoadExtensionsOptions {
  readonly projectDir: string;
  readonly loadModule: (path: string) => Promise<Record<string, unknown>>;
  /** Its settings name the modules. */
  readonly context: ExtensionContext;
}

const eventNames: readonly (keyof ExtensionEvents)[] = [
  ...(['spiderOpened', 'spiderIdle', 'spiderClosed', 'spiderError', 'responseReceived'] as const),
  ...(['requestDropped', 'itemScraped', 'itemDropped', 'itemError'] as const),
];
const methodNames = new Set<string>(['open', 'close', ...eventNames]);

/**
 * @returns null when no module is named.
 * @throws SettingsError for a module that does not exist or is no extension; SpiderLoadError for one that does not load.
 */
export async function loadExtensions(options: LoadExtensionsOptions): Promise<Extensions | null> {
  const { context } = options;
  const all: LoadedExtension[] = [];
  const from = { ...options, setting: 'EXTENSIONS', folder: 'extensions', builtIn: [] };
  for (const [name] of inOrder(context.settings.EXTENSIONS)) {
    const methods = instantiate(await loadProjectModule(name, from));
    const problem = problemOf(methods);
    if (problem !== null)
      throw new SettingsError(`EXTENSIONS names ${name}, whose default export ${problem}.`);
    all.push({ name, methods: methods as Extension });
  }
  if (all.length === 0) return null;
  const opened: LoadedExtension[] = [];

  async function open(): Promise<void> {
    for (const each of all) {
      try {
        await each.methods.open?.(context);
      } catch (cause) {
        await close();
        throw new CrawlnodeError('extension_error', `${each.name}: open: ${messageOf(cause)}`, { cause });
      }
      opened.push(each);
    }
  }

  async function close(): Promise<void> {
    for (const { name, methods } of opened.splice(0).reverse()) {
      try {
        await methods.close?.();
      } catch (error) {
        context.log.error({ extension: name, error: messageOf(error) }, 'an extension failed to close');
      }
    }
  }

  return { all, open, close };
}

function problemOf(methods: unknown): string | null {
  if (typeof methods !== 'object' || methods === null) {
    return `is neither a class nor an object: export a class with ${eventNames.join(', ')}, or some of them`;
  }
  const members = methods as Record<string, unknown>;
  for (const name of methodNames) {
    const inScrapy = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (inScrapy !== name && inScrapy in members) return `has ${inScrapy}: call it ${name}`;
    if (members[name] !== undefined && typeof members[name] !== 'function') {
      return `has ${name}, which is no function`;
    }
  }
  if ([...methodNames].some((name) => name in members)) return null;
  return `is no extension: it has none of ${[...methodNames].join(', ')}`;
}
