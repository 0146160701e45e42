/** A server on raw sockets: it sends whatever bytes a test wants, at the moments a test wants. */
import net from 'node:net';

export interface RawSite {
  readonly url: string;
  readonly port: number;
  /** Connections accepted so far. */
  readonly connections: number;
  /** Heads of the requests received so far, in order. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

/**
 * Answer each request; `head` is the request line with its headers. A request body is not read apart: it shows up
 * as the beginning of the next head, so hostile answers are best tested with GET.
 */
export type Answer = (socket: net.Socket, head: string, nth: number) => void;

export async function rawSite(answer: Answer, host = '127.0.0.1'): Promise<RawSite> {
  const sockets = new Set<net.Socket>();
  const requests: string[] = [];
  let connections = 0;
  const server = net.createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
        const head = received.slice(0, end);
        received = received.slice(end + 4);
        requests.push(head);
        answer(socket, head, requests.length);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as net.AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    port,
    get connections() {
      return connections;
    },
    requests,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** A whole answer; `content-length` is added unless the headers set the framing themselves. */
export function httpAnswer(
  body: string | Buffer,
  headers: readonly string[] = [],
  status = '200 OK',
): Buffer {
  const bytes = Buffer.from(body);
  const framed = headers.some((header) => /^(content-length|transfer-encoding):/i.test(header));
  const lines = [`HTTP/1.1 ${status}`, ...headers, ...(framed ? [] : [`content-length: ${bytes.length}`])];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]);
}
