/**
 * `npm run chaos -- --mutants`: does a row break when the guard that it is about is missing? Each mutant is a build of its own
 * without one guard, and its row must be BROKEN on it in at most three tries. Each row must hold on the build as it is first.
 */
import Table from 'cli-table3';
import { buildCopy } from '../harness/copy.mjs';
import { onOwnStage } from '../harness/stage.mjs';
import { allRows } from '../rows.mjs';
import { TRIES, tryRow } from '../try-row.mjs';
import { mutants } from './mutants.mjs';

/** A mutant often has the crawl hang: then it is broken, and the harness need not wait for long. */
const SLACK_MS = 30_000;

/** @returns whether all are BROKEN. Prints a table of them. */
export async function runMutants({ seed, scale, jobs, fault }) {
  const options = { seed, scale: { ...scale, slackMs: SLACK_MS } };
  const chosen = mutants.filter(({ name }) => name.includes(fault));
  const verdicts = [];
  const waiting = [...chosen];
  const controls = new Map();
  const control = (row, engine) => {
    const key = `${row.fault} ${engine}`;
    if (!controls.has(key)) controls.set(key, controlOf(row, engine, options));
    return controls.get(key);
  };
  const work = async () => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const verdict = await judge(mutant, options, control).catch((error) => `ERROR ${error.message}`);
      verdicts.push({ mutant, ...(typeof verdict === 'string' ? { tries: 0, verdict } : verdict) });
      console.error(`${mutant.name}: ${verdicts.at(-1).verdict}`);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  const table = new Table({
    head: ['mutant', 'row', 'tries', 'verdict'],
    colWidths: [50, 14, 7, 60],
    wordWrap: true,
    style: { head: [], border: [] },
  });
  for (const { mutant, tries, verdict } of verdicts)
    table.push([mutant.name, `${mutant.row} ${mutant.engine}`, tries, verdict.slice(0, 200)]);
  console.log(table.toString());
  return verdicts.length > 0 && verdicts.every(({ verdict }) => verdict.startsWith('BROKEN'));
}

/** @returns the tries that it took, and BROKEN with the first problem, or held. @throws Error that says why nothing was proven. */
async function judge({ edits, row: name, engine, fault = '' }, options, control) {
  const rows = allRows.filter((row) => row.row === name && row.fault.includes(fault));
  if (rows.length !== 1) throw new Error(`${rows.length} rows are ${name} with ${JSON.stringify(fault)}`);
  const [row] = rows;
  return onOwnStage(async () => {
    const executable = await buildCopy(edits);
    const problems = await control(row, engine);
    if (problems.length > 0) throw new Error(`the row is BROKEN without the mutant: ${problems[0]}`);
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      const { outcome } = await tryRow(row, { ...options, engine, attempt, executable });
      if (outcome.problems.length > 0) return { tries: attempt, verdict: `BROKEN: ${outcome.problems[0]}` };
    }
    return { tries: TRIES, verdict: 'held' };
  });
}

/** The problems of a row on the build as it is. */
async function controlOf(row, engine, options) {
  for (let attempt = 1; ; attempt++) {
    const { outcome, absent } = await tryRow(row, { ...options, engine, attempt });
    if (outcome.problems.length > 0 || absent.length === 0) return outcome.problems;
    if (attempt === TRIES) return [`did not happen: ${absent}`];
  }
}
