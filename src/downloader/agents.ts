/**
 * The HTTP agents of one node. They check the address of each connection and bound the number and age of idle
 * connections. Each reach has its own agents, so that a request never reuses a connection to an address it may not reach.
 */
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isPrivateAddress } from '../http/url/private-hosts.js';
import { type Reach, reachableLookup, refusalOf } from './private-addresses.js';

/** Servers commonly close idle connections after 5 to 75 s. Closing them first avoids most resets on reuse. */
const IDLE_MS = 15_000;
const SWEEP_MS = 5_000;
/**
 * Idle connections over all hosts, at about 10 KB each. A crawl of a hundred hosts needs that many: with fewer it opens a
 * new connection for most pages.
 */
const MAX_IDLE = 256;

export interface AgentPair {
  readonly http: http.Agent;
  readonly https: https.Agent;
}

export interface Agents extends AgentPair {
  /** These use a new connection for each request, so that bytes after a malformed response cannot reach another request. */
  readonly unpooled: AgentPair;
  /** Whether a page came from a private address. @param socket of these agents. */
  isToPrivateAddress(socket: Duplex, url: string): boolean;
  /** Close the idle connections of one host, after one of them failed. */
  dropIdle(hostAndPort: string): void;
  close(): void;
}

export interface AgentsOptions {
  readonly maxSockets: number;
  readonly reach: Reach;
  /** A certificate authority to trust instead of Node's, PEM. */
  readonly ca?: string | Buffer;
  /** Resolves host names in place of `dns.lookup`. */
  readonly lookup?: LookupFunction;
}

/**
 * `maxSockets` bounds the connections to one host. Twice as many (at least `MAX_IDLE`) may idle over all hosts. Node
 * itself bounds idle sockets per host only, so a broad crawl would accumulate them. Node's `maxTotalSockets` is not used:
 * with it, idle sockets of other hosts block a new connection.
 */
export function createAgents(options: AgentsOptions): Agents {
  const { maxSockets, reach } = options;
  const shared = { maxSockets, lookup: reachableLookup(reach, options.lookup) };
  // Certificates are checked, whatever NODE_TLS_REJECT_UNAUTHORIZED says.
  const secure = { rejectUnauthorized: true, ...(options.ca ? { ca: options.ca } : {}) };
  const privateSockets = new WeakSet<Duplex>();
  const pairOf = (more: http.AgentOptions): AgentPair => {
    const pair = {
      http: new http.Agent({ ...shared, ...more }),
      https: new https.Agent({ ...shared, ...secure, ...more }),
    };
    for (const agent of [pair.http, pair.https]) guardAddresses(agent, reach, privateSockets);
    return pair;
  };
  const agents = pairOf({ keepAlive: true, maxFreeSockets: maxSockets });
  const unpooled = pairOf({ keepAlive: false });
  const sweeper = keepIdleBounded(agents, Math.max(MAX_IDLE, 2 * maxSockets));
  return {
    ...agents,
    unpooled,
    isToPrivateAddress: (socket) => privateSockets.has(socket),
    dropIdle(hostAndPort) {
      for (const agent of [agents.http, agents.https]) {
        for (const [name, sockets] of Object.entries(agent.freeSockets)) {
          if (name.startsWith(`${hostAndPort}:`)) for (const socket of [...(sockets ?? [])]) socket.destroy();
        }
      }
    },
    close() {
      clearInterval(sweeper);
      for (const agent of [agents.http, agents.https, unpooled.http, unpooled.https]) agent.destroy();
    },
  };
}

/** Bound the number and the age of the idle connections of two agents together. @returns the interval, to be cleared. */
export function keepIdleBounded(agents: AgentPair, maxIdle: number): NodeJS.Timeout {
  const idle = new Map<Duplex, number>();
  guardIdle(agents.http, idle, maxIdle);
  guardIdle(agents.https, idle, maxIdle);
  return setInterval(() => sweep(idle, Date.now() - IDLE_MS), SWEEP_MS).unref();
}

/** The hooks that Node documents for agents; `@types/node` lacks some of them. */
interface AgentHooks {
  createConnection(
    options: { readonly host?: string },
    done: (error: Error | null, socket?: Duplex) => void,
  ): Socket | undefined;
  keepSocketAlive(socket: Duplex): boolean;
  reuseSocket(socket: Duplex, request: http.ClientRequest): void;
}

/** Checks the address before connecting, since an IP address in place of a host name is not looked up, and afterwards. */
function guardAddresses(agent: http.Agent, reach: Reach, privateSockets: WeakSet<Duplex>): void {
  const hooks = agent as unknown as AgentHooks;
  const connect = hooks.createConnection.bind(agent);
  hooks.createConnection = (options, done) => {
    const { host = '' } = options;
    const refusal = isIP(host) === 0 ? null : refusalOf(host, reach);
    if (refusal !== null) {
      done(refusal);
      return undefined;
    }
    const socket = connect(options, done);
    socket?.once('connect', () => {
      const address = socket.remoteAddress ?? '';
      if (isPrivateAddress(address)) privateSockets.add(socket);
      const late = refusalOf(address, reach);
      if (late !== null) socket.destroy(late);
    });
    return socket;
  };
}

function guardIdle(agent: http.Agent, idle: Map<Duplex, number>, maxIdle: number): void {
  const hooks = agent as unknown as AgentHooks;
  const keep = hooks.keepSocketAlive.bind(agent);
  const reuse = hooks.reuseSocket.bind(agent);
  hooks.keepSocketAlive = (socket) => {
    if (!keep(socket)) return false;
    // Unsolicited bytes from the server would be read as the response to the next request.
    socket.on('data', destroyThis);
    idle.set(socket, Date.now());
    if (idle.size > maxIdle) dropOldest(idle);
    return true;
  };
  hooks.reuseSocket = (socket, request) => {
    socket.removeListener('data', destroyThis);
    idle.delete(socket);
    reuse(socket, request);
  };
}

function destroyThis(this: Duplex): void {
  this.destroy();
}

function dropOldest(idle: Map<Duplex, number>): void {
  const [oldest] = idle.keys();
  if (oldest === undefined) return;
  idle.delete(oldest);
  oldest.destroy();
}

/** The map is in the order in which the sockets became idle, so the sweep stops at the first recent one. */
function sweep(idle: Map<Duplex, number>, beforeMs: number): void {
  for (const [socket, sinceMs] of idle) {
    if (sinceMs > beforeMs && !socket.destroyed) break;
    idle.delete(socket);
    socket.destroy();
  }
}
