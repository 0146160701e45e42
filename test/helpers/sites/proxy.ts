/**
 * A real proxy: HTTP forwarding, CONNECT, and SOCKS5, on one port as some servers have it, with or without a password.
 * It connects every name that ends in `.test` to 127.0.0.1, so that tests can use names.
 */
import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import tls from 'node:tls';
import { disown, own, type Resource } from '../resources.js';

export interface TestProxyOptions {
  readonly username?: string;
  readonly password?: string;
  /** Be an https proxy: TLS to the proxy itself, with this key and certificate. */
  readonly tls?: { readonly key: string | Buffer; readonly cert: string | Buffer };
  /** Answer every CONNECT with this status, and every SOCKS5 request with "not allowed". */
  readonly refuse?: () => number | null;
  /** Accept connections and never say anything. */
  readonly isSilent?: boolean;
}

export interface TestProxy {
  readonly port: number;
  /** `127.0.0.1:port`. */
  readonly label: string;
  /** The address with its credentials under a scheme. */
  url(scheme?: 'http' | 'https' | 'socks5'): string;
  /** `GET http://…`, `CONNECT host:port`, `SOCKS5 host:port`, in order of arrival; refused ones too. */
  readonly log: readonly string[];
  /** Connections accepted so far. */
  readonly connections: number;
  readonly openConnections: number;
  close(): Promise<void>;
}

const SOCKS_VERSION = 5;

/** Start a proxy; it ends with `close()`, else after the test file. */
export async function startProxy(options: TestProxyOptions = {}): Promise<TestProxy> {
  const { username = '', password = '' } = options;
  const log: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };
  const web = httpProxy(options, log, track);
  const onConnection = (socket: Socket) => {
    connections += 1;
    track(socket);
    if (options.isSilent) return void socket.resume();
    socket.once('readable', () => {
      const first: Buffer | null = socket.read();
      if (first === null) return;
      socket.unshift(first);
      if (first[0] === SOCKS_VERSION) void socks(socket, options, log, track).catch(() => socket.destroy());
      else web.emit('connection', socket);
    });
  };
  const server = options.tls ? tls.createServer(options.tls, onConnection) : net.createServer(onConnection);
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const resource: Resource = {
    name: `the proxy 127.0.0.1:${port}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
      disown(resource);
    },
  };
  own(resource);
  const credentials =
    password === '' ? '' : `${encodeURIComponent(username)}:${encodeURIComponent(password)}@`;
  return {
    port,
    label: `127.0.0.1:${port}`,
    url: (scheme = options.tls ? 'https' : 'http') => `${scheme}://${credentials}127.0.0.1:${port}`,
    log,
    get connections() {
      return connections;
    },
    get openConnections() {
      return sockets.size;
    },
    close: resource.close,
  };
}

function httpProxy(
  { username = '', password = '', refuse }: TestProxyOptions,
  log: string[],
  track: (socket: Socket) => Socket,
): http.Server {
  const expected = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const isAllowed = ({ headers }: http.IncomingMessage) =>
    password === '' || headers['proxy-authorization'] === expected;
  const web = http.createServer((request, response) => {
    log.push(`${request.method} ${request.url}`);
    if (!isAllowed(request)) {
      response.writeHead(407, { 'proxy-authenticate': 'Basic realm="test"' }).end('no');
      return;
    }
    const { hostname, port, pathname, search } = new URL(request.url ?? '');
    const { 'proxy-authorization': _secret, ...headers } = request.headers;
    const onward = http.request({
      ...{ host: addressOf(hostname), port, path: pathname + search, method: request.method, headers },
      agent: false,
      insecureHTTPParser: true,
    });
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
      answer.on('error', () => response.destroy());
      answer.on('aborted', () => response.destroy());
    });
    onward.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  web.on('connect', (request: http.IncomingMessage, socket: Socket, head: Buffer) => {
    log.push(`CONNECT ${request.url}`);
    const refusal = isAllowed(request) ? (refuse?.() ?? null) : 407;
    if (refusal !== null) return void socket.end(`HTTP/1.1 ${refusal} No\r\ncontent-length: 0\r\n\r\n`);
    const { hostname, port } = new URL(`tunnel://${request.url}`);
    const onward = track(net.connect(Number(port), addressOf(hostname)));
    onward.once('connect', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.write(head);
      joined(socket, onward);
    });
    onward.once('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n'));
  });
  return web;
}

/** RFC 1928 and 1929: the CONNECT command, addresses of all three kinds, no or a password. */
async function socks(
  socket: Socket,
  { username = '', password = '', refuse }: TestProxyOptions,
  log: string[],
  track: (socket: Socket) => Socket,
): Promise<void> {
  const [, methodCount = 0] = await bytes(socket, 2);
  const methods = await bytes(socket, methodCount);
  const method = password === '' ? 0 : 2;
  if (!methods.includes(method)) return void socket.end(Buffer.from([SOCKS_VERSION, 0xff]));
  socket.write(Buffer.from([SOCKS_VERSION, method]));
  if (method === 2) {
    const [, nameLength = 0] = await bytes(socket, 2);
    const name = (await bytes(socket, nameLength)).toString();
    const secret = (await bytes(socket, (await bytes(socket, 1))[0]!)).toString();
    const isRight = name === username && secret === password;
    socket.write(Buffer.from([1, isRight ? 0 : 1]));
    if (!isRight) return void socket.end();
  }
  const [, , , kind] = await bytes(socket, 4);
  let host: string;
  if (kind === 1) host = [...(await bytes(socket, 4))].join('.');
  else if (kind === 3) host = (await bytes(socket, (await bytes(socket, 1))[0]!)).toString();
  else host = (await bytes(socket, 16)).toString('hex').replace(/(.{4})(?!$)/g, '$1:');
  const port = (await bytes(socket, 2)).readUInt16BE();
  log.push(`SOCKS5 ${host}:${port}`);
  const reply = (code: number) => Buffer.from([SOCKS_VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]);
  if (refuse !== undefined && refuse() !== null) return void socket.end(reply(2));
  const onward = track(net.connect(port, addressOf(host)));
  onward.once('connect', () => {
    socket.write(reply(0));
    joined(socket, onward);
  });
  onward.once('error', () => socket.end(reply(5)));
}

function addressOf(hostname: string): string {
  return hostname.endsWith('.test') ? '127.0.0.1' : hostname.replace(/^\[|\]$/g, '');
}

function joined(one: Socket, other: Socket): void {
  one.pipe(other);
  other.pipe(one);
  one.on('close', () => other.destroy());
  other.on('close', () => one.destroy());
}

async function bytes(socket: Socket, count: number): Promise<Buffer> {
  for (;;) {
    if (count === 0) return Buffer.alloc(0);
    const chunk: Buffer | null = socket.read(count);
    if (chunk !== null) return chunk;
    await once(socket, 'readable');
  }
}
