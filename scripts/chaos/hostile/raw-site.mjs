/** A raw-socket server on all of 127.0.0.0/8: good pages at one address, each hostile case at an address of its own. */
import { once } from 'node:events';
import net from 'node:net';

const body = `<html><title>good</title>${'<p>an ordinary paragraph of some length</p>'.repeat(90)}`;
const goodPage = `HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

/**
 * @param cases as in `cases.mjs`.
 * @returns the URL of each case by name, those of good pages, and when good pages were asked for, in ms of `performance`.
 */
export async function startHostileSite(cases) {
  const byHost = new Map();
  const good = { askedAtMs: [] };
  const sockets = new Set();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let received = '';
    socket.on('data', (chunk) => {
      // A TLS handshake: this server only speaks HTTP.
      if (chunk[0] === 0x16) return void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
      received += chunk.toString('latin1');
      for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
        const head = received.slice(0, end);
        received = received.slice(end + 4);
        answer(socket, head);
      }
    });
  });
  function answer(socket, head) {
    const [, path] = head.split(' ', 2);
    const [, host] = /^host: ([^:\r\n]+)/im.exec(head) ?? [];
    if (path.startsWith('/good')) {
      good.askedAtMs.push(performance.now());
      socket.write(goodPage);
      return;
    }
    const answer = byHost.get(host);
    if (typeof answer === 'function') answer(socket, path);
    else socket.write(answer ?? goodPage);
  }
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const { port } = server.address();
  const urls = Object.keys(cases).map((name, n) => {
    const host = `127.1.${1 + Math.floor(n / 200)}.${1 + (n % 200)}`;
    byHost.set(host, cases[name][0]);
    return [name, `http://${host}:${port}/${name}`];
  });
  return {
    port,
    good,
    urls: Object.fromEntries(urls),
    goodUrls: (count) => Array.from({ length: count }, (_, n) => `http://127.0.0.1:${port}/good/${n}`),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
