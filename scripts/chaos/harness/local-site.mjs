/** A site within the process of the harness, which keeps an access log. */
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { atCleanUp } from './stage.mjs';

/**
 * A site whose page n links to 2n+1, 2n+2 and two more. `answer(path, response, request)` may take a request over.
 * @returns what `beginCrawl` takes as `site`: `args` of a crawl, `urls` of all pages, `log()`; and `requests`, the log so far:
 * { path, agent, startMs, endMs, status, done } in the order of arrival, `done` once a request was answered in full.
 */
export async function startSite({
  pages = 100,
  delayMs = () => 0,
  answer = () => false,
  host = '127.0.0.1',
} = {}) {
  const requests = [];
  const server = http.createServer(async (request, response) => {
    const path = request.url;
    const agent = request.headers['user-agent'];
    const entry = { path, agent, startMs: Date.now(), endMs: 0, status: 0, done: false };
    requests.push(entry);
    response.on('close', () => {
      entry.done = response.writableFinished;
      entry.status = response.statusCode;
      entry.endMs = Date.now();
    });
    if (answer(path, response, request)) return;
    const wait = delayMs(path);
    if (wait > 0) await sleep(wait);
    const page = path === '/' ? 0 : Number(/^\/p(\d+)$/.exec(path)?.[1] ?? Number.NaN);
    if (!(page < pages)) return void response.writeHead(404).end();
    const links = [2 * page + 1, 2 * page + 2, (page * 7 + 3) % pages, (page * 13 + 5) % pages];
    html(
      response,
      links.filter((n) => n > 0 && n < pages).map((n) => `/p${n}`),
    );
  });
  server.listen(0, host);
  await once(server, 'listening');
  atCleanUp(async () => {
    server.close();
    server.closeAllConnections();
  });
  const origin = `http://${host}:${server.address().port}`;
  const urls = Array.from({ length: pages }, (_, n) => (n === 0 ? `${origin}/` : `${origin}/p${n}`));
  return {
    origin,
    url: urls[0],
    args: ['-a', `start=${origin}/`],
    urls,
    requests,
    log: async () => requests,
  };
}

/** Answer with a page of links. */
export function html(response, links = []) {
  const body = links.map((link) => `<a href="${link}">link</a>`).join('');
  response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>page</title>${body}`);
}
