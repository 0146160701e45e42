/** Lines over time, with the events of the crawl as marks, and a legend that shows the values under the pointer. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { CrawlEvent } from '../../frontier/frontier.js';

export interface Line {
  readonly label: string;
  /** A custom property of the style sheet, such as `--line-1`. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
  /** Values hold until the next point, as numbers of nodes do. */
  readonly isStepped?: boolean;
  readonly isFilled?: boolean;
}

export interface ChartProps {
  readonly title: string;
  /** In seconds since 1970. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  /** A word for each instant, shown beside the values. */
  readonly words?: { readonly label: string; readonly values: readonly string[] };
  readonly events: readonly CrawlEvent[];
  readonly format: (value: number) => string;
}

const HEIGHT = 190;

/** Events that say why a line bends; nodes that join and leave are lines of their own. */
const markColours: Partial<Record<CrawlEvent['kind'], string>> = {
  node_died: '--bad',
  requests_lost: '--bad',
  store_away: '--bad',
  store_full: '--bad',
  paused: '--warn',
  domain_paused: '--warn',
  stopping: '--warn',
  resumed: '--good',
  store_back: '--good',
  settings_changed: '--quiet',
  run_ended: '--quiet',
};

export function Chart(props: ChartProps): VNode {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const { title, times, lines, words, format } = props;
  const shape = lines.map(({ label }) => label).join();

  useEffect(() => {
    const element = box.current!;
    const create = () => {
      plot.current?.destroy();
      plot.current = new UPlot(options(latest, element.clientWidth), dataOf(latest.current), element);
    };
    create();
    const resized = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    resized.observe(element);
    // Colours are read when lines are drawn.
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', create);
    return () => {
      dark.removeEventListener('change', create);
      resized.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(dataOf(props)), [times, lines, words, props.events]);

  const last = lines
    .map(({ label, values }) => `${label} ${valueText(values.at(-1) ?? null, format)}`)
    .join(', ');
  return html`<figure class="chart">
    <figcaption>${title}</figcaption>
    <div ref=${box} role="img" aria-label=${`${title}; now ${last}`}></div>
  </figure>`;
}

function dataOf({ times, lines, words }: ChartProps): UPlot.AlignedData {
  const all = [
    times,
    ...lines.map(({ values }) => values),
    ...(words === undefined ? [] : [times.map(() => null)]),
  ];
  return all as unknown as UPlot.AlignedData;
}

function options(latest: { readonly current: ChartProps }, width: number): UPlot.Options {
  const { lines, words, format } = latest.current;
  const axis = {
    stroke: colour('--quiet'),
    grid: { stroke: colour('--rule'), width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height: HEIGHT,
    padding: [12, 24, 0, 0],
    cursor: { y: false, sync: { key: 'history' }, points: { size: 6 } },
    scales: { y: { range: (_, _min, max) => [0, max > 0 ? max * 1.08 : 1] } },
    axes: [
      { ...axis, size: 28, space: 70, values: timeLabels },
      { ...axis, size: 52, values: (_, ticks) => ticks.map(format) },
    ],
    series: [
      {
        label: 'time',
        value: (plot, at) => new Date((at ?? plot.data[0].at(-1) ?? 0) * 1_000).toLocaleTimeString('en-GB'),
      },
      ...lines.map(
        ({ label, colour: name, isStepped, isFilled }): UPlot.Series => ({
          label,
          stroke: colour(name),
          width: 1.75,
          points: { show: false },
          ...(isFilled && { fill: `${colour(name)}1f` }),
          ...(isStepped && { paths: UPlot.paths.stepped!({ align: 1 }) }),
          // Without a pointer the legend has the last values.
          value: (plot, value, line, at) => valueText(at === null ? plot.data[line]!.at(-1) : value, format),
        }),
      ),
      ...(words === undefined
        ? []
        : [
            {
              label: words.label,
              paths: () => null,
              points: { show: false },
              value: wordAt(latest),
            } as UPlot.Series,
          ]),
    ],
    hooks: { draw: [(plot) => drawEvents(plot, latest.current.events)] },
  };
}

const wordAt =
  (latest: { readonly current: ChartProps }): UPlot.Series.Value =>
  (_plot, _value, _series, at) =>
    latest.current.words?.values[at ?? latest.current.times.length - 1]?.replaceAll('_', ' ') ?? '–';

function drawEvents(plot: UPlot, events: readonly CrawlEvent[]): void {
  const { ctx, bbox } = plot;
  const { min = 0, max = 0 } = plot.scales.x!;
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const { kind, atMs } of events) {
    const mark = markColours[kind];
    if (mark === undefined || atMs / 1_000 < min || atMs / 1_000 > max) continue;
    const x = Math.round(plot.valToPos(atMs / 1_000, 'x', true));
    ctx.strokeStyle = colour(mark);
    ctx.fillStyle = colour(mark);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.beginPath();
    ctx.arc(x, bbox.top, 3 * devicePixelRatio, 0, 2 * Math.PI);
    ctx.fill();
  }
  ctx.restore();
}

function timeLabels(_plot: UPlot, ticks: number[]): string[] {
  return ticks.map((at) =>
    new Date(at * 1_000).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' }),
  );
}

function valueText(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '–' : format(value);
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
