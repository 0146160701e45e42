/** How got is set up: what opens a request and gives the stream of its response. */
import got from 'got';
import type { AgentPair } from './agents.js';
import { acceptedEncodings } from './body/codecs.js';
import type { Client } from './exchange.js';
import { type ForwardingProxy, requestThrough, withoutFrozenOptions } from './native-request.js';

export interface StreamOptions {
  readonly timeoutMs: number;
  readonly dns?: { readonly timeoutMs: number };
  readonly userAgent: string;
  readonly defaultHeaders: Readonly<Record<string, string>>;
}

/** Timeouts of the phases. Each is at most the total timeout. */
const LOOKUP_MS = 60_000;
export const CONNECT_MS = 20_000;
export const TLS_MS = 20_000;
const RESPONSE_MS = 120_000;

/** @param proxy is sent the requests for http pages; null when none is. */
export function openStream(
  options: StreamOptions,
  agents: AgentPair,
  isLenient: boolean,
  proxy: ForwardingProxy | null = null,
): Client['open'] {
  const phase = (ms: number) => Math.min(ms, options.timeoutMs);
  const instance = got.extend({
    request: requestThrough(agents, isLenient, proxy),
    handlers: [withoutFrozenOptions],
    isStream: true,
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    headers: {
      ...options.defaultHeaders,
      // Undefined also leaves out the name of got.
      'user-agent': options.userAgent === '' ? undefined : options.userAgent,
      'accept-encoding': acceptedEncodings,
    },
    timeout: {
      lookup: phase(options.dns?.timeoutMs ?? LOOKUP_MS),
      connect: phase(CONNECT_MS),
      secureConnect: phase(TLS_MS),
      response: phase(RESPONSE_MS),
    },
  });
  // With `isStream` in the defaults every call returns a stream. got's types know this only of `got.stream`, which would
  // merge an options object on every call.
  return instance as unknown as Client['open'];
}
