/** One attempt at a row, on a stage of its own. */
import { onOwnStage } from './harness/stage.mjs';
import { randomOf } from './random.mjs';

/** Attempts at a row whose fault did not happen, and at a mutant that held. */
export const TRIES = 3;

/**
 * @param attempt from 1 @param executable in place of that of the last build
 * @returns what the row measured, an error as a problem; and `absent`: what was to happen and did not
 */
export async function tryRow({ row, fault, run }, { engine, seed, scale, attempt, executable }) {
  const name = [row, fault, engine, ...(attempt === 1 ? [] : [attempt])].join(' ');
  const scenario = { engine, scale, random: randomOf(seed, name) };
  const outcome = await onOwnStage(() => run(scenario), executable).catch((error) => ({
    problems: [`ERROR ${error.stack}`],
  }));
  return { outcome, absent: absentIn(outcome) };
}

function absentIn({ times = 1, happened = {} }) {
  const all = { 'the fault, before the crawl was over': times, ...happened };
  return Object.keys(all).filter((what) => !(all[what] > 0));
}
