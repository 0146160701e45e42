/** The measured rows: as a table for the terminal, and as the table of docs/internals/faults.md. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import Table from 'cli-table3';
import { percentile } from './harness/recovery.mjs';

const page = fileURLToPath(new URL('../../docs/internals/faults.md', import.meta.url));
const head =
  '| row | fault | engine | times | pages | missing | twice | fetched again | recovery p50 / p99 | command |';

/** One line of numbers and words. @param outcome what the row resolved with */
export function reportOf({ row, fault }, engine, seed, scale, outcome) {
  const option = scale.name === 'normal' ? '' : ` --${scale.name}`;
  const { times = 1, pages = 0, missing = 0, twice = 0, refetched = 0, recoveryMs = [] } = outcome;
  const [p50, p99] = [percentile(recoveryMs, 50), percentile(recoveryMs, 99)];
  const proofs = Object.entries(outcome.happened ?? {}).map(([what, count]) => `${what}: ${count}`);
  // A bracket or a bar would end the note, or the cell.
  const note = [...(outcome.note ? [outcome.note] : []), ...proofs].join(', ').replaceAll(/[|()]/g, ' ');
  return {
    ...{ row, engine, problems: outcome.problems },
    fault: note === '' ? fault : `${fault} (${note})`,
    numbers: [times, pages, missing, twice, refetched].map((value) => value.toLocaleString('en')),
    recovery: p50 === null ? '' : `${seconds(p50)} / ${seconds(p99)} s`,
    command: `npm run chaos -- --only ${row} --engine ${engine}${option} --seed ${seed}`,
  };
}

/** For the terminal. */
export function tableOf(rows) {
  const table = new Table({
    head: ['row', 'fault', 'engine', 'times', 'pages', 'missing', 'twice', 'again', 'p50 / p99', 'verdict'],
    colWidths: [5, 40, 10, 7, 8, 9, 7, 8, 14, 24],
    wordWrap: true,
    style: { head: [], border: [] },
  });
  for (const { row, fault, engine, numbers, recovery, problems } of rows) {
    const verdict = problems.length === 0 ? 'holds' : problems.join('; ').slice(0, 300);
    table.push([row, fault, engine, ...numbers, recovery, verdict]);
  }
  return table.toString();
}

/**
 * Put rows that held into the page, each in place of an earlier one of its row, fault and engine. A row of --short does not take the
 * place of one that was measured at length.
 */
export async function writeRows(rows) {
  const lines = (await readFile(page, 'utf8')).split('\n');
  const from = lines.indexOf(head) + 2;
  if (from < 2) throw new Error(`${page} has no table that begins with ${head}`);
  const to = lines.findIndex((line, n) => n >= from && !line.startsWith('|'));
  const kept = new Map(lines.slice(from, to).map((line) => [keyOf(line), line]));
  for (const row of rows.filter(({ problems }) => problems.length === 0)) {
    const line = lineOf(row);
    const before = kept.get(keyOf(line));
    if (before === undefined || !isShort(line) || isShort(before)) kept.set(keyOf(line), line);
  }
  const sorted = [...kept].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
  lines.splice(from, to - from, ...sorted.map(([, line]) => line));
  await writeFile(page, lines.join('\n'));
}

function lineOf({ row, fault, engine, numbers, recovery, command }) {
  return `| ${[row, fault, engine, ...numbers, recovery, `\`${command}\``].join(' | ')} |`;
}

/** The note in brackets at the end of a fault varies from run to run. */
function keyOf(line) {
  const [row, fault, engine] = line.slice('| '.length).split(' | ');
  return [row, engine, fault.replace(/ \([^()]*\)$/, '')].join('|');
}

const seconds = (ms) => (ms / 1_000).toFixed(1);

const isShort = (line) => line.includes(' --short ');
