/**
 * Faults of nodes and of the store, dealt to real processes of the executable on a real site, on both engines:
 * `node scripts/proof/faults.mjs [part of a case's name]`. Prints a table of case, figures and verdict; exits 1 when
 * a promise was broken. Needs redis-server on PATH and a build; the whole takes some minutes.
 */
import Table from 'cli-table3';
import { endings } from './faults/endings.mjs';
import { poison } from './faults/poison.mjs';
import { politeness } from './faults/politeness.mjs';
import { cleanUp } from './faults/stage.mjs';
import { store } from './faults/store.mjs';
import { web } from './faults/web.mjs';

const table = new Table({ head: ['case', 'figures', 'verdict'], colWidths: [44, 84, 24], wordWrap: true });
let broken = 0;
for (const [name, run] of Object.entries({
  ...poison,
  ...store,
  ...politeness,
  ...endings,
  ...web,
})) {
  if (!name.includes(process.argv[2] ?? '')) continue;
  let row;
  try {
    const { figures, problems } = await run();
    row = [name, figures, problems.length === 0 ? 'holds' : problems.join('; ')];
  } catch (error) {
    row = [name, '', `ERROR ${error.stack}`];
  } finally {
    await cleanUp();
  }
  if (row[2] !== 'holds') broken += 1;
  console.error(`${row[0]}\n    ${row[1]}\n    ${row[2]}`);
  table.push(row);
}
console.log(table.toString());
if (table.length === 0) {
  broken = 1;
  console.error(`faults: no case's name holds ${process.argv[2]}`);
}
console.log(broken === 0 ? 'faults: every promise held' : `faults: ${broken} BROKEN`);
process.exitCode = broken === 0 ? 0 : 1;
