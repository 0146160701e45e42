/**
 * R24: somebody deletes keys of a crawl, or lets them expire: under live nodes, and between two runs. The crawl gets all pages
 * nevertheless, or exits 1 with the reason in this run and in every later one, until somebody repairs it or accepts the losses.
 * `start_urls` is not among the keys: a seed that no node has read belongs to whoever pushed it.
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import { beginCrawl } from '../harness/crawling.mjs';
import { startSite } from '../harness/local-site.mjs';
import { crawl, endOf } from '../harness/project.mjs';
import { until } from '../harness/stage.mjs';

const PAGES = 150;
/** How long a hand's TTL lasts. */
const EXPIRES_MS = 300;
/** After this time a node that waits for something has been silent for too long. */
const LATEST_MS = 30_000;
const { DatabaseSync } = createRequire(import.meta.url)('@photostructure/sqlite');

/** What people see in a store, and what only crawlnode reads: keys of Redis behind `walk:`, statements on the embedded file. */
const publicParts = {
  redis: ['requests', 'items', 'stats'],
  embedded: ['DELETE FROM record', 'DELETE FROM item', 'DELETE FROM counter'],
};
const internalParts = {
  redis: [
    ...['meta', 'queue', 'ready', 'domains', 'leases', 'nodes', 'node-info', 'held', 'answers', 'feeds'].map(
      (word) => `requests:~${word}`,
    ),
  ],
  embedded: [
    'DELETE FROM request',
    `DELETE FROM request WHERE state = 'pending'`,
    `DELETE FROM request WHERE state = 'leased'`,
    'DELETE FROM domain',
    'DELETE FROM node',
  ],
};

export const vanishedKeys = [
  {
    row: 'R24',
    fault:
      'the dupefilter is deleted under 2 live nodes, then a page is seeded: its links are followed again',
    engines: ['redis', 'embedded'],
    run: dupefilterLive,
  },
  ...[
    ['requests, items or stats', publicParts],
    ['an index of the requests', internalParts],
  ].flatMap(([what, parts]) => [
    {
      row: 'R24',
      fault: `${what}: deleted, or with a TTL that ends, under 2 live nodes`,
      engines: ['redis', 'embedded'],
      run: (row) => eachPart(row, parts, deleteLive),
    },
    {
      row: 'R24',
      fault: `${what}: deleted between two runs`,
      engines: ['redis', 'embedded'],
      run: (row) => eachPart(row, parts, deleteBetween),
    },
  ]),
];

/** With --short one of the parts, else each in a crawl of its own. */
async function eachPart(row, parts, tryPart) {
  const all = parts[row.engine].flatMap((part) =>
    deedsOf(row.engine, tryPart).map((deed) => ({ part, deed })),
  );
  const tried = row.scale.name === 'short' ? [row.random.of(all)] : all;
  const problems = [];
  const endings = new Map();
  let deleted = 0;
  for (const { part, deed } of tried) {
    const outcome = await tryPart(row, part, deed);
    deleted += outcome.deleted;
    endings.set(outcome.ending, (endings.get(outcome.ending) ?? 0) + 1);
    problems.push(...outcome.problems.map((problem) => `${deed} ${part}: ${problem}`));
  }
  const note = [...endings].map(([ending, count]) => `${count} times ${ending}`).join(', ');
  return { problems, times: tried.length, happened: { 'parts that were there and are gone': deleted }, note };
}

const deedsOf = (engine, tryPart) =>
  engine === 'redis' && tryPart === deleteLive ? ['DEL', 'PEXPIRE'] : ['DEL'];

async function deleteLive(row, part, deed) {
  const crawling = await beginCrawl(row, {
    nodes: 2,
    site: await startSite({ pages: PAGES, delayMs: () => 100 }),
  });
  await crawling.untilAllCrawl();
  await crawling.untilPart(0.3);
  const deleted = crawling.isOver ? 0 : await deletePart(crawling, part, deed);
  return { deleted, ...(await judge(crawling)) };
}

async function deleteBetween(row, part) {
  const site = await startSite({ pages: PAGES, delayMs: () => 20 });
  const crawling = await beginCrawl(row, { nodes: 0, site });
  crawling.start(0, ['--max-pages', '50']);
  await crawling.ends();
  const deleted = await deletePart(crawling, part, 'DEL');
  crawling.start(0);
  return { deleted, ...(await judge(crawling)) };
}

