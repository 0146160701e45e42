/** H2: markup and selectors that once took time quadratic in the length of the page. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const child = fileURLToPath(new URL('./markup-costs.mjs', import.meta.url));
/** Characters of a page at n. */
const sizes = { short: 100_000, normal: 200_000, long: 1_000_000 };
/** CPU of 4n over that of n that is still linear, with the noise of a shared machine. */
const MOST_RATIO = 5;
/** Below this a ratio says nothing. */
const LEAST_MS = 2;

export const linearMarkup = {
  row: 'H2',
  fault: `markup and selectors that are costly: four times the page costs at most ${MOST_RATIO} times the CPU`,
  engines: ['embedded'],
  async run({ scale }) {
    const args = ['--expose-gc', child, String(sizes[scale.name])];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const costs = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const ratios = costs.map(([name, n, fourN]) => ({
      name,
      n,
      fourN,
      ratio: fourN / Math.max(n, LEAST_MS),
    }));
    const problems = ratios
      .filter(({ ratio }) => ratio > MOST_RATIO)
      .map(({ name, n, fourN }) => `${name}: ${n.toFixed(1)} ms, then ${fourN.toFixed(1)} ms`);
    const most = Math.max(...ratios.map(({ ratio }) => ratio)).toFixed(1);
    return { problems, times: costs.length, note: `at most ${most} times` };
  },
};
