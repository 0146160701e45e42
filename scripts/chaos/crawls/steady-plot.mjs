/** The samples of R22 as a plot for docs/internals/faults.md. */
import { writeFile } from 'node:fs/promises';
import * as echarts from 'echarts';

const folder = new URL('../../../docs/internals/', import.meta.url);
const colours = ['#d9480f', '#1971c2', '#2f9e44', '#7048e8'];

/** Writes docs/internals/steady-load-<engine>.svg: RSS and descriptors of each node, keys and size of the store, pages per second. */
export async function plotSamples(engine, samples) {
  const points = (of) => samples.map((sample) => [sample.s / 60, of(sample)]);
  const nodes = samples[0].nodes.map((_, n) => n);
  const rate = samples
    .slice(1)
    .map(({ s, pages }, n) => [s / 60, (pages - samples[n].pages) / (s - samples[n].s)]);
  const panels = [
    ...nodes.map((n) => ({
      panel: 0,
      name: `RSS of node ${n} (MB)`,
      data: points(({ nodes }) => nodes[n].rssMb),
    })),
    {
      panel: 0,
      name: engine === 'redis' ? 'used_memory of Redis (MB)' : 'store files (MB)',
      data: points(({ store }) => store.mb),
    },
    ...nodes.map((n) => ({
      panel: 1,
      name: `descriptors of node ${n}`,
      data: points(({ nodes }) => nodes[n].descriptors),
    })),
    ...(samples[0].store.keys === undefined
      ? []
      : [{ panel: 1, name: 'keys in Redis', data: points(({ store }) => store.keys) }]),
    { panel: 1, name: 'pages per second', data: rate },
  ];
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: 860, height: 520 });
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    title: {
      text: `A crawl at constant load, ${engine === 'redis' ? 'Redis' : 'embedded engine'}`,
      ...{ left: 12, top: 8, textStyle: { fontSize: 14, fontWeight: 'normal' } },
    },
    legend: { top: 32, left: 12, right: 12 },
    grid: [
      { left: 56, right: 20, top: 96, height: 170 },
      { left: 56, right: 20, top: 300, height: 170 },
    ],
    xAxis: [0, 1].map((gridIndex) => ({
      ...{ gridIndex, type: 'value', min: 0, max: 'dataMax' },
      axisLabel: { formatter: (minute) => `${Math.round(minute)} min`, showMaxLabel: false },
    })),
    yAxis: [0, 1].map((gridIndex) => ({ gridIndex, type: 'value', min: 0 })),
    series: panels.map(({ panel, name, data }, n) => ({
      ...{ name, data, type: 'line', symbol: 'none', xAxisIndex: panel, yAxisIndex: panel },
      lineStyle: { width: 1.5 },
      itemStyle: { color: colours[(n * 5) % colours.length] },
    })),
  });
  await writeFile(new URL(`steady-load-${engine}.svg`, folder), `${chart.renderToSVGString()}\n`);
  chart.dispose();
}
