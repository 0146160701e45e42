/**
 * R34: items with files under SIGKILL. Two nodes crawl pages with three files each, of which some fail, hang, are cut off or
 * lie about their type. Afterwards each item must be in the feed files of the nodes once, in every format, as Python reads it;
 * each file that can be had must be in the store once and whole, and no other.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { clientOf, crawl, endOf, look, newProject } from '../harness/project.mjs';
import { durable, startStore } from '../harness/redis.mjs';
import { atCleanUp, until } from '../harness/stage.mjs';
import { fateOf, startFileSite } from './site.mjs';

/** Pages and kills. */
const sizes = { short: [40, 1], normal: [500, 4], long: [2_000, 10] };
const FILES_OF_A_PAGE = 3;
const reader = fileURLToPath(new URL('./read_feeds.py', import.meta.url));
const formats = ['jsonl', 'json', 'csv', 'xml', 'jsonl.gz', 'json.gz', 'csv.gz', 'xml.gz'];

const spider = `
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = 'walk';
  startUrls = this.args.start.split(' ');
  *parse(response) {
    const { item, next } = response.json();
    yield item;
    if (next !== null) yield response.follow(next);
  }
}
`;

export const fileKills = {
  row: 'R34',
  fault: 'SIGKILL of one of 2 nodes while they fetch the files of items, some of which are bad',
  engines: ['redis', 'embedded'],
  async run({ engine, scale, random }) {
    if (spawnSync('python3', ['--version']).status !== 0) throw new Error('python3 is not here');
    const [pages, kills] = sizes[scale.name];
    const site = await startFileSite(pages);
    atCleanUp(site.close);
    const settings = {
      ITEM_PIPELINES: { FilesPipeline: 1, ImagesPipeline: 2 },
      ...{ FILES_STORE: 'files', IMAGES_STORE: 'images', ALLOW_PRIVATE_ADDRESSES: true },
      ...{ DOWNLOAD_TIMEOUT: 3, RETRY_TIMES: 1, CONCURRENT_REQUESTS: 32 },
    };
    const project = await newProject(engine === 'redis' ? await startStore(durable) : null, settings, spider);
    const feeds = [0, 1].map((node) => formats.map((format) => `node-${node}.${format}`));
    const startNode = (n) =>
      crawl(project, [
        ...['-a', `start=${site.starts.join(' ')}`, '--exit-when-done'],
        ...feeds[n].flatMap((file) => ['-o', file]),
      ]);
    const nodes = [startNode(0), startNode(1)];
    const client = await clientOf(project);
    let killed = 0;
    while (killed < kills) {
      const reached = Math.ceil(((killed + 1) * pages * FILES_OF_A_PAGE) / (kills + 1));
      await until(() => site.asked.files >= reached || nodes.every((node) => node.over()), 'files', 600_000);
      // A request that three nodes die of is given up, so those of the last kill are to be over before the next.
      const isCalm = ({ silent, suspects }) => silent.length + suspects === 0;
      await until(async () => isCalm(await client.snapshot()), 'suspects', 600_000);
      const at = killed % 2;
      if (nodes[at].over()) break;
      await sleep(random.between(0, 50));
      nodes[at].signal('SIGKILL');
      await nodes[at].ended;
      killed += 1;
      nodes[at] = startNode(at);
    }
    const ends = await Promise.all(nodes.map((node) => endOf(node, 900_000)));
    await client.close();
    const { breaches, pending, leased, delayed, failed } = await look(project);
    const problems = [...breaches];
    for (const [n, { code, signal }] of ends.entries())
      if (code !== 0) problems.push(`a node ended with ${code ?? signal}: ${nodes[n].said.slice(-400)}`);
    const left = pending + leased + delayed;
    if (left + failed > 0) problems.push(`${left} requests are left, ${failed} failed`);
    const items = judgeFeeds(project, pages, feeds.flat(), problems);
    const { stored, givenUp } = judgeFiles(filesOf(project), items, problems);
    const note = `${stored} files whole in the store, ${givenUp} bad ones given up after two kills`;
    const refetched = site.asked.pages - pages;
    return { problems, times: Number(killed === kills) * killed, pages, refetched, note };
  },
};

/** Each page once in each format. @returns the items of the JSON lines */
function judgeFeeds({ dir }, pages, files, problems) {
  const options = { cwd: dir, encoding: 'utf8', maxBuffer: 1e9 };
  const read = execFileSync('python3', [reader, ...files], options)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  for (const format of formats) {
    const found = read.filter(({ file }) => file.slice('node-0.'.length) === format).map(({ page }) => page);
    const unique = new Set(found).size;
    if (unique !== pages) problems.push(`${pages - unique} items are missing in ${format}`);
    if (found.length > unique) problems.push(`${found.length - unique} items twice in ${format}`);
  }
  return read.filter(({ file }) => file.endsWith('.jsonl'));
}

/** Path below the project → content. */
function filesOf({ dir }) {
  const paths = ['files', 'images'].flatMap((folder) =>
    readdirSync(path.join(dir, folder, 'full')).map((file) => `${folder}/full/${file}`),
  );
  return new Map(paths.map((file) => [file, readFileSync(path.join(dir, file))]));
}

/** Each result as the site answers, each file whole, and none that no item names. */
function judgeFiles(stored, items, problems) {
  const named = new Set();
  let givenUp = 0;
  for (const { page, files, images } of items) {
    for (const [folder, name, result] of [
      ['files', 'a', files?.[0]],
      ['files', 'b', files?.[1]],
      ['images', 'c', images?.[0]],
    ]) {
      const { reason, body } = fateOf(page, name);
      // Two nodes were killed while they waited for one that hangs or is tried again.
      if (reason !== null && result?.reason === 'crashed') {
        givenUp += 1;
        continue;
      }
      if (result?.reason !== (reason ?? undefined)) {
        const is = result?.reason ?? result?.status;
        problems.push(`file ${name} of page ${page}: ${is}, not ${reason ?? 'stored'}`);
      } else if (reason === null) {
        const file = `${folder}/${result.path}`;
        const bytes = stored.get(file) ?? Buffer.alloc(0);
        const md5 = createHash('md5').update(bytes).digest('hex');
        if (!bytes.equals(body) || md5 !== result.checksum) problems.push(`${file} is not whole`);
        named.add(file);
      }
    }
  }
  if (stored.size !== named.size) problems.push(`${stored.size} files are stored, ${named.size} are named`);
  return { stored: stored.size, givenUp };
}
