/**
 * H5: each field of each key or table of a crawl is forged, while a node runs and between runs: junk, nothing, huge and negative
 * numbers, other JSON, cut off, and on Redis keys of another type. Requests and what is known as seen are left alone, so
 * that every page is owed.
 *
 * Broken when a command shows an error of the store or a line of source, hangs or is killed, or when a page is not crawled
 * in the end, after at most `doctor --repair` and one more run.
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSite } from '../harness/local-site.mjs';
import { endOf, newProject, start } from '../harness/project.mjs';
import { adminOf, startStore } from '../harness/redis.mjs';
import { onOwnStage } from '../harness/stage.mjs';

const PAGES = 120;
const RUN_MS = 40_000;
const EVERY_MS = 60;
/** The row takes so long on each engine, and one round more. */
const BOUND_MS = { short: 1, normal: 60_000, long: 600_000 };
/** What a user must not see. */
const RAW =
  /ReplyError|user_function|user_script|WRONGTYPE|\bscript: |(Type|Range|Syntax)Error|SQLITE_|internal_error|\bat .*\.(js|ts|mjs):\d+/;

export const forgedFields = {
  row: 'H5',
  fault: 'every field of every key or table forged, under a node and between runs',
  isLong: true,
  engines: ['redis', 'embedded'],
  async run({ engine, scale, random }) {
    const deadline = Date.now() + BOUND_MS[scale.name];
    const problems = [];
    let [times, rounds, repairs] = [0, 0, 0];
    do {
      rounds += 1;
      const said = [];
      const outcome = await onOwnStage(() => runRound({ engine, random, isLive: rounds % 2 === 1, said }));
      times += outcome.forged.length;
      repairs += outcome.repairs;
      for (const problem of said)
        problems.push(`round ${rounds}: ${problem}; forged: ${outcome.forged.join(', ')}`.slice(0, 1_500));
    } while (Date.now() < deadline);
    return { problems: problems.slice(0, 20), times, note: `${rounds} rounds, ${repairs} repairs` };
  },
};

async function runRound({ engine, random, isLive, said }) {
  const site = await startSite({ pages: PAGES, delayMs: () => 30 });
  const server = engine === 'redis' ? await startStore() : null;
  const project = await newProject(server, {
    ...{ CONCURRENT_REQUESTS: 8, DOWNLOAD_DELAY: 0, ROBOTSTXT_OBEY: true, RETRY_TIMES: 1 },
    ...{ CLOSESPIDER_TIMEOUT: 0, DOWNLOAD_TIMEOUT: 5, WAIT_TIMEOUT: 10 },
  });
  const store = server === null ? tablesOf(project.dir) : keysOf(adminOf(server.url));
  const forged = [];
  const forge = async () => {
    const what = await store.forge(random).catch((error) => `(${error.message})`);
    if (what !== null) forged.push(what);
  };
  const crawl = ['crawl', 'walk', '--exit-when-done', '-a', `start=${site.urls[0]}`, '-o', 'out.jsonl'];
  const run = async (args, mayEnd = [0, 1]) => {
    const node = start(project, args);
    const isForging = isLive && args[0] === 'crawl' && forged.length === 0;
    const forging = isForging ? forgeWhile(node, forge) : null;
    const { code, signal } = await endOf(node, RUN_MS);
    await forging;
    const name = args.slice(0, 3).join(' ');
    if (signal !== null) said.push(`${name} was still running after ${RUN_MS} ms: ${node.said.slice(-300)}`);
    else if (!mayEnd.includes(code)) said.push(`${name} ended with ${code}: ${node.said.slice(-400)}`);
    const raw = RAW.exec(node.said + node.out);
    if (raw !== null)
      said.push(
        `${name} said ${(node.said + node.out).slice(Math.max(0, raw.index - 200), raw.index + 400)}`,
      );
    return code;
  };
  // Between runs: a first one leaves most of the pages.
  if (!isLive) {
    await run([...crawl, '--max-pages', '20']);
    for (let n = 0; n < 12; n += 1) await forge();
  }
  await run(crawl, [0, 1, 3, 4]);
  let repairs = 0;
  for (const args of [
    ['stats', 'walk'],
    ['stats', 'walk', '--json'],
    ['doctor', 'walk', '--deep'],
  ])
    await run(args, [0, 1, 3]);
  const missing = () => {
    const hits = new Set(site.requests.filter(({ done }) => done).map((entry) => entry.path));
    return Array.from({ length: PAGES }, (_, n) => (n === 0 ? '/' : `/p${n}`)).filter(
      (page) => !hits.has(page),
    );
  };
  for (; missing().length > 0 && repairs < 2; repairs += 1) {
    // As the messages say: a key of another type is deleted, and the crawl is repaired.
    await store.obey();
    await run(['doctor', 'walk', '--repair', '--force']);
    await run(crawl);
  }
  if (missing().length > 0) said.push(`${missing().length} pages are missing after ${repairs} repairs`);
  store.close();
  return { forged, repairs };
}