/** @returns 1 where there was anything. */
async function deletePart({ project, redis }, part, deed) {
  if (redis === null) return Number(inFile(project, (database) => database.exec(part)) > 0);
  const key = `walk:${part}`;
  if (deed === 'DEL') return redis.db.del(key);
  const found = await redis.db.pexpire(key, EXPIRES_MS);
  if (found === 1) await until(async () => (await redis.db.pttl(key)) < 0, 'the TTL to end');
  return found;
}

/** A hand in the embedded file. @returns how many rows it changed */
function inFile({ dir }, act) {
  const database = new DatabaseSync(path.join(dir, '.crawlnode', 'frontier.db'), { timeout: 10_000 });
  try {
    const changes = () => database.prepare('SELECT total_changes() AS n').get().n;
    const before = changes();
    act(database);
    return changes() - before;
  } finally {
    database.close();
  }
}

/**
 * Either nothing is missing; or it is said, and every later run says it, until it is mended or accepted. What only counts, such as
 * the number of items, may be wrong until `doctor --repair`, if doctor says so.
 * @returns ending and problems
 */
async function judge(crawling) {
  const endAll = () => Promise.all(crawling.nodes.map((node) => endOf(node, LATEST_MS)));
  const again = () => {
    for (const n of crawling.nodes.keys()) crawling.start(n);
    return endAll();
  };
  const isGood = (ends) => ends.every(({ code }) => code === 0);
  const first = await endAll();
  if (isGood(first)) return { ending: 'nothing missing', problems: await whole(crawling) };
  const problems = first.flatMap(({ code, signal }, n) => {
    const { said, out } = crawling.nodes[n];
    if (code !== 1 && code !== 0) return [`a node ended with ${code ?? signal}: ${said.slice(-300)}`];
    const isSaid = code === 0 || /lost|gone|vanished/.test(said + out);
    return isSaid ? [] : [`a node did not say why: ${said.slice(-300)}`];
  });
  if (isGood(await again()))
    return { ending: 'exit 1, then nothing missing', problems: [...problems, ...(await whole(crawling))] };
  await crawling.command('doctor', 'walk', '--repair');
  await crawling.command('doctor', 'walk', '--accept-losses');
  for (const { code, signal } of await again())
    if (code !== 0) problems.push(`mended and accepted, it ended with ${code ?? signal}`);
  problems.push(...(await crawling.doctor()));
  return { ending: 'exit 1 until it was mended or accepted', problems };
}

/** A list that somebody deleted misses what was in it, but the files have all. */
async function whole(crawling) {
  const { problems } = await crawling.verdict({ isListed: false });
  if (!problems.some((problem) => problem.startsWith('doctor: '))) return problems;
  await crawling.command('doctor', 'walk', '--repair');
  return [...problems.filter((problem) => !problem.startsWith('doctor: ')), ...(await crawling.doctor())];
}

async function dupefilterLive(row) {
  const site = await startSite({ pages: 40 });
  const crawling = await beginCrawl(row, { nodes: 0, site });
  // Service nodes: they stay, with what they know to be seen.
  const nodes = [0, 1].map((n) => crawl(crawling.project, [...site.args, '-o', `n${n}.jsonl`]));
  const doneAre = (count) => async () => (await crawling.stats()).done >= count;
  await until(doneAre(40), 'all pages');
  const deleted =
    row.engine === 'redis'
      ? await crawling.redis.db.del('walk:dupefilter')
      : Number(inFile(crawling.project, (database) => database.exec('DELETE FROM seen')) > 0);
  await crawling.command('seed', 'walk', site.url);
  const problems = [];
  await until(doneAre(80), 'the links to be followed again', 15_000, 200).catch(async () => {
    const { done } = await crawling.stats();
    problems.push(`${done - 40} of 40 pages came again: links were dropped as seen`);
  });
  const said = nodes.filter(({ said }) => said.includes('vanished from the dupefilter')).length;
  if (said === 0) problems.push('no node said that fingerprints vanished');
  await crawling.command('stop', 'walk');
  for (const { code } of await Promise.all(nodes.map((node) => endOf(node))))
    if (code !== 0) problems.push(`a node ended with ${code}`);
  return { problems, pages: 40, happened: { 'dupefilters deleted': deleted } };
}
