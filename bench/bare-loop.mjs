/** The floor: the same got, the same parser and the same links as a node's, with a Set in place of a frontier. */
import http from 'node:http';
import got from 'got';
import { Request, Response } from '../dist/index.js';

const [start, limit = 'Infinity'] = process.argv.slice(2);
const client = got.extend({
  agent: { http: new http.Agent({ keepAlive: true, maxSockets: 16 }) },
  retry: { limit: 0 },
  throwHttpErrors: false,
  responseType: 'buffer',
  followRedirect: false,
});
const site = new URL('/', start).href;
const seen = new Set([start]);
const queue = [start];
let pages = 0;
let items = 0;
let active = 0;

await new Promise((resolve) => {
  const next = () => {
    while (active < 16 && queue.length > 0 && pages < Number(limit)) {
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
console.log(JSON.stringify({ pages, items }));

async function visit(url) {
  const { statusCode: status, headers, body } = await client(url);
  const response = new Response({ url, status, headers, body, request: new Request(url) });
  if (!String(headers['content-type']).includes('html')) return;
  response.css('title::text').get();
  items++;
  for (const link of response.links()) {
    if (!link.startsWith(site) || seen.has(link)) continue;
    seen.add(link);
    queue.push(link);
  }
}
