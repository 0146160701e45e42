/**
 * The modules of DOWNLOADER_MIDDLEWARES, in layers around the downloader. Requests pass them by ascending numbers,
 * responses and errors by descending ones, as in Scrapy. A call runs only some of the modules, since the built-in retries
 * and redirects have a number among them.
 */
import { messageOf } from '../../errors.js';
import { checkChanges, type OutgoingRequest, setDefaultHeader } from '../../http/message/outgoing-request.js';
import { Request } from '../../http/message/request.js';
import { Response } from '../../http/message/response.js';
import { DEFAULT_HEADERS, USER_AGENT } from '../../settings/built-in-middleware.js';
import { maskUrls } from '../../settings/mask-urls.js';
import type { Settings } from '../../settings/schema.js';
import type { Spider } from '../../spider/spider.js';
import { withinTimeout } from '../../user-code/callback-timeout.js';
import type { Loaded } from '../../user-code/numbered-modules.js';
import { describeError, placeOf } from '../../user-code/where-thrown.js';
import type { DownloaderMiddleware } from './downloader-middleware.js';

/** What a pass through the modules led to. */
export type Step =
  /** No module took the request or error: it goes on. */
  | { readonly kind: 'pass' }
  | { readonly kind: 'response'; readonly response: Response }
  /** A module wants another request crawled. */
  | { readonly kind: 'request'; readonly request: Request; readonly by: string }
  /** A module threw. */
  | { readonly kind: 'thrown'; readonly thrown: Thrown };

/** An error of a module. */
export interface Thrown {
  readonly error: Error;
  readonly by: string;
  /** A sentence with the module, the method and the line of the error. */
  readonly message: string;
}

/** The modules from one number (included) to another (excluded). */
export interface Part {
  readonly from: number;
  readonly below: number;
}

type Method = 'processRequest' | 'processResponse' | 'processException';

const pass: Step = { kind: 'pass' };

export class DownloaderChain {
  /** The Cookie of DEFAULT_REQUEST_HEADERS, for a request that has no other cookie; null for none. */
  readonly defaultCookie: string | null;
  readonly #modules: readonly Loaded<DownloaderMiddleware>[];
  readonly #timeoutMs: number;

  /** @param modules by ascending numbers. @param settings for the headers that are added between them, and the time of a call. */
  constructor(modules: readonly Loaded<DownloaderMiddleware>[], settings: ChainSettings) {
    this.defaultCookie = cookieIn(settings.DEFAULT_REQUEST_HEADERS);
    this.#timeoutMs = settings.CALLBACK_TIMEOUT * 1_000;
    this.#modules = [...headerModules(settings), ...modules].sort((a, b) => a.number - b.number);
  }

  /** Run every `processRequest` of a part. */
  async request(request: OutgoingRequest, spider: Spider, part: Part): Promise<Step> {
    for (const { name, methods } of this.#in(part, 'processRequest')) {
      const call = () => methods.processRequest!(request, spider);
      const step = await this.#step(name, 'processRequest', request, call);
      if (step.kind !== 'pass') return step;
    }
    return pass;
  }

  /** Run every `processResponse` of a part. @returns never `pass` */
  async response(
    request: OutgoingRequest,
    given: Response,
    spider: Spider,
    part: Part,
  ): Promise<Exclude<Step, { kind: 'pass' }>> {
    let response = given;
    for (const { name, methods } of this.#in(part, 'processResponse').reverse()) {
      const call = () => methods.processResponse!(request, response, spider);
      const step = await this.#step(name, 'processResponse', request, call);
      if (step.kind === 'response') response = step.response;
      else if (step.kind !== 'pass') return step;
    }
    return { kind: 'response', response };
  }

  /** Run every `processException` of a part, until one takes the error. */
  async exception(request: OutgoingRequest, error: Error, spider: Spider, part: Part): Promise<Step> {
    for (const { name, methods } of this.#in(part, 'processException').reverse()) {
      const call = () => methods.processException!(request, error, spider);
      const step = await this.#step(name, 'processException', request, call);
      if (step.kind !== 'pass') return step;
    }
    return pass;
  }

  /** The modules of a part that have a method, by ascending numbers. */
  #in({ from, below }: Part, method: Method): Loaded<DownloaderMiddleware>[] {
    return this.#modules.filter(
      ({ number, methods }) => number >= from && number < below && methods[method] !== undefined,
    );
  }

  /** Call a method of a module, and check what it returned, and what it changed of a request that goes out. */
  async #step(by: string, method: Method, request: OutgoingRequest, call: () => unknown): Promise<Step> {
    try {
      const step = stepOf(await withinTimeout(call(), this.#timeoutMs), by, method);
      if (step.kind === 'pass' && method === 'processRequest') checkChanges(request);
      return step;
    } catch (error) {
      return thrownBy(by, method, request, error);
    }
  }
}

/** The settings of a chain. */
export type ChainSettings = Pick<Settings, 'DEFAULT_REQUEST_HEADERS' | 'USER_AGENT' | 'CALLBACK_TIMEOUT'>;

function cookieIn(headers: Settings['DEFAULT_REQUEST_HEADERS']): string | null {
  return Object.entries(headers).find(([name]) => isCookie(name))?.[1] ?? null;
}

const isCookie = (name: string): boolean => name.toLowerCase() === 'cookie';

/**
 * Add the headers of the settings, so that modules with higher numbers see them; the downloader would add them later
 * anyway. They come before modules with the same number, as in Scrapy. A Cookie header is added only after the cookies of
 * the jar.
 */
function headerModules(settings: ChainSettings): Loaded<DownloaderMiddleware>[] {
  const headers = Object.entries(settings.DEFAULT_REQUEST_HEADERS).filter(([name]) => !isCookie(name));
  const addDefaults = (request: OutgoingRequest): undefined => {
    for (const [name, value] of headers) if (value !== null) setDefaultHeader(request, name, value);
  };
  const addUserAgent = (request: OutgoingRequest): undefined => {
    if (settings.USER_AGENT !== '') setDefaultHeader(request, 'User-Agent', settings.USER_AGENT);
  };
  return [
    { name: 'DefaultHeadersMiddleware', number: DEFAULT_HEADERS, methods: { processRequest: addDefaults } },
    { name: 'UserAgentMiddleware', number: USER_AGENT, methods: { processRequest: addUserAgent } },
  ];
}

/** @throws TypeError for a value of another type, or for none where there must be one. */
function stepOf(returned: unknown, by: string, method: Method): Step {
  const mustReturn = method === 'processResponse';
  if (returned instanceof Response) return { kind: 'response', response: returned };
  if (returned instanceof Request) return { kind: 'request', request: returned, by };
  if (returned !== undefined && returned !== null) {
    const expected = `${mustReturn ? '' : 'nothing, '}a Response or a Request`;
    throw new TypeError(`it returned a value of type ${typeof returned}; return ${expected}`);
  }
  if (mustReturn) throw new TypeError('it returned nothing; return the response');
  return pass;
}

function thrownBy(
  by: string,
  method: Method,
  { url }: Request,
  error: unknown,
): Extract<Step, { kind: 'thrown' }> {
  // The message is logged and stored, and a URL in it may contain a password.
  const message = maskUrls(`${by}: ${method} failed on ${url}: ${describeError(error)}${placeOf(error)}`);
  return {
    kind: 'thrown',
    thrown: { by, message, error: error instanceof Error ? error : new Error(messageOf(error)) },
  };
}
