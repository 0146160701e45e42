/**
 * R26: somebody empties the file of items while a node writes it, as `> feed.jsonl` does. The node ends with exit 1 and says which
 * items are gone, and what is not written yet waits; or, where the file was cut before its first line, nothing is missing.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beginCrawl } from '../harness/crawling.mjs';
import { startSite } from '../harness/local-site.mjs';
import { look } from '../harness/project.mjs';
import { until } from '../harness/stage.mjs';

const CUTS = 5;
const PAGES = 300;

export const cutFeed = {
  row: 'R26',
  fault: `the file of items is emptied (> n0.jsonl) at a random moment of each of ${CUTS} crawls`,
  engines: ['redis', 'embedded'],
  async run(row) {
    const problems = [];
    let [cut, gone] = [0, 0];
    for (let n = 0; n < CUTS; n++) {
      const outcome = await cutOnce(row);
      cut += outcome.cut;
      gone += outcome.gone;
      problems.push(...outcome.problems);
    }
    const happened = { 'files that had items': cut };
    return { problems, times: CUTS, pages: CUTS * PAGES, happened, note: `${gone} items named as gone` };
  },
};

async function cutOnce(row) {
  const site = await startSite({ pages: PAGES, delayMs: () => 30 });
  const crawling = await beginCrawl(row, { site, nodes: 1, settings: { ITEM_PIPELINES: {} } });
  const file = path.join(crawling.project.dir, 'n0.jsonl');
  const read = () => readFile(file, 'utf8').catch(() => '');
  await until(async () => (await read()) !== '', 'items');
  await crawling.untilPart(row.random.between(0.1, 0.8));
  const cut = Number(!crawling.isOver && (await read()) !== '');
  await writeFile(file, '');
  const [{ code, signal }] = await crawling.ends();
  const { said } = crawling.nodes[0];
  const text = await read();
  const problems = [];
  if (text.includes('\0')) problems.push('the file has a hole');
  const written = text.split('\n').filter((line) => line.startsWith('{"url"')).length;
  if (code === 0 && written < PAGES) problems.push(`exit 0 with ${PAGES - written} items missing`);
  if (code !== 0 && code !== 1) problems.push(`it ended with ${code ?? signal}: ${said.slice(-300)}`);
  // What is gone is named, and the rest is in the file or waits: together all that were committed.
  const gone = /with items ([\d,]+) to ([\d,]+)/.exec(said);
  if (code === 1 && gone === null) problems.push(`it did not say what is gone: ${said.slice(-400)}`);
  const { outbox, done } = await look(crawling.project);
  const [from, to] = (gone ?? []).slice(1).map((digits) => Number(digits.replaceAll(',', '')));
  const lost = gone === null ? 0 : to - from + 1;
  const waiting = outbox.reduce((sum, feed) => sum + feed.waiting, 0);
  if (code === 1 && written + waiting + lost !== done)
    problems.push(`${done} items: ${written} written, ${waiting} waiting, ${lost} named as gone`);
  return { cut, gone: lost, problems };
}
