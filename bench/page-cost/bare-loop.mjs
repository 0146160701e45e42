/** The floor: the same got, the same parser and the same work as a node's, with a Set in place of a frontier. */
import http from 'node:http';
import got from 'got';
import { Request, Response } from '../../dist/index.js';

const CONCURRENCY = 16;
const [start, within, limit = 'Infinity'] = process.argv.slice(2);
const client = got.extend({
  agent: { http: new http.Agent({ keepAlive: true, maxSockets: CONCURRENCY }) },
  retry: { limit: 0 },
  throwHttpErrors: false,
  responseType: 'buffer',
  followRedirect: false,
});
const seen = new Set([start]);
const queue = [start];
const titles = [];
let pages = 0;
let active = 0;

await new Promise((resolve) => {
  const next = () => {
    while (active < CONCURRENCY && queue.length > 0 && pages < Number(limit)) {
      active++;
      pages++;
      visit(queue.shift()).finally(() => {
        active--;
        next();
      });
    }
    if (active === 0) resolve();
  };
  next();
});

async function visit(url) {
  const { statusCode: status, headers, body } = await client(url);
  const response = new Response({ url, status, headers, body, request: new Request(url) });
  if (!String(headers['content-type']).includes('html')) return;
  titles.push(response.css('title::text').get());
  for (const link of response.links()) {
    if (!link.startsWith(within) || seen.has(link)) continue;
    seen.add(link);
    queue.push(link);
  }
}
