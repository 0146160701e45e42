// The sites of the situation: one host each, so that each is a domain of its own.
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const healthy = async (response) => {
  await sleep(400);
  page(response, 200);
};

/** How each answers a page. The site on 127.0.0.1 is that of the second crawl. */
const answers = {
  '127.0.0.1': healthy,
  '127.0.0.2': healthy,
  '127.0.0.3': async (response) => {
    await sleep(2_500);
    page(response, 200);
  },
  '127.0.0.4': async (response) => {
    await sleep(300);
    page(response, 403);
  },
  '127.0.0.5': () => {}, // never
  '127.0.0.6': async (response) => {
    await sleep(300);
    page(response, 503);
  },
  '127.0.0.7': healthy,
};
/** By host; the others have no robots.txt. */
const robots = { '127.0.0.7': 'User-agent: *\nCrawl-delay: 12\n' };

/** @returns the origins by host, and `stop()` */
export async function startSites() {
  const servers = await Promise.all(
    Object.entries(answers).map(async ([host, answer]) => {
      const server = http.createServer((request, response) => {
        if (request.url !== '/robots.txt') return void answer(response);
        page(response, host in robots ? 200 : 404, robots[host] ?? 'not found\n');
      });
      server.listen(0, host);
      await once(server, 'listening');
      return server;
    }),
  );
  return {
    origins: Object.fromEntries(
      servers.map((server) => {
        const { address, port } = server.address();
        return [address, `http://${address}:${port}`];
      }),
    ),
    stop: () => {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

function page(response, status, text = 'a page\n') {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(text);
}
