/**
 * What `reset --backup`, `restore` and `items export` take, as the user runs them: seconds, CPU, the most memory, the
 * size of the file. `npm run bench:backups -- [--engine redis|embedded] [--seen 1000000] [--requests 100000] [--items 200000]`
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { requestOf } from './frontier/requests.mjs';
import { openStage } from './frontier/stage.mjs';

const { values: options } = parseArgs({
  options: {
    engine: { type: 'string' },
    seen: { type: 'string', default: '1000000' },
    requests: { type: 'string', default: '100000' },
    items: { type: 'string', default: '200000' },
  },
});
const executable = fileURLToPath(new URL('../bin/crawlnode.js', import.meta.url));
const TICK_MS = 10;
const SAMPLE_MS = 20;
const BATCH = 1_000;

/** Put a crawl there as a restore does, which is the fastest way in. */
async function fill(frontier, counts) {
  const { backups } = frontier;
  const parts = ['queue', 'dupefilter', 'items'];
  await backups.begin({ id: 'bench', parts, exclusive: [], force: true });
  let number = 0;
  const put = async (count, entryOf) => {
    for (let at = 0; at < count; at += BATCH) {
      const range = Array.from({ length: Math.min(BATCH, count - at) }, (_, n) => at + n);
      await backups.apply('bench', ++number, entryOf(range));
    }
  };
  await put(counts.requests, (range) => ({
    kind: 'requests',
    values: range.map((n) => {
      const { id, domain, priority, record } = requestOf(n, 100);
      return { id, domain, priority, arrival: 1_790_000_000_000_000 + n, record };
    }),
  }));
  await put(counts.seen, (range) => ({
    kind: 'seen',
    values: range.map((n) => createHash('sha1').update(`seen-${n}`).digest('hex')),
  }));
  await put(counts.items, (range) => ({
    kind: 'items',
    values: range.map(
      (n) => `{"url":"http://a.example/${n}","title":"Page ${n}","text":"${'x'.repeat(100)}"}`,
    ),
  }));
  await backups.end('bench');
}

/** Run a command to its end. */
async function command(cwd, env, ...args) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [executable, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let peakKb = 0;
  let cpuMs = 0;
  const timer = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      peakKb = Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? peakKb);
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
      cpuMs = (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    } catch {
      // It has ended.
    }
  }, SAMPLE_MS);
  const [code] = await once(child, 'exit');
  clearInterval(timer);
  if (code !== 0) throw new Error(`crawlnode ${args.join(' ')}: ${code}`);
  return { seconds: (performance.now() - startedAt) / 1000, cpuMs, peakMb: peakKb / 1024 };
}

async function measure(engine, counts) {
  const stage = await openStage(engine);
  const cwd = await mkdtemp(path.join(os.tmpdir(), 'crawlnode-backups-'));
  const crawl = stage.newCrawl();
  const frontier = await stage.open(crawl);
  await fill(frontier, counts);
  const spider = crawl.keys.requests.split(':')[0];
  const store =
    crawl.store.engine === 'redis' ? { REDIS_URL: crawl.store.address.url } : { JOBDIR: crawl.store.dir };
  const env = { ...process.env, ...store };
  const rows = [];
  const row = async (what, count, file, ...args) => {
    const redisBefore = await stage.serverUs();
    const cost = await command(cwd, env, ...args);
    const redisMs = ((await stage.serverUs()) - redisBefore) / 1000;
    const mb = file === null ? Number.NaN : statSync(path.join(cwd, file)).size / 1e6;
    rows.push({ engine, what, ...cost, redisMs, mb, perSecond: count / cost.seconds });
  };
  const only = ['--only', 'queue,dupefilter'];
  const values = counts.requests + counts.seen;
  await row('items export -o', counts.items, 'items.jsonl', 'items', spider, 'export', '-o', 'items.jsonl');
  for (const name of ['b.jsonl', 'b.jsonl.gz']) {
    await row(`reset --backup ${name}`, values, name, 'reset', spider, ...only, '--backup', name, '--yes');
    await row(`restore ${name}`, values, name, 'restore', spider, name);
  }
  await frontier.close();
  await stage.close();
  await rm(cwd, { recursive: true, force: true });
  return rows;
}

const counts = {
  seen: Number(options.seen),
  requests: Number(options.requests),
  items: Number(options.items),
};
const engines = options.engine ? [options.engine] : ['redis', 'embedded'];
const table = new Table({
  head: ['engine', 'command', 's', 'CPU s', 'Redis s', 'most MB', 'file MB', 'values/s'],
  style: { head: [], border: [] },
});
for (const engine of engines) {
  for (const { what, seconds, cpuMs, redisMs, peakMb, mb, perSecond } of await measure(engine, counts)) {
    const one = (value) => (Number.isNaN(value) ? '' : value.toFixed(1));
    table.push([
      ...[engine, what, one(seconds), one(cpuMs / 1000), one(redisMs / 1000), one(peakMb), one(mb)],
      Math.round(perSecond).toLocaleString('en'),
    ]);
  }
}
console.log(
  `${counts.seen.toLocaleString('en')} fingerprints, ${counts.requests.toLocaleString('en')} requests, ${counts.items.toLocaleString('en')} items`,
);
console.log(table.toString());
