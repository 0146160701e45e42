// What a damaged embedded store does to every command, and what "doctor --repair" saves of it.
//
//   node scripts/proof/damaged-store.mjs [rounds]
//
// A real crawl of a local site fills a store and is ended by a budget. Copies of it are damaged, each in another way: cut
// off, its header overwritten, pages zeroed or overwritten, its log overwritten or cut off. On each copy every command is
// run, then `doctor --repair`, `doctor --deep`, and the crawl to its end. No command may be ended by a signal or take more
// than a minute; each that fails must say what to do. `rounds` (1) repeats the random damages.
import { spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const executable = fileURLToPath(new URL('../../bin/crawlnode.js', import.meta.url));
const PAGES = 1_200;
const PAGE_BYTES = 4_096;
const TIMEOUT_MS = 60_000;
const rounds = Number(process.argv[2] ?? 1);

const site = createServer((request, response) => {
  const n = Number(/\d+/.exec(request.url)?.[0] ?? 0);
  const links = Array.from({ length: 12 }, (_, k) => (n * 12 + k + 1) % PAGES);
  const body = links
    .map((link) => `<a href="/page-${link}">${'a page with some text '.repeat(3)}${link}</a>`)
    .join('');
  response.writeHead(n % 50 === 49 ? 404 : 200, { 'content-type': 'text/html' }).end(`<html>${body}</html>`);
});
await new Promise((listening) => site.listen(0, '127.0.0.1', listening));
const origin = `http://127.0.0.1:${site.address().port}`;

const folder = mkdtempSync(path.join(tmpdir(), 'damaged-store-'));
const whole = path.join(folder, 'whole');
mkdirSync(path.join(whole, 'spiders'), { recursive: true });
writeFileSync(
  path.join(whole, 'crawlnode.yaml'),
  'ROBOTSTXT_OBEY: false\nCONCURRENT_REQUESTS: 16\nCONCURRENT_REQUESTS_PER_DOMAIN: 16\n',
);
writeFileSync(
  path.join(whole, 'spiders', 'walk.ts'),
  `import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = 'walk';
  startUrls = ['${origin}/page-0'];
  *parse(response: Response) {
    yield { url: response.url, text: 'some text of the page '.repeat(5) };
    yield* response.followAll(response.links(), this.parse);
  }
}
`,
);

const commands = [
  ['stats', 'walk', '--json'],
  ['list'],
  ['doctor', 'walk'],
  ['doctor', 'walk', '--deep'],
  ['seed', 'walk', `${origin}/page-1`],
  ['failed', 'walk', 'list'],
  ['items', 'walk', 'export', '-o', 'exported.jsonl'],
  ['inspect', 'walk', `${origin}/page-1`],
  ['forget', 'walk', `${origin}/page-1`],
  ['pause', 'walk'],
  ['reset', 'walk', '--dry-run'],
  ['crawl', 'walk', '--exit-when-done', '--max-pages', '5'],
];

/** How a command ended. */
function run(cwd, args) {
  return new Promise((ended) => {
    const child = spawn(process.execPath, [executable, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (said += text));
    const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      ended({ code, signal, said });
    });
  });
}

const isAdvice = /--repair|--deep|delete the folder|reset|crawlnode crawl/;

const overwrite = (file, at, bytes) => {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, bytes, 0, bytes.length, at);
  closeSync(descriptor);
};
const pagesOf = (file) => Math.floor(statSync(file).size / PAGE_BYTES);
const inPages = (file, count, bytes) => {
  for (let n = 0; n < count; n += 1) {
    const page = randomInt(pagesOf(file));
    const data = bytes();
    overwrite(
      file,
      page * PAGE_BYTES + (data.length === PAGE_BYTES ? 0 : randomInt(PAGE_BYTES - data.length)),
      data,
    );
  }
};

const ofFile = [
  ['cut to half', (file) => truncateSync(file, Math.floor(statSync(file).size / 2))],
  ['cut to 3/4', (file) => truncateSync(file, Math.floor(statSync(file).size * 0.75))],
  ['cut to 8,192 bytes', (file) => truncateSync(file, 8_192)],
  ['cut to 100 bytes', (file) => truncateSync(file, 100)],
  ['cut to 0 bytes', (file) => truncateSync(file, 0)],
  ['header garbled', (file) => overwrite(file, 0, randomBytes(100))],
  ['first page garbled', (file) => overwrite(file, 0, randomBytes(PAGE_BYTES))],
  ['all zeros', (file) => writeFileSync(file, Buffer.alloc(statSync(file).size))],
];
const random = [
  ['3 pages zeroed', (file) => inPages(file, 3, () => Buffer.alloc(PAGE_BYTES))],
  ['30 pages zeroed', (file) => inPages(file, 30, () => Buffer.alloc(PAGE_BYTES))],
  ['bytes in 3 pages', (file) => inPages(file, 3, () => randomBytes(64))],
  ['bytes in 18 pages', (file) => inPages(file, 18, () => randomBytes(200))],
  ['3 pages garbled', (file) => inPages(file, 3, () => randomBytes(PAGE_BYTES))],
  ['18 pages garbled', (file) => inPages(file, 18, () => randomBytes(PAGE_BYTES))],
];
const ofLog = [
  ['log garbled', (file) => overwrite(`${file}-wal`, 0, randomBytes(PAGE_BYTES))],
  ['log: bytes garbled', (file) => inPages(`${file}-wal`, 6, () => randomBytes(100))],
  ['log cut to half', (file) => truncateSync(`${file}-wal`, Math.floor(statSync(`${file}-wal`).size / 2))],
];

