/**
 * The connections of one node: where they may go, how many may idle, for how long, and which are never used again.
 * Each reach has agents of its own, so that a request never gets a kept-alive connection to where it may not go.
 */
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isPrivateAddress } from '../http/url/domain.js';
import { type Reach, reachableLookup, refusalOf } from './reach.js';

/** Servers commonly drop idle connections after 5 to 75 s; leaving first avoids most resets on reuse. */
const IDLE_MS = 15_000;
const SWEEP_MS = 5_000;
/**
 * Over all hosts, unless there are more sockets in use: some 10 KB each. With 64 a crawl of a hundred hosts connected
 * anew for most of its pages, which costs as much as parsing them.
 */
const MAX_IDLE = 256;

export interface AgentPair {
  readonly http: http.Agent;
  readonly https: https.Agent;
}

export interface Agents extends AgentPair {
  /** Open a connection for each request and close it after: what comes behind a malformed answer reaches no other. */
  readonly unpooled: AgentPair;
  /** Whether a socket that these agents opened is connected to a private address. */
  isToPrivateAddress(socket: Duplex): boolean;
  /** Close the idle connections of one host: one of them turned out to be dead. */
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
 * `maxSockets` bounds the connections to one host, and twice as many (at least `MAX_IDLE`) may idle over all hosts:
 * Node bounds idle sockets per host only, so a broad crawl would pile them up, and its `maxTotalSockets` lets
 * idle sockets of other hosts block a new one.
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
  const idle = new Map<Duplex, number>();
  guardIdle(agents.http, idle, Math.max(MAX_IDLE, 2 * options.maxSockets));
  guardIdle(agents.https, idle, Math.max(MAX_IDLE, 2 * options.maxSockets));
  const sweeper = setInterval(() => sweep(idle, Date.now() - IDLE_MS), SWEEP_MS);
  sweeper.unref();
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

/** The hooks that Node documents for agents; `@types/node` does not know them all. */
interface AgentHooks {
  createConnection(
    options: { readonly host?: string },
    done: (error: Error | null, socket?: Duplex) => void,
  ): Socket | undefined;
  keepSocketAlive(socket: Duplex): boolean;
  reuseSocket(socket: Duplex, request: http.ClientRequest): void;
}

/** An address in place of a host name is never looked up, hence the check before; the check after holds in any case. */
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
    // A server that speaks without being asked would have its bytes taken for the next answer.
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

/** Insertion order is the order of idling, so the sweep stops at the first young socket. */
function sweep(idle: Map<Duplex, number>, beforeMs: number): void {
  for (const [socket, sinceMs] of idle) {
    if (sinceMs > beforeMs && !socket.destroyed) break;
    idle.delete(socket);
    socket.destroy();
  }
}
