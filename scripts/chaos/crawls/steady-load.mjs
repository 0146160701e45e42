/** R22: a long crawl at constant load must need no more memory, descriptors and keys at its end than before. */
import { beginCrawl } from '../harness/crawling.mjs';
import { percentile } from '../harness/recovery.mjs';
import { adminOf, startStore } from '../harness/redis.mjs';
import { sampleProcess, sampleStore } from '../harness/samples.mjs';
import { plotSamples } from './steady-plot.mjs';
import { startSteadySite } from './steady-site.mjs';

const PAGES_PER_SECOND = 25;
const NODES = 2;
const SAMPLES = 360;
/** What may lie between the middle third of the crawl and its last third. */
const MOST_GROWTH = 1.15;
const MOST_MORE_DESCRIPTORS = 5;
/** Samples of a shorter crawl are those of its start. */
const SHORTEST_JUDGED_S = 300;

export const steadyLoad = {
  row: 'R22',
  fault: `${PAGES_PER_SECOND} pages/s on ${NODES} nodes, as long as --minutes says`,
  engines: ['redis', 'embedded'],
  async run({ engine, scale }) {
    const pages = scale.seconds * PAGES_PER_SECOND;
    const site = await startSteadySite({ pages, pagesPerSecond: PAGES_PER_SECOND });
    const redis = engine === 'redis' ? await startStore() : null;
    // Items go to the files alone: the items list grows with each page by its nature.
    const crawling = await beginCrawl(
      { engine, scale: { ...scale, pagesPerSecond: PAGES_PER_SECOND } },
      { nodes: NODES, redis, site, settings: { ITEM_PIPELINES: {} } },
    );
    await crawling.untilAllCrawl();
    const admin = redis && adminOf(redis.url);
    const samples = [];
    for (const startedAt = Date.now(); !crawling.isOver; ) {
      const nodes = crawling.nodes.map(({ pid }) => sampleProcess(pid));
      // A node that has ended has no figures, and nor has the end of the crawl any load.
      if (nodes.includes(null)) break;
      const store = await sampleStore(crawling.project, admin);
      samples.push({ s: (Date.now() - startedAt) / 1_000, pages: (await site.log()).length, nodes, store });
      await crawling.pause((1_000 * scale.seconds) / SAMPLES);
    }
    const verdict = await crawling.verdict({ isListed: false });
    const problems = [...verdict.problems];
    if (scale.seconds >= SHORTEST_JUDGED_S) problems.push(...growthOf(samples));
    if (scale.plot) await plotSamples(engine, samples);
    return { ...verdict, problems, times: 1, recoveryMs: [], note: figuresOf(samples, scale) };
  },
};

function growthOf(samples) {
  const problems = [];
  const [middle, last] = [third(samples, 1), third(samples, 2)];
  const compared = {
    RSS: ({ nodes }) => sum(nodes.map(({ rssMb }) => rssMb)),
    keys: ({ store }) => store.keys ?? 0,
  };
  for (const [name, of] of Object.entries(compared)) {
    const [before, after] = [median(middle.map(of)), median(last.map(of))];
    if (after > before * MOST_GROWTH) problems.push(`${name} grew from ${before} to ${after}`);
  }
  const [before, after] = [middle, last].map((part) => median(part.map(descriptorsOf)));
  if (after > before + MOST_MORE_DESCRIPTORS) problems.push(`descriptors grew from ${before} to ${after}`);
  return problems;
}

/** What a reader asks for: per node, at the start of the judged part and at the end. */
function figuresOf(samples, { seconds }) {
  const [middle, last] = [third(samples, 1), third(samples, 2)];
  const mb = (part) =>
    (median(part.map(({ nodes }) => sum(nodes.map(({ rssMb }) => rssMb)))) / NODES).toFixed(0);
  const cpu = sum(samples.at(-1).nodes.map(({ cpuS }) => cpuS)) / NODES / samples.at(-1).s;
  const { store } = samples.at(-1);
  const kept = store.keys === undefined ? '' : `, ${samples[0].store.keys} then ${store.keys} keys`;
  return [
    `${(seconds / 60).toFixed(0)} minutes`,
    `RSS of a node ${mb(middle)} MB in the second third and ${mb(last)} MB in the last`,
    `${median(middle.map(descriptorsOf)) / NODES} and ${median(last.map(descriptorsOf)) / NODES} descriptors${kept}`,
    `store ${third(samples, 0)[0].store.mb.toFixed(1)} then ${store.mb.toFixed(1)} MB`,
    `${(100 * cpu).toFixed(0)} % of a core for a node`,
  ].join(', ');
}

const descriptorsOf = ({ nodes }) => sum(nodes.map(({ descriptors }) => descriptors));
const third = (samples, n) => samples.slice((n * samples.length) / 3, ((n + 1) * samples.length) / 3);
const median = (numbers) => percentile(numbers, 50);
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
