// The demo's site in a process of its own. It keeps its own log of what was asked and answered, which it hands over
// when asked: what the closing table is measured against. It ends when told to, or when its parent is gone.
//
// Started by hand (`npm run site`), it serves on fixed ports until Ctrl-C: something to crawl for the tutorial.
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { html, pageOf, pageUrl } from './pages.mjs';

const hosts = [1, 2, 3, 4, 5, 6].map((n) => `127.0.0.${n}`);
const pages = 100; // per shop
const byHand = process.send === undefined;

let log = [];
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
    if (message === 'take') {
      process.send({ log });
      log = [];
    }
    if (message === 'count') process.send({ count: log.filter(({ status }) => status === 200).length });
  });
  process.on('disconnect', () => process.exit());
  process.on('SIGINT', () => {}); // Ctrl-C reaches us as well, but the crawl still drains: the parent ends us
  process.send({
    origins,
    urls: origins.flatMap((_, shop) => Array.from({ length: pages }, (_, n) => pageUrl(origins, shop, n))),
  });
}

/**
 * Every page takes as long as one of a real site: the nodes have something to wait for at the same time, and hold leases when they
 * are killed. By hand, in the tutorial, a page takes 1.5 to 2.5 s, so that a reader has the time to look.
 */
async function answer(shop, request, response) {
  const n = pageOf(request.url, pages);
  if (n !== null) await sleep((byHand ? 1_500 : 200) + ((n * 37 + shop * 13) % (byHand ? 1_001 : 201)));
  const [status, body] = n === null ? [404, 'not found\n'] : [200, html(origins, shop, n, pages)];
  response.on('finish', () =>
    log.push({ url: n === null ? request.url : pageUrl(origins, shop, n), status, atMs: Date.now() }),
  );
  response.writeHead(status, { 'content-type': n === null ? 'text/plain' : 'text/html; charset=utf-8' });
  response.end(body);
}

/** Where there is only one loopback address, another port of that one. A port that is taken ends a site started by hand. */
async function listen(host, port, handler) {
  const server = http.createServer(handler);
  try {
    server.listen(port, host);
    await once(server, 'listening');
    return server;
  } catch (error) {
    if (error.code === 'EADDRNOTAVAIL' && host !== hosts[0]) return listen(hosts[0], port, handler);
    if (error.code !== 'EADDRINUSE') throw error;
    console.error(
      `site: port ${port} of ${host} is taken: end the program that uses it, such as another "npm run site"`,
    );
    process.exit(1);
  }
}
