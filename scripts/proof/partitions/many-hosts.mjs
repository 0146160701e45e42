/**
 * A site of small pages over many hosts of 127.0.0.0/8, on one port. Page n links to its ten children in a tree, and back to
 * a few pages that others link to as well; each is on the host of its number, so most links lead to another host.
 */
import { once } from 'node:events';
import http from 'node:http';

const HOSTS = 60;
const CHILDREN = 10;

const hostOf = (n) => `127.0.1.${1 + (n % HOSTS)}`;

export async function startManyHosts(pages) {
  const hits = new Uint16Array(pages);
  let served = 0;
  let port = 0;
  const urlOf = (n) => `http://${hostOf(n)}:${port}/p/${n}`;
  const server = http.createServer((request, response) => {
    const n = Number(/^\/p\/(\d+)$/.exec(request.url)?.[1] ?? Number.NaN);
    if (!(n < pages)) {
      response.writeHead(404).end();
      return;
    }
    hits[n] += 1;
    served += 1;
    const children = Array.from({ length: CHILDREN }, (_, i) => n * CHILDREN + 1 + i).filter(
      (m) => m < pages,
    );
    const others = [0, (n * 7 + 3) % pages, (n * 31 + 11) % pages];
    const links = [...children, ...others].map((m) => `<a href="${urlOf(m)}">${m}</a>`);
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<html><body>${links.join('\n')}</body></html>`);
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  port = server.address().port;
  return {
    start: urlOf(0),
    /** Downloads so far, and of each page. */
    served: () => served,
    hits,
    close: () => server.close(),
  };
}
