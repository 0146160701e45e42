// `npm test [-- vitest arguments]`: build, format and lint, types, known vulnerabilities of the dependencies (skipped where
// the registry does not answer), then the tests on a real redis-server, and the slowest of them.
//
// Everything is run even when something before it failed, so that one run tells all. The last line is
// `N passed, N failed`: each step is one check, then every test of vitest's own report.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureRedis } from './ensure-redis.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
const AUDIT = 'known vulnerabilities';
const tally = { passed: 0, failed: 0, skipped: 0 };
/** More failed files than this are no accident of a busy machine. */
const MOST_RUN_AGAIN = 3;
/** So many of the slowest tests are named. */
const SLOWEST = 20;
/** A step that ends so could not be made. */
const NOT_MADE = 2;
const startedAt = performance.now();

const tsc = require.resolve('typescript/bin/tsc');
// Two at a time, as each uses one core; meanwhile a redis-server that is missing is installed.
const checks = Promise.all([
  checkInOrder({
    types: [tsc, '--noEmit'],
    [AUDIT]: [path.join(root, 'scripts', 'audit.mjs')],
  }),
  checkInOrder({
    build: [path.join(root, 'scripts', 'build.mjs')],
    'format and lint': [require.resolve('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', '.'],
    'types of spiders': [tsc, '--noEmit', '-p', 'tsconfig.spiders.json'],
  }),
]);
const hasRedis = await ensureRedis();
await checks;
if (!hasRedis) process.exit(1);
await tests(process.argv.slice(2));

console.log(`\n${seconds(performance.now() - startedAt)} s in all`);
if (tally.skipped > 0) console.log(`${tally.skipped} skipped`);
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exitCode = tally.failed === 0 ? 0 : 1;

/** @param scripts the name of each step → its script and arguments */
async function checkInOrder(scripts) {
  for (const [name, script] of Object.entries(scripts)) await check(name, script);
}

/** A step of one Node script. Its output is printed when it has ended, so that steps can run at the same time. */
async function check(name, script) {
  const { code, output } = await runQuietly(script);
  const isSkipped = code === NOT_MADE && name === AUDIT;
  tally[isSkipped ? 'skipped' : code === 0 ? 'passed' : 'failed'] += 1;
  const verdict = isSkipped ? 'skipped, it could not be made' : code === 0 ? 'ok' : 'FAILED';
  console.log(`\n── ${name}\n${output}${name}: ${verdict}`);
}

/**
 * Vitest, counted from its JSON report; a crash, a file that does not load, or no test at all is a failure.
 *
 * The tests meet real servers and clocks while several files run side by side. Of a whole run, a few files that failed run
 * once more, one at a time; their second result counts, and each test that needed it is named.
 */
async function tests(args) {
  console.log('\n── tests');
  const { files, code } = await vitest(args);
  nameSlowest(files);
  const failed = files.filter(({ status }) => status === 'failed');
  if (args.length > 0 || failed.length === 0 || failed.length > MOST_RUN_AGAIN) return count(files, code);

  console.log('\n── once more, one file at a time: what failed');
  const again = await vitest([...failed.map(({ name }) => path.relative(root, name)), '--maxWorkers=1']);
  const second = new Map(again.files.map((file) => [file.name, file]));
  for (const file of failed) nameUnsteady(file, second.get(file.name));
  count(
    files.map((file) => second.get(file.name) ?? file),
    again.code,
  );
}

/** @returns files: what the report says of each file; code: the exit code of vitest. */
async function vitest(args) {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'crawlnode-report-'));
  const file = path.join(dir, 'report.json');
  try {
    const vitest = path.join(path.dirname(require.resolve('vitest/package.json')), 'vitest.mjs');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
    const code = await run([vitest, 'run', ...reporters, ...args]);
    const report = JSON.parse(await readFile(file, 'utf8').catch(() => 'null'));
    return { files: report?.testResults ?? [], code };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** The slowest tests of a run, with their seconds, hooks of single tests included. */
function nameSlowest(files) {
  const all = files.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, duration = 0 }) => ({
      name: path.relative(root, name),
      fullName,
      duration,
    })),
  );
  all.sort((a, b) => b.duration - a.duration);
  console.log(`\n── the slowest ${Math.min(SLOWEST, all.length)} tests, in seconds`);
  for (const { name, fullName, duration } of all.slice(0, SLOWEST))
    console.log(`${seconds(duration).padStart(6)}  ${name}: ${fullName.trim()}`);
}

function seconds(ms) {
  return (ms / 1_000).toFixed(1);
}

/** Say which tests of a file failed at first and passed when the file was run again. */
function nameUnsteady(first, second) {
  const passed = new Set(
    second?.assertionResults.filter(({ status }) => status === 'passed').map(({ fullName }) => fullName),
  );
  for (const { status, fullName } of first.assertionResults)
    if (status === 'failed' && passed.has(fullName))
      console.log(`passed at the second try only: ${fullName}`);
}

function count(files, code) {
  const failedBefore = tally.failed;
  let found = 0;
  for (const file of files) {
    let failedHere = 0;
    for (const { status } of file.assertionResults) {
      if (status === 'passed') tally.passed += 1;
      else if (status === 'failed') failedHere += 1;
      else tally.skipped += 1;
      if (status === 'passed' || status === 'failed') found += 1;
    }
    // The file did not load, or its hooks failed: no test of it says so.
    if (file.status === 'failed' && failedHere === 0) failedHere = 1;
    tally.failed += failedHere;
  }
  const saidWhy = tally.failed > failedBefore;
  if (found === 0 && !saidWhy) {
    console.log('tests: FAILED, none was run');
    tally.failed += 1;
  } else if (code !== 0 && !saidWhy) {
    console.log(`tests: FAILED, vitest ended with ${code} for a reason outside the tests (see above)`);
    tally.failed += 1;
  }
}

/** Run a Node script to its end with our own output. @returns its exit code; 1 when a signal ended it. */
function run(args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

/** Run a Node script to its end. @returns its exit code, 1 when a signal ended it; output: what it wrote to both streams. */
function runQuietly(args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    child.once('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
