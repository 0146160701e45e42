/**
 * Items with files under SIGKILL: two nodes crawl pages with three files each, of which some fail, hang, are cut off or lie
 * about their type, and are killed and replaced. Afterwards each item must be in the feed files of the nodes once, in every
 * format, as Python reads it; each file that can be had must be in the store once and whole, and no other.
 *
 * Needs a build and python3: `node scripts/proof/item-files.mjs [pages] [kills] [Redis|embedded|both] [folder|s3]`, by default
 * 2,000 pages and 10 kills on both engines into a folder. With `s3` the files go to an S3-compatible server, which is down for
 * a while after every second kill. Exit code 1 when anything does not hold.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  atCleanUp,
  cleanUp,
  clientOf,
  crawl,
  endOf,
  look,
  newProject,
  startRedis,
  tempDir,
  until,
} from './faults/stage.mjs';
import { bucket, keys, startS3 } from './item-files/s3-server.mjs';
import { fateOf, startFileSite } from './item-files/site.mjs';

const pages = Number(process.argv[2] ?? 2_000);
const kills = Number(process.argv[3] ?? 10);
const engines = [undefined, 'both'].includes(process.argv[4]) ? ['Redis', 'embedded'] : [process.argv[4]];
const isS3 = process.argv[5] === 's3';
/** The server is down as long after every second kill. */
const OUTAGE_MS = 5_000;
const reader = fileURLToPath(new URL('item-files/read_feeds.py', import.meta.url));
const formats = ['jsonl', 'json', 'csv', 'xml', 'jsonl.gz', 'json.gz', 'csv.gz', 'xml.gz'];

const spider = `
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = 'walk';
  startUrls = this.args.start.split(' ');
  opened() { this.log.info('the spider is open'); }
  *parse(response) {
    const { item, next } = response.json();
    yield item;
    if (next !== null) yield response.follow(next);
  }
}
`;

let failed = false;
let givenUp = 0;
for (const engine of engines) {
  try {
    const outcome = await prove(engine);
    console.log(`${engine}: ${outcome}`);
    failed ||= outcome.includes('FAILED');
  } finally {
    await cleanUp();
  }
}
process.exitCode = failed ? 1 : 0;

async function prove(engine) {
  const site = await startFileSite(pages);
  atCleanUp(site.close);
  const s3 = isS3 ? await startS3(await tempDir('s3')) : null;
  if (s3 !== null) atCleanUp(s3.stop);
  const place = (name) => (isS3 ? `s3://${bucket}/${name}` : name);
  const settings = {
    ITEM_PIPELINES: { FilesPipeline: 1, ImagesPipeline: 2 },
    ...{ FILES_STORE: place('files'), IMAGES_STORE: place('images'), ALLOW_PRIVATE_ADDRESSES: true },
    ...(isS3 && { ...keys, AWS_ENDPOINT_URL: s3.endpoint }),
    ...{ DOWNLOAD_TIMEOUT: 3, RETRY_TIMES: 1, CONCURRENT_REQUESTS: 32 },
  };
  const project = await newProject(engine === 'Redis' ? await startRedis() : null, settings, spider);
  const feeds = [0, 1].map((node) => formats.map((format) => `node-${node}.${format}`));
  const start = (node) =>
    crawl(project, [
      ...['-a', `start=${site.starts.join(' ')}`, '--exit-when-done'],
      ...feeds[node].flatMap((file) => ['-o', file]),
    ]);
  const nodes = [start(0), start(1)];
  const client = await clientOf(project);
  const began = performance.now();
  let killed = 0;
  while (killed < kills) {
    const reached = Math.ceil(((killed + 1) * pages * 3) / (kills + 1));
    await until(() => site.asked.files >= reached || nodes.every((node) => node.over()), 'files', 600_000);
    // A request that three nodes die of is given up, so those of the last kill are to be over before the next.
    const isCalm = ({ silent, suspects }) => silent.length + suspects === 0;
    await until(async () => isCalm(await client.snapshot()), 'suspects', 600_000);
    const at = killed % 2;
    if (nodes[at].over()) break;
    await sleep(Math.random() * 50);
    nodes[at].signal('SIGKILL');
    await nodes[at].ended;
    killed += 1;
    const isOutage = isS3 && killed % 2 === 0;
    // A bucket that is away is an error at the start of a node, so no node starts meanwhile.
    if (isOutage)
      await until(() => nodes[1 - at].said.includes('the spider is open'), 'the other node', 60_000);
    if (isOutage) await s3.stop();
    if (isOutage) await sleep(OUTAGE_MS);
    if (isOutage) await s3.start();
    nodes[at] = start(at);
  }
  const ends = await Promise.all(nodes.map((node) => endOf(node, 900_000)));
  const seconds = ((performance.now() - began) / 1_000).toFixed(0);
  const problems = ends
    .filter(({ code }) => code !== 0)
    .map(({ code, signal }) => `a node ended with ${code ?? signal}`);
  await client.close();
  if (killed < kills) problems.push(`only ${killed} kills`);

  const state = await look(project);
  problems.push(...state.breaches);
  if (state.pending + state.leased + state.delayed + state.failed > 0) {
    problems.push(
      `${state.pending + state.leased + state.delayed} requests are left, ${state.failed} failed`,
    );
  }
  const found = s3?.objects() ?? filesOf(project);
  const stored = judgeFiles(found, judgeFeeds(project, feeds.flat(), problems), problems);
  const refetched = site.asked.pages + site.asked.files;
  if (problems.length > 0)
    for (const node of nodes) console.error(node.said.split('\n').slice(-5).join('\n'));
  const what = `${killed} kills in ${seconds} s; ${state.counters.item_scraped_count} items counted, each once in ${formats.length} formats; ${stored} files stored whole, ${givenUp} bad ones given up after two kills; ${refetched} requests`;
  return `${what}: ${problems.length === 0 ? 'held' : `FAILED: ${problems.slice(0, 20).join('; ')}`}`;
}

/** Each page once in each format. @returns the items of the JSON lines */
function judgeFeeds(project, files, problems) {
  const options = { cwd: project.dir, encoding: 'utf8', maxBuffer: 1e9 };
  const read = execFileSync('python3', [reader, ...files], options)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  for (const format of formats) {
    const found = read.filter(({ file }) => file.slice('node-0.'.length) === format).map(({ page }) => page);
    const missing = pages - new Set(found).size;
    if (missing !== 0) problems.push(`${missing} items are missing in ${format}`);
    if (found.length > new Set(found).size)
      problems.push(`${found.length - new Set(found).size} items twice in ${format}`);
  }
  return read.filter(({ file }) => file.endsWith('.jsonl'));
}

/** Path below the project → content. */
function filesOf(project) {
  const paths = ['files', 'images'].flatMap((folder) =>
    readdirSync(path.join(project.dir, folder, 'full')).map((file) => `${folder}/full/${file}`),
  );
  return new Map(paths.map((file) => [file, readFileSync(path.join(project.dir, file))]));
}

/** Each result as the site answers, each file whole, and none that no item names. */
function judgeFiles(stored, items, problems) {
  const named = new Set();
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
        problems.push(
          `file ${name} of page ${page}: ${result?.reason ?? result?.status}, not ${reason ?? 'stored'}`,
        );
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
  return stored.size;
}
