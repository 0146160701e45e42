/**
 * R33: a damaged embedded store. A crawl fills a store and is ended by a budget. Copies of it are damaged, each in another way.
 * On each copy every command is run, then `doctor --repair`, `doctor --deep`, and the crawl to its end. No command may be
 * ended by a signal or take more than a minute; each that fails must say what to do.
 */
import { cpSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { beginCrawl } from '../harness/crawling.mjs';
import { html, startSite } from '../harness/local-site.mjs';
import { command, start } from '../harness/project.mjs';
import { tempDir, until } from '../harness/stage.mjs';

const PAGES = 1_200;
const PAGES_BEFORE = 400;
const PAGE_BYTES = 4_096;
const LEAST_LOG_BYTES = 400_000;
const TIMEOUT_MS = 60_000;
/** What a command says whose store is damaged. */
const ADVICE = /--repair|--deep|delete the folder|reset|crawlnode crawl/;

const halved = async (file) => truncateSync(file, Math.floor(statSync(file).size / 2));
const cutTo = (bytes) => async (file) => truncateSync(file, bytes);
const log = (damage) => (file, random) => damage(`${file}-wal`, random);
const bytesOf = (random, count) => Buffer.from(Array.from({ length: count }, () => random.below(256)));

async function overwrite(file, at, bytes) {
  const handle = await open(file, 'r+');
  await handle.write(bytes, 0, bytes.length, at);
  await handle.close();
}

const garbled = (count) => (file, random) => overwrite(file, 0, bytesOf(random, count));

/** So many random pages, each with these bytes somewhere in it. */
const inPages = (count, make) => async (file, random) => {
  for (let n = 0; n < count; n += 1) {
    const bytes = make(random);
    const page = random.below(Math.floor(statSync(file).size / PAGE_BYTES));
    await overwrite(file, page * PAGE_BYTES + random.below(PAGE_BYTES - bytes.length + 1), bytes);
  }
};
const zeros = () => Buffer.alloc(PAGE_BYTES);

/** Of the file, and of its log. */
const damages = {
  'cut to half': halved,
  'cut to 8,192 bytes': cutTo(8_192),
  'cut to 100 bytes': cutTo(100),
  'cut to nothing': cutTo(0),
  'header garbled': garbled(100),
  'first page garbled': garbled(PAGE_BYTES),
  'all zeros': async (file) => writeFileSync(file, Buffer.alloc(statSync(file).size)),
  '3 pages zeroed': inPages(3, zeros),
  '30 pages zeroed': inPages(30, zeros),
  'bytes in 18 pages': inPages(18, (random) => bytesOf(random, 200)),
  '3 pages garbled': inPages(3, (random) => bytesOf(random, PAGE_BYTES)),
  '18 pages garbled': inPages(18, (random) => bytesOf(random, PAGE_BYTES)),
};
const damagesOfLog = {
  'log garbled': log(garbled(PAGE_BYTES)),
  'log: bytes garbled': log(inPages(6, (random) => bytesOf(random, 100))),
  'log cut to half': log(halved),
};

const commandsOn = (url) => [
  ['stats', 'walk', '--json'],
  ['list'],
  ['doctor', 'walk'],
  ['doctor', 'walk', '--deep'],
  ['seed', 'walk', url],
  ['failed', 'walk', 'list'],
  ['items', 'walk', 'export', '-o', 'exported.jsonl'],
  ['inspect', 'walk', url],
  ['forget', 'walk', url],
  ['pause', 'walk'],
  ['reset', 'walk', '--dry-run'],
];

export const damagedFile = {
  row: 'R33',
  fault:
    'the file of the embedded store, or its log, is cut off, zeroed or overwritten while nothing runs; doctor --repair',
  engines: ['embedded'],
  async run({ engine, scale, random }) {
    const site = await startSite({ answer: answerWithLinks });
    const crawling = await beginCrawl({ engine, scale }, { site, nodes: 0 });
    const { dir } = crawling.project;
    const crawl = (...more) => ['crawl', 'walk', ...site.args, ...more];
    const first = await crawling.command(...crawl('--max-pages', String(PAGES_BEFORE), '-o', 'items.jsonl'));
    if (first.code !== 0) throw new Error(`the first crawl ended with ${first.code}: ${first.stderr}`);
    checkpoint(path.join(dir, '.crawlnode', 'frontier.db'));
    const withLog = path.join(await tempDir('with-log'), 'project');
    cpSync(dir, withLog, { recursive: true });
    await crawlAndKill({ dir: withLog }, crawl());
    const commands = [...commandsOn(`${site.origin}/p1`), crawl('--exit-when-done', '--max-pages', '5')];
    const all = [
      ...Object.entries(damages).map(([name, damage]) => ({ name, damage, source: dir })),
      ...Object.entries(damagesOfLog).map(([name, damage]) => ({ name, damage, source: withLog })),
    ];
    const tried = scale.name === 'short' ? [random.of(all)] : all;
    const problems = [];
    let failed = 0;
    for (const { name, damage, source } of tried) {
      const outcome = await judgeDamage({ damage, source, random, commands, crawl });
      failed += outcome.failed;
      problems.push(...outcome.problems.map((problem) => `${name}: ${problem}`));
    }
    return { problems, times: tried.length, note: `${failed} commands failed with advice` };
  },
};

function answerWithLinks(url, response) {
  const n = Number(/\d+/.exec(url)?.[0] ?? 0);
  html(
    response,
    Array.from({ length: 12 }, (_, k) => `/p${(n * 12 + k + 1) % PAGES}`),
  );
  return true;
}

/** Each command on a copy of its own; then the repair, and what comes after it. */
async function judgeDamage({ damage, source, random, commands, crawl }) {
  const damaged = path.join(await tempDir('damaged'), 'project');
  const copy = path.join(await tempDir('copy'), 'project');
  cpSync(source, damaged, { recursive: true });
  await damage(path.join(damaged, '.crawlnode', 'frontier.db'), random);
  const problems = [];
  let failed = 0;
  const run = async (folder, args, isDone) => {
    const { code, signal, stdout, stderr } = await command({ dir: folder }, args, { timeoutMs: TIMEOUT_MS });
    const said = (stdout + stderr).slice(-400);
    if (signal !== null) problems.push(`${args.join(' ')} was ended by ${signal}: ${said}`);
    else if (!isDone(code, said)) problems.push(`${args.join(' ')} ended with ${code}: ${said}`);
    if (code !== 0) failed += 1;
  };
  for (const args of commands) {
    rmSync(copy, { recursive: true, force: true });
    cpSync(damaged, copy, { recursive: true });
    await run(copy, args, (code, said) => code === 0 || ADVICE.test(said));
  }
  await run(damaged, ['doctor', 'walk', '--repair'], (code) => code === 0 || code === 1);
  // Requests whose records are lost stay a finding, and a crawl that finishes with some exits 1.
  const isSound = (code, said) => code === 0 || (code === 1 && /requests? (?:were |are )?lost/.test(said));
  await run(damaged, crawl('--exit-when-done'), isSound);
  await run(damaged, ['doctor', 'walk', '--deep'], isSound);
  return { failed, problems };
}

/** Bring all of the log into the file: otherwise it makes good what the file loses. */
function checkpoint(file) {
  const { DatabaseSync } = createRequire(import.meta.url)('@photostructure/sqlite');
  const database = new DatabaseSync(file);
  database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
  database.close();
}

/** A store whose log holds commits: its node was killed. */
async function crawlAndKill(project, args) {
  const running = start(project, args);
  const file = path.join(project.dir, '.crawlnode', 'frontier.db-wal');
  const isLarge = () => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LEAST_LOG_BYTES;
  await until(isLarge, 'a log with commits');
  running.signal('SIGKILL');
  await running.ended;
}
