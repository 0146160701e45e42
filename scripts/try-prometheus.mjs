// A real Prometheus (Debian's) scrapes three nodes and `crawlnode dashboard --metrics-only`, with the rules of deploy/prometheus:
// npm run prometheus, after `npm run build`. It takes about two minutes and stops by itself. Without Prometheus, promtool or redis-server it
// says so and ends with 0. It fails unless
// - the sums of the nodes' counters are what `stats` says when the crawl is paused,
// - SIGKILL of a node fires CrawlNodeDied, and a node in its place resolves it,
// - promtool finds nothing in the rules and in the metrics of a node and of the crawls,
// - every expression of deploy/grafana/crawlnode.json has data.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const executable = path.join(root, 'bin/crawlnode.js');
const [redisPort, dashboardPort, prometheusPort, nodePort] = [19_379, 19_411, 19_090, 19_420];

for (const tool of ['prometheus', 'promtool', 'redis-server']) {
  if (spawnSync(tool, ['--version']).error === undefined) continue;
  console.log(`try-prometheus: skipped: ${tool} is not installed (apt-get install prometheus redis-server)`);
  process.exit();
}

const dir = mkdtempSync(path.join(tmpdir(), 'crawlnode-prometheus-'));
const children = new Set();
function start(command, args, options = {}) {
  const child = spawn(command, args, { cwd: dir, stdio: 'ignore', ...options });
  children.add(child);
  child.on('exit', () => children.delete(child));
  return child;
}
const site = http.createServer(({ url }, answer) => {
  const page = Number(url.slice(3));
  const links = [page * 2, page * 2 + 1].map((to) => `<a href="/p/${to}">${to}</a>`);
  const answerNow = () => {
    answer.writeHead(page % 50 === 7 ? 404 : page % 60 === 11 ? 503 : 200, { 'content-type': 'text/html' });
    answer.end(page < 20_000 ? links.join('') : 'the end');
  };
  setTimeout(answerNow, 300);
});

