/**
 * The floor: the same got, the same parser and the same work as a node's, with a Set in place of a frontier.
 * `--own-downloader`: got as a node uses it, instead of as most do.
 */
import http from 'node:http';
import { parseArgs } from 'node:util';
import got from 'got';
import { Request, Response } from '../../dist/index.js';

const CONCURRENCY = 16;
const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: { 'own-downloader': { type: 'boolean', default: false } },
});
const [start, within, limit = 'Infinity'] = positionals;
const download = options['own-downloader'] ? await byDownloader() : byGot();
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
  const request = new Request(url);
  const { status, headers, body } = await download(request);
  const response = new Response({ url, status, headers, body, request });
  if (!String(headers['content-type']).includes('html')) return;
  titles.push(response.css('title::text').get());
  for (const link of response.links()) {
    if (!link.startsWith(within) || seen.has(link)) continue;
    seen.add(link);
    queue.push(link);
  }
}

function byGot() {
  const client = got.extend({
    agent: { http: new http.Agent({ keepAlive: true, maxSockets: CONCURRENCY }) },
    retry: { limit: 0 },
    throwHttpErrors: false,
    responseType: 'buffer',
    followRedirect: false,
  });
  return async ({ url }) => {
    const { statusCode: status, headers, body } = await client(url);
    return { status, headers, body };
  };
}

async function byDownloader() {
  // Not loaded where it is not used: it would be part of the floor's start.
  const { createDownloader } = await import('../../dist/internal.js');
  const downloader = createDownloader({
    timeoutMs: 180_000,
    maxBodyBytes: 1024 ** 3,
    robotsBytes: 500 * 1024,
    warnBodyBytes: 0,
    minBytesPerSecond: 0,
    failOnDataLoss: true,
    bufferBytes: 0,
    allowPrivateAddresses: true,
    userAgent: 'bare loop',
    defaultHeaders: {},
    concurrency: CONCURRENCY,
  });
  return (request) => downloader.start(request, { purpose: 'page' }).result;
}
