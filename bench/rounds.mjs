/** How many rounds a bench is told to run by `--runs`; what is no number of rounds ends it. */

/** @param bench how it is called, for the error. */
export function roundsOf(runs, bench) {
  const rounds = Number(runs);
  if (rounds >= 1) return rounds;
  console.error(`${bench}: --runs is a number, 1 or more`);
  process.exit(2);
}
