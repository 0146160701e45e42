/**
 * Faults made from outside the product, under crawls of real pages by real processes, on both engines: one scenario or more
 * for each row of docs/internals/faults.md. Pages are compared with what an independent crawler found, and
 * `doctor --deep` must be clean after each. Run by `npm run chaos`; see options.mjs. Exit code 1 when anything did not hold.
 */
import { cleanUp } from '../proof/faults/stage.mjs';
import { readOptions, usage } from './options.mjs';
import { rowOf, tableOf, writeRows } from './rows.mjs';
import { scenarios } from './scenarios.mjs';
import { requireDocs } from './tools/docs-site.mjs';
import { randomOf } from './tools/random.mjs';

const options = optionsOrEnd();
const { seed, scale } = options;
console.log(`chaos: seed ${seed}, ${scale.name}`);
const rows = [];
const skipped = [];
for (const { scenario, engine } of chosen()) {
  const why = (await scenario.cannotRun?.({ engine, scale })) ?? null;
  if (why !== null) {
    skipped.push(`${scenario.row} ${engine}: skipped, ${why}`);
    continue;
  }
  const row = await measure(scenario, engine);
  rows.push(row);
  // At once: a long run may be ended before its last row.
  if (options.write) await writeRows([row]);
}
if (rows.length > 0) console.log(tableOf(rows));
for (const line of skipped) console.log(line);
const broken = rows.filter(({ problems }) => problems.length > 0).length;
if (rows.length === 0) console.error('chaos: no row was run');
console.log(broken === 0 ? `chaos: all ${rows.length} held` : `chaos: ${broken} of ${rows.length} BROKEN`);
process.exit(broken === 0 && rows.length > 0 ? 0 : 1);

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
  let outcome;
  try {
    outcome = await scenario.run({ engine, scale, random: randomOf(seed, `${row} ${fault} ${engine}`) });
  } catch (error) {
    outcome = { problems: [`ERROR ${error.stack}`] };
  } finally {
    await cleanUp();
  }
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  const problems = outcome.problems.join('\n    ');
  console.error(`${row} ${engine}: ${fault}: ${problems === '' ? 'holds' : problems} (${seconds} s)`);
  return rowOf(scenario, engine, seed, scale, outcome);
}
