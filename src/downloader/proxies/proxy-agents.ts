/**
 * The HTTP agents of one proxy. Requests for https pages, and all requests of a SOCKS proxy, go through tunnels, which are
 * pooled like direct connections. Requests for http pages are sent to an HTTP proxy itself, which forwards them.
 */
import { setMaxListeners } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isPrivateHost } from '../../http/url/private-hosts.js';
import type { ProxyAddress } from '../../settings/proxy-url.js';
import { type AgentPair, type Agents, keepIdleBounded } from '../agents.js';
import { DownloadError } from '../download-error.js';
import { connectToProxy, openTunnel, type ProxyConnectOptions } from './connect-proxy.js';

/** Idle connections of one proxy over all sites. */
const MAX_IDLE = 32;

export interface ProxyAgentsOptions extends Omit<ProxyConnectOptions, 'signal'> {
  /** Longest TLS handshake with the site. */
  readonly tlsMs: number;
}

/** `maxSockets` is not limited: all requests of a forwarding proxy are to one host, also stalled ones. The node has its own limit. */
export function createProxyAgents(proxy: ProxyAddress, options: ProxyAgentsOptions): Agents {
  const closing = new AbortController();
  // Each connection under way listens, and Node warns from the eleventh listener on.
  setMaxListeners(0, closing.signal);
  const connecting = { ...options, signal: closing.signal };
  const isForwarding = proxy.protocol !== 'socks5';
  const secure = { rejectUnauthorized: true, ...(options.ca ? { ca: options.ca } : {}) };
  const pairOf = (more: http.AgentOptions): AgentPair => {
    const pair = { http: new http.Agent(more), https: new https.Agent({ ...secure, ...more }) };
    connectBy(pair.http, async (options) => {
      const socket = await connectToProxy(proxy, connecting);
      if (!isForwarding) await openTunnel(socket, proxy, targetOf(options), connecting);
      return socket;
    });
    const startTls = hooksOf(pair.https).createConnection.bind(pair.https);
    connectBy(pair.https, async (target) => {
      const socket = await connectToProxy(proxy, connecting);
      await openTunnel(socket, proxy, targetOf(target), connecting);
      return withTimeout(startTls({ ...target, socket }, () => {})!, options.tlsMs);
    });
    return pair;
  };
  const pooled = pairOf({ keepAlive: true, maxFreeSockets: MAX_IDLE });
  const unpooled = pairOf({ keepAlive: false });
  const sweeper = keepIdleBounded(pooled, MAX_IDLE);
  return {
    ...pooled,
    unpooled,
    // What a name means to the proxy is not known here, so only a URL that is a private address counts.
    isToPrivateAddress: (_socket, url) => isPrivateHost(url),
    dropIdle(hostAndPort) {
      for (const agent of [pooled.http, pooled.https]) {
        for (const [name, sockets] of Object.entries(agent.freeSockets)) {
          const isItsOwn = name.startsWith(`${hostAndPort}:`) || (isForwarding && agent === pooled.http);
          if (isItsOwn) for (const socket of [...(sockets ?? [])]) socket.destroy();
        }
      }
    },
    close() {
      clearInterval(sweeper);
      closing.abort();
      for (const agent of [pooled.http, pooled.https, unpooled.http, unpooled.https]) agent.destroy();
    },
  };
}

interface ConnectionOptions {
  readonly host?: string | null;
  readonly port?: number | string | null;
  readonly socket?: Socket;
}

/** A hook that Node documents for agents; `@types/node` has it with narrower types. */
interface AgentHooks {
  createConnection(
    options: ConnectionOptions,
    done: (error: Error | null, socket?: Duplex) => void,
  ): Socket | undefined;
}

function hooksOf(agent: http.Agent): AgentHooks {
  return agent as unknown as AgentHooks;
}

function connectBy(agent: http.Agent, connect: (options: ConnectionOptions) => Promise<Socket>): void {
  hooksOf(agent).createConnection = (options, done) => {
    connect(options).then(
      (socket) => done(null, socket),
      (error: Error) => done(error),
    );
    return undefined;
  };
}

function targetOf({ host, port }: ConnectionOptions): { host: string; port: number } {
  return { host: host ?? '', port: Number(port) };
}

/** got times the handshake of direct connections only. */
function withTimeout(socket: Socket, ms: number): Socket {
  const late = new DownloadError('timeout', `timed out in the phase "secureConnect" after ${ms / 1000} s`);
  const timer = setTimeout(() => socket.destroy(late), ms);
  const clear = () => clearTimeout(timer);
  socket.once('secureConnect', clear);
  socket.once('close', clear);
  return socket;
}
