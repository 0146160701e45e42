/** REQUEST_MODULE: a module that gives the requests of a crawl their identity, their order, or both. */
import { createHash } from 'node:crypto';
import { InvalidRequestError, messageOf } from '../../errors.js';
import { MAX_PRIORITY, MIN_PRIORITY } from './priority.js';
import type { Request } from './request.js';

/**
 * What the module of REQUEST_MODULE exports by default: an object, or a class with these members. All nodes of a crawl must have
 * the same module. It must give the same request the same answer at any time.
 */
export interface RequestModule {
  /**
   * The version of the rules, `[A-Za-z0-9._-]{1,64}`. It is part of the crawl: a node whose module has another `id` is refused
   * (exit 3). Change it whenever the module answers otherwise than before.
   */
  readonly id: string;
  /**
   * What makes a request the same as another. A text is hashed (SHA-1), but 40 hex digits are the fingerprint itself, as 20
   * bytes are. It takes the place of REQUEST_FINGERPRINTER; a spider's own `fingerprint` goes before it.
   */
  fingerprint?(request: Request): string | Uint8Array;
  /**
   * The priority of a request when it is accepted: an integer within ±2³¹, higher first. `request.priority` is what the spider gave,
   * after DEPTH_PRIORITY and REDIRECT_PRIORITY_ADJUST. Retries change it by RETRY_PRIORITY_ADJUST.
   * @param place `depth` is the number of links from a start request
   */
  priority?(request: Request, place: { readonly depth: number }): number;
}

/** The module as the crawl uses it, with checked results. */
export class LoadedRequestModule {
  /** As the setting names it, for messages. */
  readonly name: string;
  readonly id: string;
  /** 40 hex digits; null when the module does not define the identity. @throws InvalidRequestError `request_module` */
  readonly fingerprint: ((request: Request) => string) | null;
  /** Null when the module does not define the order. @throws InvalidRequestError `request_module` */
  readonly priority: ((request: Request, depth: number) => number) | null;

  constructor(name: string, module: RequestModule) {
    this.name = name;
    this.id = module.id;
    this.fingerprint =
      module.fingerprint === undefined ? null : (request) => fingerprintOf(module, name, request);
    this.priority =
      module.priority === undefined ? null : (request, depth) => priorityOf(module, name, request, depth);
  }

  /** In output it stands as in the settings. */
  toJSON(): string {
    return this.name;
  }
}

/** Whether an error comes from such a module. It concerns one request, not the page with its link. */
export function isRequestModuleError(error: unknown): error is InvalidRequestError {
  return error instanceof InvalidRequestError && error.code === 'request_module';
}

function fingerprintOf(module: RequestModule, name: string, request: Request): string {
  const given = call('fingerprint', name, () => module.fingerprint?.(request));
  if (typeof given === 'string' && given !== '') {
    return /^[0-9a-f]{40}$/i.test(given)
      ? given.toLowerCase()
      : createHash('sha1').update(given).digest('hex');
  }
  if (given instanceof Uint8Array && given.length === 20) return Buffer.from(given).toString('hex');
  throw nonsense('fingerprint', name, given, 'a text that is not empty, or 20 bytes');
}

function priorityOf(module: RequestModule, name: string, request: Request, depth: number): number {
  const given = call('priority', name, () => module.priority?.(request, { depth }));
  const isPriority =
    Number.isInteger(given) && Number(given) >= MIN_PRIORITY && Number(given) <= MAX_PRIORITY;
  // Without -0, which JSON does not keep.
  if (isPriority) return Number(given) + 0;
  throw nonsense('priority', name, given, `a whole number from ${MIN_PRIORITY} to ${MAX_PRIORITY}`);
}

function call(method: string, name: string, run: () => unknown): unknown {
  try {
    return run();
  } catch (cause) {
    throw new InvalidRequestError(`${method}() of ${name} threw an error: ${messageOf(cause)}`, {
      code: 'request_module',
      cause,
    });
  }
}

function nonsense(method: string, name: string, given: unknown, expected: string): InvalidRequestError {
  // Nothing awaits this promise, so its rejection must be handled here.
  if (given instanceof Promise) given.catch(() => {});
  return new InvalidRequestError(`${method}() of ${name} gave ${inWords(given)}; it must give ${expected}`, {
    code: 'request_module',
  });
}

function inWords(given: unknown): string {
  if (given instanceof Uint8Array) return `${given.length} bytes`;
  if (given instanceof Promise) return 'a promise';
  if (typeof given === 'object' && given !== null) return 'an object';
  return typeof given === 'string' ? JSON.stringify(given) : String(given);
}
