/**
 * SIGKILLs in the middle of a batching pipeline: two nodes crawl, and the one that is in the middle of `committed` is killed
 * and replaced. Afterwards the database must hold every item that the crawl has counted, and none twice; on both engines,
 * into PostgreSQL and into SQLite.
 *
 * Needs a build: `node scripts/proof/committed-kills.mjs [kills]`, 50 of each of the four by default. Without a PostgreSQL
 * those into it are skipped. Exit code 1 when anything does not hold.
 */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { intoPostgres, intoSqlite } from './committed-kills/pipelines.mjs';
import { startPostgres } from './committed-kills/postgres.mjs';
import {
  cleanUp,
  crawl,
  endOf,
  html,
  look,
  newProject,
  startRedis,
  startSite,
  tempDir,
  until,
} from './faults/stage.mjs';

const NODES = 2;
const CHAINS = 8;
const kills = Number(process.argv[2] ?? 50);
const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));

const spider = `
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = 'walk';
  startUrls = this.args.start.split(' ');
  *parse(response) {
    const page = Number(new URL(response.url).pathname.slice(2));
    for (const part of ['a', 'b', 'c']) yield { page, part };
    yield* response.followAll(response.links(), this.parse);
  }
}
`;

let failed = false;
for (const database of ['PostgreSQL', 'SQLite']) {
  for (const engine of ['Redis', 'embedded']) {
    try {
      const outcome = await prove(engine, database);
      console.log(`${database}, ${engine} engine: ${outcome}`);
      failed ||= outcome.includes('FAILED');
    } finally {
      await cleanUp();
    }
  }
}
process.exitCode = failed ? 1 : 0;

async function prove(engine, database) {
  const server =
    database === 'SQLite' ? null : await startPostgres(path.join(await openFolder(), 'postgres'));
  if (database !== 'SQLite' && server === null) {
    return 'skipped, as there is no PostgreSQL here (Debian: apt-get install postgresql)';
  }
  try {
    return await killInBatches(engine, server);
  } finally {
    await server?.stop();
  }
}

/** PostgreSQL runs as another user, who must be able to reach its folder. */
async function openFolder() {
  const { chmod } = await import('node:fs/promises');
  const dir = await tempDir('postgres');
  await chmod(dir, 0o755);
  return dir;
}

async function killInBatches(engine, server) {
  // Chains of pages without an end, until enough nodes were killed.
  const web = { last: Number.POSITIVE_INFINITY, highest: 0 };
  const site = await startSite({
    answer(url, response) {
      const page = Number(/^\/p(\d+)$/.exec(url)?.[1]);
      web.highest = Math.max(web.highest, page);
      setTimeout(() => html(response, page + CHAINS <= web.last ? [`/p${page + CHAINS}`] : []), 20);
      return true;
    },
  });
  const settings = {
    ITEM_PIPELINES: { './pipelines/store.ts': 100 },
    CONCURRENT_REQUESTS_PER_DOMAIN: CHAINS,
    FEED_OUTBOX_LIMIT: 1_000,
    RETRY_TIMES: 0,
  };
  const project = await newProject(engine === 'Redis' ? await startRedis() : null, settings, spider);
  mkdirSync(path.join(project.dir, 'pipelines'));
  writeFileSync(path.join(project.dir, 'pipelines', 'store.ts'), server === null ? intoSqlite : intoPostgres);
  symlinkSync(modules, path.join(project.dir, 'node_modules'));
  process.env.DATABASE_URL = server?.url ?? '';
  process.env.PAUSE_MS = '20';

  const start = Array.from({ length: CHAINS }, (_, n) => `${site.origin}/p${n + 1}`).join(' ');
  const startNode = () => crawl(project, ['-a', `start=${start}`, '--exit-when-done']);
  const nodes = Array.from({ length: NODES }, startNode);
  const killed = await killHalfway(project, nodes, startNode);
  web.last = web.highest;
  const ends = await Promise.all(nodes.map((node) => endOf(node, 120_000)));
  const problems = ends
    .filter(({ code }) => code !== 0)
    .map(({ code, signal }) => `a node ended with ${code ?? signal}`);

  const rows = server === null ? sqliteRows(project) : await postgresRows(server);
  const { counters, outbox, breaches, pending, leased } = await look(project);
  const counted = counters.item_scraped_count;
  const unique = new Set(rows.map(({ page, part }) => `${page} ${part}`));
  if (rows.length !== counted) problems.push(`${counted} items counted, ${rows.length} in the database`);
  if (unique.size !== rows.length) problems.push(`${rows.length - unique.size} items are there twice`);
  const waiting = outbox.reduce((sum, each) => sum + each.waiting, 0);
  if (waiting + pending + leased > 0)
    problems.push(`${waiting} items wait, ${pending + leased} requests are left`);
  problems.push(...breaches);
  const again = rows.filter(({ writes }) => writes > 1).length;
  if (problems.length > 0)
    for (const node of nodes) console.error(node.said.split('\n').slice(-5).join('\n'));
  const what = `${killed} nodes killed in the middle of a batch; ${counted} items counted, ${rows.length} in the database, ${again} of them written more than once`;
  return `${what}: ${problems.length === 0 ? 'held' : `FAILED: ${problems.join('; ')}`}`;
}

/** Kill the node that is in the middle of a batch, again and again; some batches are let through, so that the crawl goes on. */
async function killHalfway(project, nodes, startNode) {
  const file = path.join(project.dir, 'halfway');
  const entries = () =>
    existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1).map(Number) : [];
  let seen = 0;
  let killed = 0;
  while (killed < kills) {
    await until(() => entries().length > seen, 'a batch', 60_000);
    seen = entries().length;
    const at = nodes.findIndex(({ pid }) => pid === entries().at(-1));
    if (at < 0 || nodes[at].over() || Math.random() < 0.6) continue;
    await sleep(Math.random() * 15);
    nodes[at].signal('SIGKILL');
    await nodes[at].ended;
    killed += 1;
    nodes[at] = startNode();
  }
  return killed;
}

function sqliteRows(project) {
  const { DatabaseSync } = createRequire(import.meta.url)('@photostructure/sqlite');
  const database = new DatabaseSync(path.join(project.dir, 'items.db'));
  const rows = database.prepare('SELECT page, part, writes FROM item').all();
  database.close();
  return rows;
}

async function postgresRows({ url }) {
  const sql = postgres(url);
  const rows = await sql`SELECT page, part, writes FROM item`;
  await sql.end();
  return [...rows];
}
