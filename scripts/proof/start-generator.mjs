/**
 * A `start()` of many requests whose node is killed three times: each is requested, none is missing, and each is done once.
 *
 * Needs a build: `node scripts/proof/start-generator.mjs [requests] [embedded | redis]`; 200,000 on both engines by
 * default. Exit code 1 when a request is missing or was done twice.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openFrontier } from '../../dist/internal.js';
import { cleanUp, tempDir } from './faults/stage.mjs';
import { openOptions } from './open-options.mjs';
import { startRedis } from './redis.mjs';

const KILLS = 3;
const bin = fileURLToPath(new URL('../../bin/crawlnode.js', import.meta.url));
const requests = Number(process.argv[2] ?? 200_000);
const engines = process.argv[3] === undefined ? ['embedded', 'redis'] : [process.argv[3]];

const spiderOf = (origin) => `
import { Request, Spider } from 'crawlnode';
export default class Many extends Spider {
  name = 'many';
  async *start() {
    for (let n = 0; n < ${requests}; n++) yield new Request('${origin}/' + n, { dontFilter: n % 2 === 0 });
  }
  parse() {}
}
`;

try {
  for (const engine of engines) await prove(engine);
} finally {
  await cleanUp();
}

async function prove(engine) {
  const dir = await tempDir(`start-${engine}`);
  const redis = engine === 'redis' ? await startRedis(dir) : null;
  const times = new Uint8Array(requests);
  let answered = 0;
  const server = http.createServer(({ url }, response) => {
    times[Number(url.slice(1))] += 1;
    answered += 1;
    response.writeHead(200, { 'content-type': 'text/plain' }).end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  await mkdir(path.join(dir, 'spiders'));
  await writeFile(path.join(dir, 'spiders/many.ts'), spiderOf(`http://127.0.0.1:${server.address().port}`));
  await writeFile(path.join(dir, 'crawlnode.yaml'), settingsOf(redis));
  const startedAt = Date.now();
  for (let kill = 1; kill <= KILLS; kill++) {
    const node = crawl(dir);
    while (answered < (requests * kill) / (KILLS + 1)) await sleep(20);
    node.kill('SIGKILL');
    await once(node, 'close');
  }
  const [code] = await once(crawl(dir), 'close');
  const place = redis?.url ?? path.join(dir, '.crawlnode');
  const frontier = await openFrontier(openOptions(place, 'many'));
  const { done, pending, failed } = await frontier.snapshot();
  const breaches = await frontier.verify();
  await frontier.close();
  server.close();
  await redis?.stop();
  const missing = times.filter((count) => count === 0).length;
  const again = times.filter((count) => count > 1).length;
  const seconds = Math.round((Date.now() - startedAt) / 1_000);
  console.log(engine, {
    requests,
    kills: KILLS,
    code,
    done,
    pending,
    failed,
    missing,
    again,
    breaches,
    seconds,
  });
  // A page in progress when its node is killed is fetched again; it is done once all the same.
  const isSound =
    code === 0 && missing === 0 && done === requests && pending + failed + breaches.length === 0;
  if (!isSound) process.exitCode = 1;
}

function crawl(dir) {
  const args = [bin, 'crawl', 'many', '--exit-when-done', '-L', 'ERROR'];
  return spawn(process.execPath, args, { cwd: dir, stdio: ['ignore', 'ignore', 'inherit'] });
}

function settingsOf(redis) {
  return [
    ...(redis === null ? [] : [`REDIS_URL: ${redis.url}`]),
    'ALLOW_PRIVATE_ADDRESSES: true',
    'ROBOTSTXT_OBEY: false',
    'NODE_TIMEOUT: 4',
    'HEARTBEAT_INTERVAL: 1',
    'CONCURRENT_REQUESTS: 32',
    'CONCURRENT_REQUESTS_PER_DOMAIN: 32',
    '',
  ].join('\n');
}
