/**
 * What each dupefilter costs a URL, and how often it takes a new one for seen, on both engines through the Frontier
 * seam. `npm run bench:dupefilters -- [--engine redis|embedded] [--class NAME] [--ten-million] [--json FILE]`
 */
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { openFrontier, PUSH_CHUNK } from '../dist/internal.js';
import { openOptions } from '../scripts/chaos/harness/open-options.mjs';
import { startRedis } from '../scripts/chaos/harness/redis.mjs';
import { redisCost } from './page-cost/redis-cost.mjs';
import { writeFigures } from './write-figures.mjs';

const { values: options } = parseArgs({
  options: {
    engine: { type: 'string' },
    class: { type: 'string' },
    'ten-million': { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});
const ERROR_RATE = 0.001;
/** New URLs that are asked for; at a rate of 0.001 the figure is right to a tenth. */
const ASKED = 100_000;
/** The queue is emptied after so many, so that only the dupefilter grows. */
const BETWEEN = 50_000;

/** `goal`: bytes of Redis' memory that a URL may take; a figure beyond it is marked in the table. */
const subjects = (count) => [
  { name: 'RFPDupeFilter', dupefilter: { class: 'RFPDupeFilter' }, goal: 90 },
  { name: 'TimedRFPDupeFilter', dupefilter: { class: 'TimedRFPDupeFilter', expireMs: 30 * 86_400_000 } },
  { name: 'StateDupeFilter', dupefilter: { class: 'StateDupeFilter' } },
  { name: 'Bloom, at capacity', dupefilter: bloom(count), stated: ERROR_RATE, theory: theoryOf(count) },
  { name: 'Bloom, 10 × capacity', dupefilter: bloom(count / 10), stated: 2 * ERROR_RATE },
  // So many of the values of 64 bits are taken.
  {
    name: 'CompactDupeFilter',
    dupefilter: { class: 'CompactDupeFilter' },
    stated: count / 2 ** 64,
    goal: 12,
  },
];
const bloom = (capacity) => ({ class: 'BloomDupeFilter', capacity, errorRate: ERROR_RATE });
const theoryOf = (count) => (count * Math.log(1 / ERROR_RATE)) / Math.LN2 ** 2 / 8;

const dir = await mkdtemp(path.join(tmpdir(), 'crawlnode-dupefilters-'));
const engines = (options.engine === undefined ? ['redis', 'embedded'] : [options.engine]).map(
  (engine) => ({ redis: onRedis, embedded: inFolder })[engine],
);
const results = [];
try {
  for (const start of engines) {
    for (const count of options['ten-million'] ? [1_000_000, 10_000_000] : [1_000_000]) {
      for (const subject of subjects(count)) {
        if (options.class !== undefined && subject.dupefilter.class !== options.class) continue;
        const place = await start();
        try {
          results.push(await measure(place, subject, count));
          console.error(JSON.stringify(results.at(-1)));
        } finally {
          await place.stop();
        }
      }
    }
  }
} finally {
  await rm(dir, { recursive: true, force: true });
}
if (options.json) await writeFigures(options.json, { rows: results });
printTable();

async function measure({ engine, place, cost }, subject, count) {
  const { name, dupefilter, stated = 0, theory = null, goal = null } = subject;
  const shape = { queueClass: 'FifoQueue', dupefilter };
  const frontier = await openFrontier(openOptions(place, 'bench', shape));
  try {
    // The connection's own memory, and that of the scripts, is there before the first URL.
    await fill(frontier, -BETWEEN, BETWEEN, true);
    await frontier.clear(['queue'], { force: false });
    const before = await cost();
    let taken = 0;
    for (let at = 0; at < count; at += BETWEEN) {
      taken += await fill(frontier, at, Math.min(BETWEEN, count - at));
      await frontier.clear(['queue'], { force: false });
    }
    const after = await cost();
    const { seen, bytes } = await frontier.snapshot();
    const wrong = await askForNew(frontier);
    return {
      engine,
      name,
      count,
      seen,
      bytesPerUrl: bytes.dupefilter / count,
      /** Redis' own figure: with all that keys cost it beside their values. */
      memoryPerUrl: after.memory === null ? null : (after.memory - before.memory) / count,
      goal,
      theoryPerUrl: theory === null ? null : theory / count,
      falsePositives: wrong / ASKED,
      statedRate: stated,
      /** Of those pushed while it was filled. */
      takenForSeen: taken,
      microsPerUrl: ((after.cpuMs - before.cpuMs) * 1000) / count,
    };
  } finally {
    await frontier.close();
  }
}

/** @returns how many new ones were taken for seen. */
async function fill(frontier, from, count, dontFilter = false) {
  const calls = [];
  for (let at = from; at < from + count; at += PUSH_CHUNK) {
    const links = Array.from({ length: PUSH_CHUNK }, (_, n) => request(`${at + n}`, dontFilter));
    calls.push(frontier.push(links, 'links'));
    if (calls.length > 1) await calls.at(-2);
  }
  return (await Promise.all(calls)).reduce((sum, { duplicates }) => sum + duplicates, 0);
}

async function askForNew(frontier) {
  let wrong = 0;
  for (let at = 0; at < ASKED; at += 1_000) {
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, (_, n) => frontier.inspect(request(`never ${at + n}`))),
    );
    wrong += answers.filter(({ seen }) => seen).length;
  }
  return wrong;
}

function request(text, dontFilter = false) {
  const fingerprint = createHash('sha1').update(text).digest('hex');
  return { id: fingerprint, fingerprint, record: '{}', domain: 'a.example', priority: 0, dontFilter };
}

async function onRedis() {
  const redis = await startRedis(dir);
  return {
    engine: 'redis',
    place: redis.url,
    cost: async () => ({
      memory: await settledMemory(redis.db),
      cpuMs: (await redisCost(redis.db)).redisMs,
    }),
    stop: () => redis.stop(),
  };
}

/** What is unlinked is freed in the background. */
async function settledMemory(db) {
  const numberOf = async (name) =>
    Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(await db.info('memory'))[1]);
  while ((await numberOf('lazyfree_pending_objects')) > 0) await sleep(20);
  return numberOf('used_memory');
}

async function inFolder() {
  const folder = await mkdtemp(path.join(dir, 'e-'));
  return {
    engine: 'embedded',
    place: folder,
    cost: async () => {
      const { user, system } = process.cpuUsage();
      return { memory: null, cpuMs: (user + system) / 1000 };
    },
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}

function printTable() {
  const head = [
    '',
    '',
    'URLs',
    'bytes/URL',
    'memory/URL',
    'theory',
    'false positives',
    'stated',
    'µs CPU/URL',
  ];
  const table = new Table({ head, style: { head: [] } });
  for (const result of results) {
    table.push([
      result.engine,
      result.name,
      result.count.toLocaleString('en'),
      result.bytesPerUrl.toFixed(2),
      memoryCell(result),
      result.theoryPerUrl?.toFixed(2) ?? '',
      result.falsePositives.toFixed(5),
      result.statedRate === 0 ? 'none' : result.statedRate.toPrecision(2),
      result.microsPerUrl.toFixed(1),
    ]);
  }
  console.log(table.toString());
}

function memoryCell({ memoryPerUrl, goal }) {
  if (memoryPerUrl === null) return '';
  const isMissed = goal !== null && memoryPerUrl > goal;
  return `${memoryPerUrl.toFixed(2)}${isMissed ? ` (${goal}) !` : ''}`;
}