try {
  await new Promise((listening) => site.listen(0, '127.0.0.1', listening));
  mkdirSync(path.join(dir, 'spiders'));
  cpSync(path.join(root, 'deploy/prometheus/rules.yml'), path.join(dir, 'rules.yml'));
  writeFileSync(
    path.join(dir, 'crawlnode.yaml'),
    `REDIS_URL: redis://127.0.0.1:${redisPort}
ALLOW_PRIVATE_ADDRESSES: true
ROBOTSTXT_OBEY: false
CONCURRENT_REQUESTS: 4
CONCURRENT_REQUESTS_PER_DOMAIN: 16
NODE_TIMEOUT: 5
HEARTBEAT_INTERVAL: 1
RETRY_TIMES: 1
RETRY_PRIORITY_ADJUST: 1
RETRY_BACKOFF: 0
METRICS_DOMAINS: 3
METRICS_PORT: ${nodePort}
`,
  );
  writeFileSync(
    path.join(dir, 'spiders/shop.mjs'),
    `import { Spider } from 'crawlnode';
export default class Shop extends Spider {
  name = 'shop';
  startUrls = ['http://127.0.0.1:${site.address().port}/p/1'];
  *parse(response) {
    yield { url: response.url };
    yield* response.followAll('a', this.parse);
  }
}
`,
  );
  const targets = [0, 1, 2].map((n) => `127.0.0.1:${nodePort + n}`);
  writeFileSync(
    path.join(dir, 'prometheus.yml'),
    JSON.stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yml'],
      scrape_configs: [
        { job_name: 'nodes', static_configs: [{ targets }] },
        { job_name: 'crawls', static_configs: [{ targets: [`127.0.0.1:${dashboardPort}`] }] },
      ],
    }),
  );
  start(
    'redis-server',
    ['--port', redisPort, '--bind', '127.0.0.1', '--save', '', '--dir', dir, '--maxmemory', '200mb'].map(
      String,
    ),
  );
  await sleep(500);
  const node = (id) =>
    start(process.execPath, [executable, 'crawl', 'shop', '--node-id', id, '-o', `${id}.jsonl`]);
  const nodes = [node('n1')];
  await until('the first node', () => answers(`http://${targets[0]}/readyz`));
  nodes.push(node('n2'), node('n3'));
  start(process.execPath, [executable, 'dashboard', '--metrics-only', '--port', String(dashboardPort)]);
  const storage = [
    '--storage.tsdb.path',
    path.join(dir, 'tsdb'),
    '--web.listen-address',
    `127.0.0.1:${prometheusPort}`,
  ];
  start('prometheus', ['--config.file', path.join(dir, 'prometheus.yml'), ...storage]);
  await until('all targets', async () => (await numberOf('sum(up)')) === 4, 60);

  for (const url of [`http://${targets[0]}/metrics`, `http://127.0.0.1:${dashboardPort}/metrics`]) {
    const input = await (await fetch(url)).text();
    check(
      `promtool check metrics ${url}`,
      spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' }),
    );
  }
  check(
    'promtool check rules',
    spawnSync('promtool', ['check', 'rules', path.join(dir, 'rules.yml')], { encoding: 'utf8' }),
  );

  await sleep(10_000);
  const empty = [];
  for (const expression of expressions()) if ((await numberOf(expression)) === null) empty.push(expression);
  if (empty.length > 0) throw new Error(`no data: ${empty.join(' · ')}`);
  console.log(`try-prometheus: ${expressions().length} expressions of the Grafana board have data`);
  crawlnode('pause', 'shop');
  const leased = () => JSON.parse(crawlnode('stats', 'shop', '--json')).leased;
  await until('the pause', () => leased() === 0);
  await sleep(4_000);
  const stats = JSON.parse(crawlnode('stats', 'shop', '--json'));
  const sums = {};
  for (const name of ['pages', 'items']) sums[name] = await numberOf(`sum(crawlnode_${name}_total)`);
  const is404 = await numberOf('sum(crawlnode_responses_total{status="404"})');
  const wanted = { pages: stats.done + stats.failed, items: stats.counters.item_scraped_count };
  const stats404 = stats.counters['downloader/response_status_count/404'];
  console.log('try-prometheus: sums', { ...sums, is404 }, 'of stats', { ...wanted, stats404 });
  if (sums.pages !== wanted.pages || sums.items !== wanted.items || is404 !== stats404)
    throw new Error('the sums differ');
  crawlnode('resume', 'shop');

  await sleep(3_000);
  const killedAt = Date.now();
  nodes[2].kill('SIGKILL');
  const firing = () => numberOf('count(ALERTS{alertname="CrawlNodeDied",alertstate="firing"}) or vector(0)');
  await until('the alert', async () => (await firing()) === 1, 60);
  console.log(
    `try-prometheus: CrawlNodeDied fired ${((Date.now() - killedAt) / 1_000).toFixed(1)} s after SIGKILL`,
  );
  const returnedAt = Date.now();
  node('n3');
  await until('its end', async () => (await firing()) === 0, 60);
  console.log(
    `try-prometheus: and was resolved ${((Date.now() - returnedAt) / 1_000).toFixed(1)} s after a node was started in its place`,
  );
  console.log('try-prometheus: ok');
} catch (error) {
  console.error(`try-prometheus: FAILED: ${error.message}`);
  process.exitCode = 1;
} finally {
  for (const child of children) child.kill('SIGKILL');
  site.closeAllConnections();
  site.close();
  await sleep(300);
  rmSync(dir, { recursive: true, force: true });
}

function crawlnode(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [executable, ...args], {
    cwd: dir,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`crawlnode ${args.join(' ')}: exit code ${status}: ${stderr}`);
  return stdout;
}

function check(what, { status, stdout, stderr }) {
  if (status !== 0 || stderr !== '') throw new Error(`${what}: ${stdout}${stderr}`);
}

async function answers(url) {
  return (await fetch(url).catch(() => null))?.ok === true;
}

/** Of the board, for all crawls. */
function expressions() {
  const found = [];
  JSON.parse(readFileSync(path.join(root, 'deploy/grafana/crawlnode.json'), 'utf8'), (key, value) => {
    if (key === 'expr') found.push(value.replaceAll('$crawl', '.*').replaceAll('$__rate_interval', '10s'));
    return value;
  });
  return found;
}

/** The first value of a query; null where it has none. */
async function numberOf(query) {
  const url = `http://127.0.0.1:${prometheusPort}/api/v1/query?query=${encodeURIComponent(query)}`;
  const answer = await fetch(url).catch(() => null);
  // It does not serve at once.
  const { data } = answer?.ok ? await answer.json() : {};
  const value = data?.result[0]?.value[1];
  return value === undefined ? null : Number(value);
}

async function until(what, holds, seconds = 30) {
  for (const endsAt = Date.now() + seconds * 1_000; Date.now() < endsAt; await sleep(250))
    if (await holds()) return;
  throw new Error(`${what} did not come within ${seconds} s`);
}
