/** The clients of proxies, each with agents of its own. Those that were not used for the longest time are closed. */
import type { LookupFunction } from 'node:net';
import { type Logger, silentLogger } from '../../log.js';
import type { ProxyAddress } from '../../settings/proxy-url.js';
import type { Agents } from '../agents.js';
import type { Client, SharedByClients } from '../exchange.js';
import { CONNECT_MS, openStream, type StreamOptions, TLS_MS } from '../open-stream.js';
import type { Limits } from '../request-limits.js';
import { proxyAuthorization } from './connect-proxy.js';
import { createProxyAgents } from './proxy-agents.js';

/** Proxies whose connections are kept, beyond those in use. */
const MAX_PROXIES = 64;

export interface ProxyClientOptions extends StreamOptions, Limits {
  readonly ca?: string | Buffer;
  readonly lookup?: LookupFunction;
  readonly log?: Logger;
}

interface Entry {
  readonly agents: Agents;
  readonly clients: Map<'strict' | 'lenient', Client>;
  /** Downloads under way. */
  active: number;
}

export class ProxyClients {
  readonly #options: ProxyClientOptions;
  readonly #shared: SharedByClients;
  /** By the URL of the proxy, in the order of last use. */
  readonly #entries = new Map<string, Entry>();

  constructor(options: ProxyClientOptions, shared: SharedByClients) {
    this.#options = options;
    this.#shared = shared;
  }

  /** The client of a proxy for one download. `release` must be called at its end. */
  take(proxy: ProxyAddress, isLenient: boolean): { client: Client; release: () => void } {
    const entry = this.#entries.get(proxy.url) ?? this.#create(proxy);
    this.#entries.delete(proxy.url);
    this.#entries.set(proxy.url, entry);
    entry.active += 1;
    this.#closeOldest();
    const release = () => {
      entry.active -= 1;
    };
    return { client: this.#clientOf(entry, proxy, isLenient), release };
  }

  close(): void {
    for (const { agents } of this.#entries.values()) agents.close();
  }

  #create(proxy: ProxyAddress): Entry {
    const { timeoutMs, ca, lookup } = this.#options;
    const agents = createProxyAgents(proxy, {
      // Shares of the whole time, so that a slow proxy leaves time for another one.
      connectMs: Math.min(CONNECT_MS, timeoutMs / 3),
      tunnelMs: Math.min(CONNECT_MS, timeoutMs / 2),
      tlsMs: Math.min(TLS_MS, timeoutMs),
      ...(ca && { ca }),
      ...(lookup && { lookup }),
    });
    return { agents, clients: new Map(), active: 0 };
  }

  #clientOf({ agents, clients }: Entry, proxy: ProxyAddress, isLenient: boolean): Client {
    const mode = isLenient ? 'lenient' : 'strict';
    const options = this.#options;
    const { host, port, label } = proxy;
    const isForwarding = proxy.protocol !== 'socks5';
    const forwarding = isForwarding ? { host, port, authorization: proxyAuthorization(proxy) } : null;
    const client = clients.get(mode) ?? {
      open: openStream(options, isLenient ? agents.unpooled : agents, isLenient, forwarding),
      agents,
      forwardingProxy: isForwarding ? label : null,
      limits: options,
      ...this.#shared,
      log: options.log ?? silentLogger,
    };
    clients.set(mode, client);
    return client;
  }

  #closeOldest(): void {
    for (const [url, { agents, active }] of this.#entries) {
      if (this.#entries.size <= MAX_PROXIES) return;
      if (active > 0) continue;
      this.#entries.delete(url);
      agents.close();
    }
  }
}
