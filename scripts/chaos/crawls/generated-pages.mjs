/** The cases of scripts/proof/faults that belong to a row: they need pages that no real site has. */
import { endings } from '../../proof/faults/endings.mjs';
import { poison } from '../../proof/faults/poison.mjs';
import { store } from '../../proof/faults/store.mjs';

const NAME = /^(R\d+) (.*?)(?:, (Redis|embedded))?$/;

/** One for each row and fault, whose cases differ in the engine. */
export const generatedPages = scenariosOf({ ...poison, ...store, ...endings });

function scenariosOf(cases) {
  const byFault = new Map();
  for (const [name, run] of Object.entries(cases)) {
    const [, row, fault, engine = 'Redis'] = NAME.exec(name) ?? [];
    // Politeness, budgets and memory at full speed are no row of the table.
    if (row === undefined) continue;
    const scenario = byFault.get(`${row} ${fault}`) ?? { row, fault, runs: {} };
    scenario.runs[engine.toLowerCase()] = run;
    byFault.set(`${row} ${fault}`, scenario);
  }
  return [...byFault.values()].map(({ row, fault, runs }) => ({
    ...{ row, fault, engines: Object.keys(runs) },
    run: ({ engine }) => outcomeOf(runs[engine]),
  }));
}

async function outcomeOf(run) {
  const { figures, lost = 0, ...rest } = await run();
  // What the nodes said holds paths of this machine.
  const [measured] = figures.split(/[;:] (?=said:|items:|crawlnode:)/);
  return { ...rest, missing: lost, times: 1, note: measured.replaceAll(/[|()]/g, ' ').slice(0, 200) };
}
