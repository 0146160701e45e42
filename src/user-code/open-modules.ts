/** Open the modules of a setting in order, and close them in reverse order. */
import type { ErrorCode } from '../error-codes.js';
import { CrawlnodeError, messageOf } from '../errors.js';
import type { CrawlContext } from './crawl-context.js';
import { placeOf } from './where-thrown.js';

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
  /** Of the error that `open` of the modules throws in place of that of one. */
  readonly code: ErrorCode;
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
  { context, kind, code }: OpenModulesOptions,
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
        throw new CrawlnodeError(code, failed('open', each.name, cause), { cause });
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
        context.log.error({ [kind]: name }, failed('close', name, error));
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

/** With the place in the user's code. */
function failed(method: 'open' | 'close', name: string, error: unknown): string {
  return `${method}() of ${name} failed: ${messageOf(error)}${placeOf(error)}`;
}
