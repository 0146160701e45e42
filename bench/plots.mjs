/**
 * The figures of docs/internals/performance.md as plots: reads docs/performance/*.json, which the benches write with
 * `--json FILE`, and writes an SVG beside each; a bench whose file is not there is left out. `npm run bench:plots`
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import * as echarts from 'echarts';

const folder = new URL('../docs/performance/', import.meta.url);
const colours = ['#9aa5b1', '#d9480f', '#1971c2', '#2f9e44', '#7048e8'];

const pages = await figuresOf('pages');
await plot(
  'cpu-per-page',
  bars('CPU of a node per page (ms)', {
    rows: pages,
    group: (row) => row.site,
    series: (row) => row.subject,
    value: (row) => row.cpuMsPerPage,
  }),
);

const frontier = await figuresOf('frontier');
await plot(
  'growth',
  bars(
    'A lease with its settle as the queue grows (µs of CPU: redis-server, or the node for the embedded engine)',
    {
      rows: frontier.filter(({ measurement }) => measurement === 'growth'),
      group: (row) => row.what.replace(/^.*among /, ''),
      series: (row) => row.engine,
      value: (row) => row.serverUs ?? row.nodeUs,
    },
  ),
);
await plot(
  'memory',
  bars('Bytes of a pending request of a 60-byte URL, its fingerprint not counted', {
    rows: frontier.filter(({ measurement }) => measurement === 'memory'),
    group: (row) => row.what.replace('pending request, ', ''),
    series: (row) => row.engine,
    value: (row) => row.bytes,
  }),
);

await plot(
  'dupefilters',
  bars('Bytes a URL in each dupefilter', {
    rows: (await figuresOf('dupefilters')).filter(({ count }) => count === 1_000_000),
    group: (row) => row.name.replace('DupeFilter', ''),
    series: (row) => row.engine,
    value: (row) => row.memoryPerUrl ?? row.bytesPerUrl,
  }),
);

await plot(
  'capacity',
  bars('A crawl of 100,000 pages by two nodes: what plan --from said after a sample, and what was measured', {
    rows: (await figuresOf('capacity')).flatMap(({ what, bySample, measured }) => [
      { what, series: 'planned', value: bySample },
      { what, series: 'measured', value: measured },
    ]),
    group: (row) => row.what,
    series: (row) => row.series,
    value: (row) => row.value,
  }),
);

async function figuresOf(name) {
  const file = new URL(`${name}.json`, folder);
  return existsSync(file) ? JSON.parse(await readFile(file, 'utf8')).rows : [];
}

async function plot(name, option) {
  if (option === null) return;
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: 860, height: 380 });
  chart.setOption(option);
  await writeFile(new URL(`${name}.svg`, folder), `${chart.renderToSVGString()}\n`);
  chart.dispose();
}

/** Grouped bars, each with its figure. */
function bars(title, { rows, group, series, value }) {
  if (rows.length === 0) return null;
  const groups = [...new Set(rows.map(group))];
  const names = [...new Set(rows.map(series))];
  return {
    animation: false,
    backgroundColor: '#ffffff',
    color: colours,
    title: { text: title, left: 12, top: 8, textStyle: { fontSize: 14, fontWeight: 'normal' } },
    legend: { top: 34, left: 12 },
    grid: { left: 60, right: 20, top: 72, bottom: 36 },
    xAxis: { type: 'category', data: groups, axisLabel: { interval: 0 } },
    yAxis: { type: 'value' },
    series: names.map((name) => ({
      name,
      type: 'bar',
      barMaxWidth: 46,
      label: { show: true, position: 'top', formatter: ({ value: figure }) => rounded(figure) },
      data: groups.map((of) => {
        const row = rows.find((one) => group(one) === of && series(one) === name);
        return row === undefined ? null : value(row);
      }),
    })),
  };
}

function rounded(figure) {
  if (figure === null || figure === undefined) return '';
  return figure >= 100 ? figure.toFixed(0) : figure.toFixed(figure >= 10 ? 1 : 2);
}
