/** The rows as a table; a figure that misses its goal is marked. */
import Table from 'cli-table3';

/** Goals that are to be reached; of all other figures less is better. */
const atLeast = new Set(['perSecond']);

const columns = [
  { name: 'perSecond', head: 'per second', show: (value) => Math.round(value).toLocaleString('en') },
  { name: 'nodeUs', head: 'node µs', show: (value) => value.toFixed(1) },
  { name: 'serverUs', head: 'redis µs', show: (value) => value.toFixed(1) },
  { name: 'bytes', head: 'bytes', show: (value) => value.toFixed(0) },
  { name: 'seenBytes', head: 'bytes seen', show: (value) => value.toFixed(0) },
  { name: 'ratio', head: '× first', show: (value) => value.toFixed(2) },
  { name: 'ofSharing', head: '× apart', show: (value) => value.toFixed(2) },
];

export function tableOf(rows) {
  const head = ['engine', 'what', ...columns.map((column) => column.head)];
  const table = new Table({ head, style: { head: [], border: [] }, colAligns: ['left', 'left'] });
  for (const row of rows) table.push([row.engine, row.what, ...columns.map((column) => cell(row, column))]);
  return table.toString();
}

function cell(row, { name, show }) {
  const value = row[name];
  if (value === undefined || value === null) return '';
  const goal = row.goals?.[name];
  if (goal === undefined) return show(value);
  return isReached(name, value, goal) ? show(value) : `${show(value)} (${show(goal)}) !`;
}

function isReached(name, value, goal) {
  return atLeast.has(name) ? value >= goal : value <= goal;
}
