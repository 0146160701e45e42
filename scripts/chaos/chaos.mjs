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
    requireDocs();
    return options;
  } catch (error) {
    console.error(`chaos: ${error.message}`);
    process.exit(2);
  }
}

/** With --short a scenario of both engines runs on one, which the seed chooses. */
function chosen() {
  const { only, engine } = options;
  return scenarios
    .filter(({ row }) => only === null || only.includes(row))
    .flatMap((scenario) => {
      const engines = scenario.engines.filter((name) => engine === null || name === engine);
      const one = scale.name === 'short' && engines.length > 1;
      const picked = one ? [randomOf(seed, scenario.row + scenario.fault).of(engines)] : engines;
      return picked.map((name) => ({ scenario, engine: name }));
    });
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
