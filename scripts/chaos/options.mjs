/** The command line of `npm run chaos`. */
import { parseArgs } from 'node:util';
import { newSeed } from './random.mjs';

export const usage = `npm run chaos -- [options]

  --only R3,R9       only these rows
  --fault TEXT       only faults whose description contains it
  --engine NAME      redis or embedded; both unless told
  --seed N           repeat the random choices of an earlier run, which printed its seed
  --short            one fault of each row but R23, once, on one engine, on 317 pages: 217 s of CPU for all
  --long             many faults on 21,040 pages: hours for all
  --jobs N           so many rows beside each other; 1 unless told, 2 with --hostile, 4 with --short
  --hostile          the rows of the hostile web and of hostile records instead: H1 to H5
  --mutants          remove one guard at a time from a copy of crawlnode, and expect its row to be BROKEN in three tries;
                     --fault TEXT: only mutants whose name contains it
  --generated        on generated pages, for a machine without nginx and python3-doc
  --minutes N        how long R22 takes; 1 unless told, 60 with --long
  --write            put the measured rows, and the plot of R22, into docs/internals`;

/**
 * How much of everything: rows beside each other, copies of the documentation (526 pages each) or a part of it, its pages per
 * second, the pages in place of a copy with --generated, and faults of one kind.
 */
const all = { part: '', generatedPages: 500, jobs: 1 };
const scales = {
  short: {
    ...{ name: 'short', jobs: 4, copies: 1, part: 'library/', generatedPages: 300, pagesPerSecond: 75 },
    ...{ kills: 3, faults: 1, seconds: 10 },
  },
  normal: { ...all, name: 'normal', copies: 4, pagesPerSecond: 150, kills: 8, faults: 3, seconds: 60 },
  long: { ...all, name: 'long', copies: 40, pagesPerSecond: 70, kills: 200, faults: 10, seconds: 3_600 },
};

/** Rows of --hostile beside each other: they take two processors most of the time. */
const HOSTILE_JOBS = 2;

/** @throws Error that says what is wrong with the arguments. */
export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      fault: { type: 'string', default: '' },
      engine: { type: 'string' },
      seed: { type: 'string' },
      short: { type: 'boolean', default: false },
      long: { type: 'boolean', default: false },
      jobs: { type: 'string' },
      hostile: { type: 'boolean', default: false },
      mutants: { type: 'boolean', default: false },
      generated: { type: 'boolean', default: false },
      minutes: { type: 'string' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.short && values.long) throw new Error('--short and --long exclude each other');
  if (values.engine !== undefined && !['redis', 'embedded'].includes(values.engine))
    throw new Error(`--engine is redis or embedded, not ${values.engine}`);
  const seed = values.seed === undefined ? newSeed() : Number(values.seed);
  if (!Number.isSafeInteger(seed)) throw new Error(`--seed is a whole number, not ${values.seed}`);
  // The rows of mutants bring their own sites, and need their fault once.
  const isShort = values.short || values.mutants;
  const chosen = scales[isShort ? 'short' : values.long ? 'long' : 'normal'];
  const seconds = values.minutes === undefined ? chosen.seconds : 60 * Number(values.minutes);
  if (!(seconds > 0)) throw new Error(`--minutes is a number, not ${values.minutes}`);
  const jobs = Number(values.jobs ?? (values.hostile ? HOSTILE_JOBS : chosen.jobs));
  if (!(Number.isSafeInteger(jobs) && jobs > 0))
    throw new Error(`--jobs is a whole number from 1, not ${values.jobs}`);
  const scale = { ...chosen, seconds, plot: values.write, generated: values.generated || values.mutants };
  const only = values.only?.split(',').map((row) => row.trim().toUpperCase()) ?? null;
  return {
    only,
    isHostile: values.hostile,
    isMutants: values.mutants,
    fault: values.fault,
    engine: values.engine ?? null,
    seed,
    scale,
    jobs,
    write: values.write,
    help: values.help,
  };
}