const first = await run(whole, ['crawl', 'walk', '--max-pages', '400', '-o', 'items.jsonl']);
if (first.code !== 0) throw new Error(`the first crawl failed: ${first.said}`);
checkpoint(path.join(whole, '.crawlnode', 'frontier.db'));
const withLog = path.join(folder, 'with-log');
cpSync(whole, withLog, { recursive: true });
await crawlAndKill(withLog);

/** Bring all of the log into the file: otherwise it makes good what the file loses. */
function checkpoint(file) {
  const { DatabaseSync } = createRequire(import.meta.url)('@photostructure/sqlite');
  const database = new DatabaseSync(file);
  database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
  database.close();
}

/** A store whose log holds commits: its node was killed. */
async function crawlAndKill(cwd) {
  const child = spawn(process.execPath, [executable, 'crawl', 'walk'], { cwd, stdio: 'ignore' });
  const log = path.join(cwd, '.crawlnode', 'frontier.db-wal');
  for (const until = Date.now() + 30_000; Date.now() < until; ) {
    if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 400_000) break;
    await new Promise((tick) => setTimeout(tick, 20));
  }
  child.kill('SIGKILL');
  await new Promise((ended) => child.on('close', ended));
}

const before = JSON.parse(
  (await run(whole, ['stats', 'walk', '--json'])).said.split('\n').slice(0, -1).join('\n'),
);
console.log(
  `the store: ${before.pending} pending, ${before.done} done, ${before.seen} seen, ${before.items} items`,
);
console.log(
  `${'damage'.padEnd(22)} commands failed signals silent  repair  pages rows lost            live  seen  items  then`,
);

let signals = 0;
let silent = 0;
const damages = [
  ...ofFile.map((damage) => [...damage, whole]),
  ...Array.from({ length: rounds }, () => random.map((damage) => [...damage, whole])).flat(),
  ...ofLog.map((damage) => [...damage, withLog]),
];
for (const [name, damage, source] of damages) {
  const damaged = path.join(folder, 'damaged');
  rmSync(damaged, { recursive: true, force: true });
  cpSync(source, damaged, { recursive: true });
  damage(path.join(damaged, '.crawlnode', 'frontier.db'));
  const copy = path.join(folder, 'copy');
  const ends = [];
  for (const args of commands) {
    // Each meets the damage as it was.
    rmSync(copy, { recursive: true, force: true });
    cpSync(damaged, copy, { recursive: true });
    ends.push({ args, ...(await run(copy, args)) });
  }
  const failed = ends.filter(({ code }) => code !== 0);
  const killed = ends.filter(({ signal }) => signal !== null);
  const mute = failed.filter(({ said, signal }) => signal === null && !isAdvice.test(said));
  const repair = await run(damaged, ['doctor', 'walk', '--repair', '--json']);
  const then = [];
  for (const args of [
    ['doctor', 'walk', '--deep'],
    ['crawl', 'walk', '--exit-when-done'],
    ['doctor', 'walk', '--deep'],
  ]) {
    const end = await run(damaged, args);
    then.push(end.signal ?? end.code);
    if (end.code !== 0) console.error(args.join(' '), end.said.slice(-600));
    if (args[0] === 'doctor' && then.length === 1) repair.after = await statsOf(damaged);
  }
  signals += killed.length + (repair.signal === null ? 0 : 1);
  silent += mute.length;
  const { pages = 0, rows = 0, lost = 0 } = costOf(repair.said);
  const { after } = repair;
  console.log(
    `${name.padEnd(22)} ${String(ends.length).padStart(8)} ${String(failed.length).padStart(6)} ${String(killed.length).padStart(7)} ${String(mute.length).padStart(6)} ${String(repair.signal ?? repair.code).padStart(7)} ${String(pages).padStart(6)} ${String(rows).padStart(4)} ${String(lost).padStart(4)} ${String(after === null ? '?' : after.pending + after.delayed + after.failed).padStart(15)} ${String(after?.seen ?? '?').padStart(5)} ${String(after?.items ?? '?').padStart(6)}  ${then.join(' ')}`,
  );
  for (const { args, said, signal } of [...killed, ...mute])
    console.error(`  ${args.join(' ')} (${signal ?? 'no advice'}): ${said.slice(-500)}`);
  if (![0, 1].includes(repair.code)) console.error(repair.said.slice(-1500));
}
console.log(`signals: ${signals}, commands without advice: ${silent}`);
site.close();
rmSync(folder, { recursive: true, force: true });
process.exitCode = signals + silent === 0 ? 0 : 1;

async function statsOf(cwd) {
  const { code, said } = await run(cwd, ['stats', 'walk', '--json']);
  return code === 0 ? JSON.parse(said) : null;
}

/** What the repair says of its cost. */
function costOf(said) {
  const findings = /"findings"/.test(said) ? JSON.parse(said.slice(said.indexOf('{'))).findings : [];
  const text = findings.find(({ check }) => check === 'damaged_store')?.message ?? '';
  const [, pages, rows] = /: ([\d,]+) pages? and ([\d,]+) other rows?/.exec(text) ?? [];
  return { pages, rows, lost: findings.filter(({ check }) => check === 'lost').length };
}
