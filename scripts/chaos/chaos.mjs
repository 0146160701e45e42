/**
 * Faults made from outside the product, under crawls of real pages by real processes, on both engines: one scenario or more
 * for each row of docs/internals/faults.md. Pages are compared with what an independent crawler found, and
 * `doctor --deep` must be clean after each. Run by `npm run chaos`; see options.mjs. Exit code 1 when anything did not hold.
 */
import { onOwnStage } from '../proof/faults/stage.mjs';
import { readOptions, usage } from './options.mjs';
import { rowOf, tableOf, writeRows } from './rows.mjs';
import { scenarios } from './scenarios.mjs';
import { cpuSeconds } from './tools/cpu.mjs';
import { requireDocs } from './tools/docs-site.mjs';
import { randomOf } from './tools/random.mjs';

const options = optionsOrEnd();
const { seed, scale } = options;
console.log(`chaos: seed ${seed}, ${scale.name}, ${options.jobs} at a time`);
const rows = [];
const waiting = chosen();
let writing = Promise.resolve();
await Promise.all(Array.from({ length: options.jobs }, runWaiting));
await writing;
rows.sort((a, b) => a.row.localeCompare(b.row, 'en', { numeric: true }));
if (rows.length > 0) console.log(tableOf(rows));
else console.error('chaos: no row was run');
const broken = rows.filter(({ problems }) => problems.length > 0);
for (const { command } of broken) console.log(`BROKEN: ${command}`);
const verdict = broken.length === 0 ? `all ${rows.length} held` : `${broken.length} of ${rows.length} BROKEN`;
console.log(`chaos: ${verdict} (${secondsSince(0)} s, ${cpuSeconds().toFixed(0)} s of CPU)`);
process.exit(broken.length === 0 && rows.length > 0 ? 0 : 1);

/** One after another, until none waits. */
async function runWaiting() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const row = await measure(next.scenario, next.engine);
    rows.push(row);
    // At once: a long run may be ended before its last row. One at a time: each rewrites the page.
    if (options.write) writing = writing.then(() => writeRows([row]));
  }
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
  const { only, fault, engine } = options;
  const all = scenarios
    .filter((scenario) => only === null || only.includes(scenario.row))
    .filter((scenario) => scenario.fault.includes(fault))
    .flatMap((scenario) => scenario.engines.map((name) => ({ scenario, engine: name })))
    .filter(({ engine: name }) => engine === null || name === engine);
  if (scale.name !== 'short') return all;
  const quick = all.filter(({ scenario }) => scenario.isLong !== true);
  const rows = [...new Set(quick.map(({ scenario }) => scenario.row))];
  return rows.map((row) => randomOf(seed, row).of(quick.filter(({ scenario }) => scenario.row === row)));
}

async function measure(scenario, engine) {
  const { row, fault } = scenario;
  const startedAt = performance.now();
  const random = randomOf(seed, `${row} ${fault} ${engine}`);
  const outcome = await onOwnStage(() => scenario.run({ engine, scale, random })).catch((error) => ({
    problems: [`ERROR ${error.stack}`],
  }));
  if (outcome.times === 0) outcome.problems.push('the crawl was over before the fault');
  const problems = outcome.problems.join('\n    ');
  const took = secondsSince(startedAt);
  console.error(`${row} ${engine}: ${fault}: ${problems === '' ? 'holds' : problems} (${took} s)`);
  return rowOf(scenario, engine, seed, scale, outcome);
}

/** Since the process began, unless told. */
function secondsSince(fromMs) {
  return ((performance.now() - fromMs) / 1_000).toFixed(0);
}
