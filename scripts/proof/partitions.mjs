/**
 * A crawl over a Redis Cluster of six servers in several partitions, a master of which is killed in the middle: is every
 * page there, and none twice? The pages are numbered, so what must be there is known without a crawl.
 *
 *   node scripts/proof/partitions.mjs [--pages 100000] [--partitions 4] [--workers 2] [--no-kill]
 *
 * Exit code 1 when a page is missing or twice, the crawl does not end with 0, or `doctor --deep` finds anything.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startManyHosts } from './partitions/many-hosts.mjs';
import { startSixNodes, until } from './partitions/six-node-cluster.mjs';

const bin = fileURLToPath(new URL('../../bin/crawlnode.js', import.meta.url));
const { values: given } = parseArgs({
  options: {
    pages: { type: 'string', default: '100000' },
    partitions: { type: 'string', default: '4' },
    workers: { type: 'string', default: '2' },
    'no-kill': { type: 'boolean', default: false },
  },
});
const pages = Number(given.pages);

const dir = mkdtempSync(path.join(os.tmpdir(), 'crawlnode-partitions-'));
const cluster = await startSixNodes(dir);
const site = await startManyHosts(pages);
let failed = true;
try {
  failed = !(await prove());
} finally {
  site.close();
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);

async function prove() {
  writeProject();
  const file = path.join(dir, 'pages.jsonl');
  const startedAt = performance.now();
  const crawl = crawlnode('crawl', 'spread', '--workers', given.workers, '--exit-when-done', '-o', file);
  let killedAt = null;
  if (!given['no-kill']) {
    await Promise.race([
      crawl.ended,
      until('half of the pages', async () => site.served() >= pages / 2, 600_000),
    ]);
    const master = await cluster.masterOf('{spread:p1}:requests');
    killedAt = site.served();
    await master.kill();
    console.log(`killed the master of partition 1 (port ${master.port}) after ${killedAt} downloads`);
    const outageAt = performance.now();
    await until('its replica is the master', async () => {
      const found = await cluster.masterOf('{spread:p1}:requests');
      return found.port !== master.port && found.isAlive();
    });
    // It comes back as the replica of its replica, as a supervisor would have it. Until then no page of its partitions
    // counts as committed (REDIS_WAIT_REPLICAS).
    await master.start();
    console.log(
      `its replica took over ${Math.round(performance.now() - outageAt)} ms later, and it was started again`,
    );
  }
  const { code, stderr } = await crawl.ended;
  const seconds = (performance.now() - startedAt) / 1000;
  const counts = new Map();
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const { n } = JSON.parse(line);
    counts.set(n, (counts.get(n) ?? 0) + 1);
  }
  const missing = Array.from({ length: pages }, (_, n) => n).filter((n) => !counts.has(n)).length;
  const twice = [...counts.values()].filter((count) => count > 1).length;
  const refetched = site.hits.reduce((sum, hits) => sum + Math.max(0, hits - 1), 0);
  const doctor = await crawlnode('doctor', 'spread', '--deep').ended;
  const stats = JSON.parse((await crawlnode('stats', 'spread', '--json').ended).stdout);
  const perPartition = stats.partitions?.map(({ done }) => done).join(' + ');
  console.log(
    [
      `pages ${pages} · partitions ${given.partitions} (done ${perPartition}) · workers ${given.workers} · ${seconds.toFixed(0)} s, ${Math.round(pages / seconds)} pages/s`,
      `missing ${missing} · twice ${twice} · fetched again ${refetched} · exit code ${code} · doctor --deep exit code ${doctor.code}`,
    ].join('\n'),
  );
  if (code !== 0) console.log(stderr.split('\n').slice(-30).join('\n'));
  if (doctor.code !== 0) console.log(doctor.stdout, doctor.stderr);
  return missing === 0 && twice === 0 && code === 0 && doctor.code === 0;
}

function writeProject() {
  mkdirSync(path.join(dir, 'spiders'));
  const settings = {
    REDIS_CLUSTER_NODES: cluster.addresses,
    SCHEDULER_PARTITIONS: Number(given.partitions),
    // A page and its links are on different servers: a failover must lose neither.
    REDIS_WAIT_REPLICAS: 1,
    CONCURRENT_REQUESTS: 32,
    CONCURRENT_REQUESTS_PER_DOMAIN: 16,
    NODE_TIMEOUT: 15,
    ROBOTSTXT_OBEY: false,
    LOG_LEVEL: 'INFO',
  };
  // JSON is YAML.
  writeFileSync(path.join(dir, 'crawlnode.yaml'), JSON.stringify(settings, null, 2));
  writeFileSync(
    path.join(dir, 'spiders', 'spread.mjs'),
    `import { Spider } from 'crawlnode';
export default class Spread extends Spider {
  name = 'spread';
  startUrls = ['${site.start}'];
  async *parse(response) {
    yield { n: Number(response.url.slice(response.url.lastIndexOf('/') + 1)) };
    yield* response.followAll('a');
  }
}
`,
  );
}

/** @returns `ended`: code, stdout and stderr, once it has ended. */
function crawlnode(...args) {
  const child = spawn(process.execPath, [bin, ...args], { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) {
    child[name].on('data', (data) => {
      output[name] += data;
    });
  }
  return { ended: once(child, 'close').then(([code]) => ({ code, ...output })) };
}
