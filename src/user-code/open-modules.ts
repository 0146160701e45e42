/** Open the modules of a setting in order, and close them in reverse order. */
import { messageOf } from '../errors.js';
import type { CrawlContext } from './crawl-context.js';

/** A module that is opened before the first page of a node and closed after its last. */
export interface OpenedModule {
  /** As the setting names it, for messages. */
  readonly name: string;
  readonly methods: {
    /** Completes "which waits for …": what `open` waits for, where that is known. */
    readonly awaits?: string | null;
    open?(context: CrawlContext): unknown;
    close?(): unknown;
  };
}

export interface OpenModulesOptions {
  readonly context: CrawlContext;
  /** For the log, such as `pipeline`. */
  readonly kind: 'extension' | 'middleware' | 'pipeline';
  /** What `open` of the modules throws in place of the error of one. */
  readonly failure: (name: string, cause: unknown) => Error;
}

/** The modules of a setting as a whole. */
export interface OpenModules {
  /** The module that is being opened, with what it waits for where that is known; null while none is. */
  readonly opening: () => string | null;
  /** Open them in order. @throws the failure of one, after closing those opened before. */
  open(): Promise<void>;
  /** Close the opened ones in reverse order. Errors are only logged. */
  close(): Promise<void>;
}

export function openModules(
  modules: readonly OpenedModule[],
  { context, kind, failure }: OpenModulesOptions,
): OpenModules {
  const opened: OpenedModule[] = [];
  let current: OpenedModule | null = null;

  async function open(): Promise<void> {
    for (const each of modules) {
      current = each;
      try {
        await each.methods.open?.(context);
      } catch (cause) {
        await close();
        throw failure(each.name, cause);
      } finally {
        current = null;
      }
      opened.push(each);
    }
  }

  async function close(): Promise<void> {
    for (const { name, methods } of opened.splice(0).reverse()) {
      try {
        await methods.close?.();
      } catch (error) {
        context.log.error({ [kind]: name, error: messageOf(error) }, `close() of ${name} failed`);
      }
    }
  }

  function opening(): string | null {
    if (current === null) return null;
    const { name, methods } = current;
    return methods.awaits ? `${name}, which waits for ${methods.awaits}` : name;
  }

  return { open, close, opening };
}
