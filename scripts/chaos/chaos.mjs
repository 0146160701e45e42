/**
 * Faults made from outside the product, under crawls by real processes, on both engines: one row or more for each line of
 * docs/internals/faults.md. Pages are compared with what an independent crawler found, and `doctor --deep` must be clean
 * after each. Run by `npm run chaos`; see options.mjs.
 *
 * A row is { row, fault, engines, run }, `isLong` where --short leaves it out, and `isAlone` where nothing may run beside it. `run({ engine, scale, random })` resolves
 * with what it measured: { problems, times, happened, missing, twice, refetched, pages, recoveryMs, note }, all optional.
 * A problem is BROKEN. `times` counts the faults, and `happened` what shows that they had an effect, as { sentence: count }:
 * where one of these is 0 nothing was proven. The row is tried again then, and is BROKEN after the third time.
 */

import { requireDocs } from './harness/docs-site.mjs';
import { cpuSeconds } from './harness/samples.mjs';
import { runMutants } from './mutants/run-mutants.mjs';
import { readOptions, usage } from './options.mjs';
import { randomOf } from './random.mjs';
import { reportOf, tableOf, writeRows } from './report.mjs';
import { allRows } from './rows.mjs';
import { TRIES, tryRow } from './try-row.mjs';

const options = optionsOrEnd();
const { seed, scale } = options;
console.log(`chaos: seed ${seed}, ${scale.name}, ${options.jobs} at a time`);
if (options.isMutants) process.exit((await runMutants(options)) ? 0 : 1);
const reports = [];
const all = chosen();
let writing = Promise.resolve();
await runAll(
  all.filter(({ row }) => row.isAlone === true),
  1,
);
await runAll(
  all.filter(({ row }) => row.isAlone !== true),
  options.jobs,
);
await writing;
reports.sort((a, b) => a.row.localeCompare(b.row, 'en', { numeric: true }));
if (reports.length > 0) console.log(tableOf(reports));
else console.error('chaos: no row was run');
const broken = reports.filter(({ problems }) => problems.length > 0);
for (const { command } of broken) console.log(`BROKEN: ${command}`);
const verdict =
  broken.length === 0 ? `all ${reports.length} held` : `${broken.length} of ${reports.length} BROKEN`;
console.log(`chaos: ${verdict} (${secondsSince(0)} s, ${cpuSeconds().toFixed(0)} s of CPU)`);
process.exit(broken.length === 0 && reports.length > 0 ? 0 : 1);

/** @param jobs so many rows beside each other */
async function runAll(rows, jobs) {
  const waiting = [...rows];
  const runWaiting = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const report = await measure(next.row, next.engine);
      reports.push(report);
      // At once: a long run may be ended before its last row. One at a time: each rewrites the page.
      if (options.write) writing = writing.then(() => writeRows([report]));
    }
  };
  await Promise.all(Array.from({ length: jobs }, runWaiting));
}

function optionsOrEnd() {
  try {
    const options = readOptions(process.argv.slice(2));
    if (options.help) {
      console.log(usage);
      process.exit(0);
    }
    if (!options.scale.generated) requireDocs();
    return options;
  } catch (error) {
    console.error(`chaos: ${error.message}`);
    process.exit(2);
  }
}

/** With --short one fault of each row on one engine, as the seed chooses; else all on each engine. */
function chosen() {
  const { only, fault, engine, isHostile } = options;
  const all = allRows
    .filter(({ row }) => (only === null ? row.startsWith('H') === isHostile : only.includes(row)))
    .filter((row) => row.fault.includes(fault))
    .flatMap((row) => row.engines.map((name) => ({ row, engine: name })))
    .filter(({ engine: name }) => engine === null || name === engine);
  if (scale.name !== 'short') return all;
  const quick = all.filter(({ row }) => row.isLong !== true);
  const names = [...new Set(quick.map(({ row }) => row.row))];
  return names.map((name) => randomOf(seed, name).of(quick.filter(({ row }) => row.row === name)));
}

async function measure(row, engine) {
  const startedAt = performance.now();
  let outcome;
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const tried = await tryRow(row, { engine, seed, scale, attempt });
    outcome = tried.outcome;
    if (outcome.problems.length > 0 || tried.absent.length === 0) break;
    const said = `did not happen: ${tried.absent.join(', ')}`;
    if (attempt === TRIES) outcome.problems.push(`${said}, in ${TRIES} tries`);
    else console.error(`${row.row} ${engine}: ${row.fault}: ${said}; once more`);
  }
  const verdict = outcome.problems.length === 0 ? 'holds' : outcome.problems.join('\n    ');
  console.error(`${row.row} ${engine}: ${row.fault}: ${verdict} (${secondsSince(startedAt)} s)`);
  return reportOf(row, engine, seed, scale, outcome);
}

/** Since the process began, unless told. */
function secondsSince(fromMs) {
  return ((performance.now() - fromMs) / 1_000).toFixed(0);
}
