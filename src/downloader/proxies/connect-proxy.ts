/**
 * Connections through a proxy. Whatever fails before the site can be spoken to is the proxy's fault: `proxy_error` (no
 * connection to it), `proxy_auth` (it does not accept the credentials) or `proxy_refused` (it does not connect to the site).
 *
 * CONNECT is sent by node:http, and SOCKS by the package socks. Packages of proxy agents were not taken: they replace
 * undocumented methods of Node's agents (agent-base), or do not tell these failures apart and tunnel plain http too (hpagent).
 */
import http from 'node:http';
import net, { isIP, type LookupFunction, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import type { ProxyAddress } from '../../settings/proxy-url.js';
import { DownloadError, toDownloadError } from '../download-error.js';

export interface ProxyConnectOptions {
  /** Longest time to connect to the proxy, TLS included. */
  readonly connectMs: number;
  /** Longest time until the proxy has opened a tunnel to the site. */
  readonly tunnelMs: number;
  /** A certificate authority to trust instead of Node's, PEM. */
  readonly ca?: string | Buffer;
  readonly lookup?: LookupFunction;
  /** Aborts connections that are not established yet. */
  readonly signal: AbortSignal;
}

export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Connect to a proxy over TCP, and over TLS if it is an https proxy. @throws DownloadError `proxy_error` */
export async function connectToProxy(proxy: ProxyAddress, options: ProxyConnectOptions): Promise<Socket> {
  const { host, port } = proxy;
  const { ca, lookup, connectMs, signal } = options;
  const address = { host, port, noDelay: true, ...(lookup && { lookup }) };
  const isTls = proxy.protocol === 'https';
  const socket = isTls
    ? tls.connect({
        ...address,
        // Certificates are checked, whatever NODE_TLS_REJECT_UNAUTHORIZED says.
        rejectUnauthorized: true,
        ...(isIP(host) === 0 && { servername: host }),
        ...(ca && { ca }),
      })
    : net.connect(address);
  // Between the steps nobody else listens, and an unheard error would end the process.
  socket.on('error', () => {});
  const connected = new Promise<void>((resolve, reject) => {
    socket.once(isTls ? 'secureConnect' : 'connect', resolve);
    socket.once('error', reject);
  });
  try {
    await limited(
      connected,
      socket,
      connectMs,
      signal,
      `it could not be reached within ${connectMs / 1000} s`,
    );
  } catch (error) {
    throw failure('proxy_error', proxy, error);
  }
  return socket;
}

/**
 * Have an HTTP proxy connect to the site with CONNECT (RFC 9110 §9.3.6), or a SOCKS5 proxy (RFC 1928).
 * @param socket connected to the proxy. It is destroyed on failure.
 * @throws DownloadError `proxy_auth`, `proxy_refused` or `proxy_error`
 */
export async function openTunnel(
  socket: Socket,
  proxy: ProxyAddress,
  target: Target,
  options: ProxyConnectOptions,
): Promise<void> {
  const opened =
    proxy.protocol === 'socks5' ? openSocks(socket, proxy, target) : openConnect(socket, proxy, target);
  const { tunnelMs, signal } = options;
  const late = `it did not connect to the site within ${tunnelMs / 1000} s`;
  try {
    await limited(opened, socket, tunnelMs, signal, late);
  } catch (error) {
    socket.destroy();
    throw failure('proxy_refused', proxy, error);
  }
}

/** The value of a `proxy-authorization` header; null without credentials. */
export function proxyAuthorization({ username, password }: ProxyAddress): string | null {
  if (username === '' && password === '') return null;
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

function openConnect(socket: Socket, proxy: ProxyAddress, { host, port }: Target): Promise<void> {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const authorization = proxyAuthorization(proxy);
  return new Promise((resolve, reject) => {
    const request = http.request({
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...(authorization !== null && { 'proxy-authorization': authorization }) },
      createConnection: () => socket,
    });
    request.once('connect', ({ statusCode = 0 }: http.IncomingMessage, _socket: Duplex, head: Buffer) => {
      // tinyproxy answers a wrong password with 401.
      if (statusCode === 407 || statusCode === 401)
        reject(new ProxyRefusal('proxy_auth', answerText(statusCode)));
      else if (statusCode < 200 || statusCode > 299)
        reject(new ProxyRefusal('proxy_refused', answerText(statusCode)));
      // The site speaks only after the TLS handshake, so these bytes are not the site's.
      else if (head.length > 0)
        reject(new ProxyRefusal('proxy_refused', 'it sent more than its response to CONNECT'));
      else resolve();
    });
    request.once('error', reject);
    request.end();
  });
}

function answerText(status: number): string {
  const meaning = http.STATUS_CODES[status];
  return `it answered CONNECT with ${status}${meaning ? ` ${meaning}` : ''}`;
}

async function openSocks(socket: Socket, proxy: ProxyAddress, destination: Target): Promise<void> {
  const { SocksClient } = await import('socks');
  const { host, port, username, password } = proxy;
  const credentials = username === '' && password === '' ? {} : { userId: username, password };
  try {
    await SocksClient.createConnection({
      proxy: { host, port, type: 5, ...credentials },
      command: 'connect',
      destination: { ...destination },
      existing_socket: socket,
    });
  } catch (error) {
    throw socksRefusal((error as Error).message);
  }
}

/** The package gives no codes, so its messages are read. */
function socksRefusal(message: string): ProxyRefusal {
  if (/auth/i.test(message))
    return new ProxyRefusal('proxy_auth', 'it does not accept the user name or password');
  const reply = /rejected connection - (\w+)/.exec(message)?.[1];
  if (reply !== undefined) return new ProxyRefusal('proxy_refused', `its SOCKS5 reply is ${reply}`);
  return new ProxyRefusal('proxy_error', `it does not speak SOCKS5 (${message})`);
}

/** Why a proxy does not connect to the site. */
class ProxyRefusal extends Error {
  readonly reason: 'proxy_error' | 'proxy_auth' | 'proxy_refused';

  constructor(reason: ProxyRefusal['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Wait for a step. When it takes too long, or is aborted, the socket is destroyed. */
async function limited(
  step: Promise<void>,
  socket: Socket,
  ms: number,
  signal: AbortSignal,
  late: string,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  const ended = new Promise<never>((_, reject) => {
    const end = (why: string) => {
      reject(new Error(why));
      socket.destroy();
    };
    timer = setTimeout(() => end(late), ms);
    onAbort = () => end('the connection was aborted');
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort);
  });
  // Destroying the socket makes the step fail after its end.
  step.catch(() => {});
  try {
    await Promise.race([step, ended]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** @param reason of an error that names none. */
function failure(
  reason: 'proxy_error' | 'proxy_refused',
  proxy: ProxyAddress,
  error: unknown,
): DownloadError {
  const { message } = error as Error;
  if (error instanceof ProxyRefusal)
    return new DownloadError(error.reason, `proxy ${proxy.label}: ${message}`);
  const hasCode = typeof (error as NodeJS.ErrnoException).code === 'string';
  const says = hasCode
    ? toDownloadError(error, `http://${proxy.label}`).message
    : `${proxy.label}: ${message}`;
  return new DownloadError(reason, `proxy ${says}`, { cause: error });
}
