/**
 * What the frontier costs, on both engines: push, lease with settle, memory, growth, nodes side by side.
 * `npm run bench:frontier`, `npm run bench:frontier -- growth redis --json out.json`: the measurements whose name holds
 * each of the words, a file for the figures. `--large` goes on to 10⁷ pending requests (4 GB, 5 to 20 minutes an engine).
 * `--runs 3` does all of it three times and gives medians.
 */
import { parseArgs } from 'node:util';
import { growth } from './frontier/growth.mjs';
import { leases } from './frontier/leases.mjs';
import { memory } from './frontier/memory.mjs';
import { nodes } from './frontier/nodes.mjs';
import { push } from './frontier/push.mjs';
import { tableOf } from './frontier/report.mjs';
import { openStage } from './frontier/stage.mjs';
import { waiting } from './frontier/waiting.mjs';
import { mediansOf } from './median.mjs';
import { roundsOf } from './rounds.mjs';
import { writeFigures } from './write-figures.mjs';

const { values: options, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    large: { type: 'boolean', default: false },
    runs: { type: 'string', default: '1' },
  },
});

/** Each gives its rows one by one, with whatever it has measured by then. */
const measurements = { push, leases, memory, growth, waiting, nodes };
const engines = ['redis', 'embedded'];
const chosen = Object.keys(measurements)
  .flatMap((name) => engines.map((engine) => ({ name, engine })))
  .filter(({ name, engine }) => words.every((word) => `${name} ${engine}`.includes(word)));
const runs = roundsOf(options.runs, 'bench:frontier');
if (chosen.length === 0) {
  const all = Object.keys(measurements).join(', ');
  console.error(
    `bench:frontier: nothing is named ${words.join(' ')}; there are ${all}, on redis and embedded`,
  );
  process.exit(2);
}

const rounds = [];
while (rounds.length < runs) rounds.push(await measureAll());
const rows = rounds[0].map((_, n) => mediansOf(rounds.map((round) => round[n])));
if (rounds.length > 1) console.log(`Medians of ${rounds.length} runs:\n${tableOf(rows)}`);
if (options.json) await writeFigures(options.json, { runs: rounds.length, rows });

async function measureAll() {
  const rows = [];
  for (const { name, engine } of chosen) {
    const found = [];
    const stage = await openStage(engine);
    try {
      for await (const row of measurements[name](stage, options))
        found.push({ measurement: name, engine, ...row });
    } finally {
      await stage.close();
    }
    console.log(tableOf(found));
    rows.push(...found);
  }
  return rows;
}
