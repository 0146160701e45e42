/**
 * Serves the metrics of a command, and whether it is live and ready. The answers hold neither secrets nor URLs; still, on a loopback
 * address only a client that names this machine gets one: otherwise a site whose name is made to lead here (DNS rebinding) could
 * read them in a browser.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { messageOf, RefusedError } from '../../errors.js';
import { hostOfHeader, isAddressOrLocalhost } from '../../http/url/host-header.js';

/** METRICS_PORT and the ports after it that are tried. */
const PORTS = 32;
const TEXT = 'text/plain; version=0.0.4; charset=utf-8';

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** METRICS_PORT and METRICS_HOST of a command. */
export interface MetricsOptions extends MetricsAddress {
  /** The crawl as a label, such as `shop@night`. */
  readonly crawl: string;
}

/** What is told. */
export interface Told {
  metrics(): Promise<string>;
  isLive(): boolean;
  isReady(): boolean;
}

export interface MetricsServer {
  readonly port: number;
  close(): void;
}

/** Serve at the port, or at the next one that is free. @throws RefusedError where none is, or the host is not of this machine */
export async function serveMetrics(
  { host, port: first }: MetricsAddress,
  told: Told,
): Promise<MetricsServer> {
  const last = Math.min(first + PORTS - 1, 65_535);
  for (let port = first; port <= last; port++) {
    const server = createServer((request, response) => {
      void answer(request, response, told).catch(() => response.destroy());
    });
    // What is slower is no scraper.
    server.requestTimeout = 5_000;
    try {
      server.listen(port, host);
      await once(server, 'listening');
      return { port, close: () => close(server) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE')
        throw new RefusedError(`METRICS_HOST ${host}, METRICS_PORT ${port}: ${messageOf(error)}`);
    }
  }
  throw new RefusedError(
    `METRICS_PORT: the ports ${first} to ${last} of ${host} are all taken; give another one, or 0 for no metrics`,
  );
}

/** A sentence for the log. */
export function whereMetricsAre({ host, port: wanted }: MetricsAddress, port: number): string {
  const taken = port === wanted ? '' : ` (METRICS_PORT ${wanted} is taken)`;
  return `metrics are at http://${isIP(host) === 6 ? `[${host}]` : host}:${port}/metrics${taken}`;
}

function close(server: Server): void {
  server.close();
  server.closeAllConnections();
}

async function answer(request: IncomingMessage, response: ServerResponse, told: Told): Promise<void> {
  const { method = '', url = '' } = request;
  const end = (status: number, text: string) => {
    const headers = {
      'content-type': TEXT,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    };
    response.writeHead(status, headers).end(text);
  };
  const say = (isSo: boolean, no: string) => end(isSo ? 200 : 503, isSo ? 'ok\n' : `${no}\n`);
  if (!mayAsk(request)) return end(403, 'the Host header must be an IP address or localhost\n');
  if (method !== 'GET' && method !== 'HEAD') return end(405, 'only GET\n');
  const path = url.replace(/\?.*$/, '');
  if (path === '/metrics') end(200, await told.metrics());
  else if (path === '/healthz') say(told.isLive(), 'the main loop hangs');
  else if (path === '/readyz')
    say(told.isReady(), 'the store does not answer, or this node has not joined the crawl');
  else end(404, 'there are /metrics, /healthz and /readyz\n');
}

/** Beyond loopback, scrapers use names that only the network knows. */
function mayAsk({ socket, headers }: IncomingMessage): boolean {
  const { address = '' } = socket.address() as Partial<AddressInfo>;
  const isLoopback = address === '::1' || /^(::ffff:)?127\./.test(address);
  const name = hostOfHeader(headers.host ?? '');
  return !isLoopback || (name !== null && isAddressOrLocalhost(name));
}
