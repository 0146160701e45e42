// The demo's site in a process of its own. It keeps its own log of what was asked and answered, which it hands over
// when asked: what the closing table is measured against. It ends when told to, or when its parent is gone.
//
// Started by hand (`npm run site`), it serves on fixed ports until Ctrl-C: something to crawl for the tutorial.
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { html, pageOf, pageUrl } from './pages.mjs';

const hosts = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
const pages = 200; // per shop
const byHand = process.send === undefined;

const log = [];
const origins = [];
for (const [shop, host] of hosts.entries()) {
  const server = await listen(host, byHand ? 8080 + shop : 0, (request, response) =>
    answer(shop, request, response),
  );
  const { address, port } = server.address();
  origins.push(`http://${address}:${port}`);
}

if (byHand) {
  console.log(`${pages * origins.length} pages, beginning with ${origins[0]}/ (Ctrl-C ends it)`);
} else {
  process.on('message', (message) => {
    if (message === 'log') process.send({ log });
    if (message === 'count') process.send({ count: log.filter(({ status }) => status === 200).length });
  });
  process.on('disconnect', () => process.exit());
  process.on('SIGINT', () => {}); // Ctrl-C reaches us as well, but the crawl still drains: the parent ends us
  process.send({
    origins,
    urls: origins.flatMap((_, shop) => Array.from({ length: pages }, (_, n) => pageUrl(origins, shop, n))),
  });
}

/** Every page takes 10 to 40 ms, as a real site does: the nodes have something to wait for at the same time. */
async function answer(shop, request, response) {
  const n = pageOf(request.url, pages);
  if (n !== null) await sleep(10 + ((n * 7 + shop) % 31));
  const [status, body] = n === null ? [404, 'not found\n'] : [200, html(origins, shop, n, pages)];
  response.on('finish', () =>
    log.push({ url: n === null ? request.url : pageUrl(origins, shop, n), status }),
  );
  response.writeHead(status, { 'content-type': n === null ? 'text/plain' : 'text/html; charset=utf-8' });
  response.end(body);
}

/** Another port when that one is taken; where there is only one loopback address, another port of that one. */
async function listen(host, port, handler) {
  const server = http.createServer(handler);
  try {
    server.listen(port, host);
    await once(server, 'listening');
    return server;
  } catch (error) {
    if (port !== 0) return listen(host, 0, handler);
    if (host !== hosts[0]) return listen(hosts[0], 0, handler);
    throw error;
  }
}