async function forgeWhile(node, forge) {
  await sleep(700);
  for (let n = 0; n < 25 && !node.over(); n += 1) {
    await forge();
    await sleep(EVERY_MS);
  }
}

/** Values that stand for what a forger may write. */
function forgedValue(random, bytes) {
  return random.of([
    () => Buffer.from('x'),
    () => Buffer.alloc(0),
    () =>
      Buffer.from(
        random.of(['1e308', '-1', 'NaN', '9007199254740993', '1.5', 'null', '[]', '{"a":[]}', '{"state":1}']),
      ),
    () => bytes.subarray(0, random.below(bytes.length + 1)),
    () => Buffer.from(Array.from({ length: random.below(60) }, () => random.below(256))),
    () => Buffer.concat([bytes, Buffer.from('x')]),
  ])();
}

/** Requests, and what is seen, are owed; these fields say whose crawl it is, and another value of them is refused by name. */
const SPARED = /^(walk:requests|walk:dupefilter|walk:start_urls)$|:~(failed|failures|crashes|absent|probe)$/;
const IDENTITY = [
  'version',
  'crawl',
  'queue',
  'shape',
  'dupefilter',
  'run_args',
  'start',
  'run_start',
  'has_start',
];

function keysOf(db) {
  const foreign = new Set();
  return {
    async forge(random) {
      const names = (await db.keys('walk:*')).filter((name) => !SPARED.test(name) && !foreign.has(name));
      if (names.length === 0) return null;
      const name = random.of(names.sort());
      const type = await db.type(name);
      if (random.next() < 0.04) {
        foreign.add(name);
        await db.multi().del(name).set(name, 'x').exec();
        return `${name} as a string`;
      }
      if (type === 'hash') {
        const fields = (await db.hkeysBuffer(name)).filter(
          (field) => !name.endsWith('~meta') || !IDENTITY.includes(String(field)),
        );
        if (fields.length === 0) return null;
        const field = random.next() < 0.1 ? Buffer.from('forged') : random.of(fields);
        const value = forgedValue(random, (await db.hgetBuffer(name, field)) ?? Buffer.from(''));
        await db.hset(name, field, value);
        return `${name} ${field.toString('latin1')}=${value.toString('latin1').slice(0, 40)}`;
      }
      if (type === 'zset') {
        const [member] = await db.zrangeBuffer(name, 0, 0);
        const score = random.of([0, -1, 1e308, 2 ** 53, '+inf', '-inf']);
        const value = random.next() < 0.5 ? forgedValue(random, member) : member;
        await db.zadd(name, score, value);
        return `${name} ${score} ${value.toString('latin1').slice(0, 40)}`;
      }
      if (type === 'list') await db.rpush(name, forgedValue(random, Buffer.from('{}')));
      return `${name} one more`;
    },
    async obey() {
      for (const name of foreign) await db.del(name);
      foreign.clear();
    },
    close: () => db.disconnect(),
  };
}

/** Tables that hold the requests and what is seen, and columns that say whose row it is. */
const SPARED_TABLES = new Set(['space', 'request', 'record', 'seen', 'failure']);
const KEYS = new Set([
  'space',
  'id',
  'n',
  'number',
  'crawl_id',
  'format',
  'shape',
  'queue_class',
  'dupefilter',
  'choice',
  'starts',
]);

function tablesOf(folder) {
  const { DatabaseSync } = createRequire(import.meta.url)('@photostructure/sqlite');
  return {
    async forge(random) {
      const database = new DatabaseSync(path.join(folder, '.crawlnode', 'frontier.db'), { timeout: 2_000 });
      try {
        const filled = database
          .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
          .all()
          .map(({ name }) => name)
          .filter(
            (name) =>
              !SPARED_TABLES.has(name) && database.prepare(`SELECT 1 FROM ${name}`).get() !== undefined,
          );
        const table = random.of(filled);
        const columns = database
          .prepare('SELECT name, type FROM pragma_table_info(?)')
          .all(table)
          .filter(({ name }) => !KEYS.has(name));
        const { name, type } = random.of(columns);
        const before =
          database.prepare(`SELECT CAST(${name} AS BLOB) AS value FROM ${table}`).get().value ??
          new Uint8Array();
        const value = forgedValue(random, Buffer.from(before));
        const plain = {
          TEXT: () => value.toString(),
          BLOB: () => value,
          REAL: () => random.of([-1, 1e308, 0]),
          INTEGER: () => random.of([-1n, 0n, 9007199254740993n, 2n ** 63n - 1n, -(2n ** 63n)]),
        }[type]?.();
        if (plain === undefined) return null;
        database.prepare(`UPDATE ${table} SET ${name} = ?`).run(plain);
        return `${table}.${name}=${String(plain).slice(0, 40)}`;
      } finally {
        database.close();
      }
    },
    obey: async () => {},
    close: () => {},
  };
}
