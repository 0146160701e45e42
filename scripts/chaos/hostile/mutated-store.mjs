/**
 * H3: what damaged and malicious records do to a node and to every command: requests, items that wait for files, seeds, items,
 * feeds, items that wait for a pipeline, and backups are changed straight in the store, past crawlnode.
 *
 * In rounds, a real crawl fills a store; its records are mutated (bits flipped, cut off, huge numbers, other types, deep
 * nesting, names of prototypes and hooks, paths, in the first round 100 MB of text); then a node works them off and every
 * command reads them. Broken when a process ends by a signal, hangs or shows an error nobody foresaw, when a file changes that
 * no command line names, when a downloaded file leaves its folder, when a pipeline gets no item, when code is loaded from a
 * path of the store, when a request or seed is set aside without a reason, or when doctor does not say so.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { startSite } from '../harness/local-site.mjs';
import { endOf, start } from '../harness/project.mjs';
import { peakOfProcess } from '../harness/samples.mjs';
import { onOwnStage, tempDir } from '../harness/stage.mjs';
import { mutations } from './mutations.mjs';
import { storeOf } from './stores.mjs';

const TIMEOUT_MS = 180_000;
const HUGE_BYTES = 100 * 1024 * 1024;
/** Records to be mutated. */
const RECORDS = { short: 1, normal: 5_000, long: 10_000 };
/** Of each round. */
const COUNTS = { requests: 3_000, waiting: 500, seeds: 1_000, items: 300, outbox: 200, accepted: 100 };
const BACKUPS = 10;
const VALUES_OF_BACKUP = 10;

export const mutatedStore = {
  row: 'H3',
  fault: 'damaged and malicious records in the store, between and under commands and a node',
  isLong: true,
  engines: ['redis', 'embedded'],
  async run({ engine, scale, random }) {
    const answer = (url, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>${url.slice(0, 50)}</title>`);
      return true;
    };
    const { origin } = await startSite({ answer });
    const problems = [];
    let [mutated, peakMb] = [0, 0];
    for (let round = 1; mutated < RECORDS[scale.name]; round += 1) {
      const say = (problem) => problems.push(`round ${round}: ${problem}`);
      const outcome = await onOwnStage(() => runRound({ engine, round, random, origin, say }));
      mutated += outcome.count;
      peakMb = Math.max(peakMb, outcome.peakMb);
    }
    return { problems: problems.slice(0, 40), times: mutated, note: `a node needed at most ${peakMb} MB` };
  },
};

/** @returns count: how many records were mutated; peakMb: the most memory of a node. */
async function runRound({ engine, round, random, origin, say }) {
  const folder = await tempDir('mutated');
  const project = path.join(folder, 'project');
  const canaries = makeProject(folder, project);
  const { mutate } = mutations(random, canaries);
  const store = await storeOf(engine, folder, 'walk');
  const settings = {
    ...store.settings,
    ROBOTSTXT_OBEY: false,
    RETRY_TIMES: 0,
    DOWNLOAD_TIMEOUT: 5,
    CONCURRENT_REQUESTS: 32,
  };
  writeFileSync(
    path.join(project, 'crawlnode.yaml'),
    JSON.stringify({
      ...settings,
      ITEM_PIPELINES: { FilesPipeline: 1, './pipelines/note.ts': 200, RedisPipeline: 300 },
      FILES_STORE: 'files',
      FILES_STORE_TIMEOUT: 1,
    }),
  );
  const env = { HOME: path.join(folder, 'home'), XDG_STATE_HOME: '', XDG_CACHE_HOME: '' };
  const run = (args, allowed = [0, 1]) => command(say, { dir: project }, env, args, allowed);

  const lines = (count, make) => Array.from({ length: count }, (_, n) => JSON.stringify(make(n))).join('\n');
  const seed = (n) => ({
    ...{ url: `${origin}/${round}/${n}?a=${n}`, method: n % 5 === 0 ? 'POST' : 'GET', priority: n % 7 },
    ...(n % 5 === 0 && { body: `a=${n}` }),
    ...(n % 3 === 0 && { meta: { n, deep: { list: [1, 2, { x: 'y' }] }, download_slot: `slot${n % 4}` } }),
    ...(n % 4 === 0 && { headers: { 'X-Test': [`${n}`, 'b'] }, cookies: { id: `${n}` } }),
    ...(n % 2 === 0 && { callback: 'parseOther', errback: 'failed', dont_filter: n % 6 === 0 }),
  });
  writeFileSync(
    path.join(project, 'first.txt'),
    lines(COUNTS.items, (n) => seed(n)),
  );
  writeFileSync(
    path.join(project, 'pending.txt'),
    lines(COUNTS.requests, (n) => seed(10_000 + n)),
  );
  writeFileSync(
    path.join(project, 'raw.txt'),
    lines(COUNTS.seeds, (n) => seed(20_000 + n)),
  );
  const pagesBefore = ['crawl', 'walk', '--exit-when-done', '-o', 'out.jsonl'];
  await run(['seed', 'walk', '--file', 'first.txt'], [0]);
  await run(pagesBefore, [0]);
  await run(['seed', 'walk', '--file', 'pending.txt'], [0]);
  const before = look(folder);

  // Backups: the crawl is taken out of the store, and put back from damaged copies, then from the sound one.
  await run(['reset', 'walk', '--all', '--yes', '--backup', 'backups/sound.jsonl'], [0]);
  let [count, peakMb] = [0, 0];
  for (let n = 0; n < BACKUPS; n += 1) {
    const file = `backups/mutated-${n}.jsonl`;
    count += mutateBackup(
      path.join(project, 'backups/sound.jsonl'),
      path.join(project, file),
      random,
      mutate,
      n % 2 === 0,
    );
    await run(['restore', 'walk', file], [0, 1, 2, 3]);
    if (n % 4 === 0) await run(['doctor', 'walk', '--deep']);
    await run(['reset', 'walk', '--all', '--yes', '--force'], [0]);
  }
  await run(['restore', 'walk', 'backups/sound.jsonl'], [0]);
  // One page, so that the store knows the feed again. Its items then wait for their files.
  const withFiles = { url: `${origin}/${round}/files`, callback: 'parseFiles', priority: 1_000_000 };
  writeFileSync(path.join(project, 'files.txt'), JSON.stringify(withFiles));
  await run(['seed', 'walk', '--file', 'files.txt'], [0]);
  await run(['crawl', 'walk', '--max-pages', '1', '-o', 'out.jsonl'], [0]);
  await run(['seed', 'walk', '--file', 'raw.txt', '--to-start-urls'], [0]);

  const huge = round === 1 ? Buffer.alloc(HUGE_BYTES, 'x') : null;
  let hugeLeft = 0;
  const change = (bytes) => {
    if (huge !== null && hugeLeft > 0) {
      hugeLeft -= 1;
      return huge;
    }
    return mutateWaiting(bytes, mutate, random) ?? mutate(bytes);
  };
  for (const kind of ['requests', 'seeds', 'items', 'feeds']) {
    hugeLeft = ['requests', 'seeds', 'items'].includes(kind) ? 1 : 0;
    const changed = await store[kind](change);
    count += changed;
  }
  const [anItem] = readFileSync(path.join(project, 'out.jsonl'), 'utf8').split('\n');
  await store.outbox(Array.from({ length: COUNTS.outbox }, () => mutate(anItem)));
  count += COUNTS.outbox;
  const anEntry = JSON.stringify({ id: `${'0'.repeat(40)}-1`, item: JSON.parse(anItem) });
  await store.outbox(
    Array.from({ length: COUNTS.accepted }, () => mutate(anEntry)),
    { ofPipeline: true },
  );
  count += COUNTS.accepted;

  for (const args of [
    ['stats', 'walk', '--json'],
    ['stats'],
    ['doctor', 'walk'],
    ['failed', 'walk', 'list'],
    ['inspect', 'walk', `${origin}/${round}/10001?a=10001`],
    ['items', 'walk', 'export'],
    ['crawl', 'walk', '--exit-when-done', '-o', 'again.jsonl'],
    ['crawl', 'walk', '--exit-when-done', '--max-pages', '1', '-o', 'out.jsonl'],
    ['items', 'walk', 'export', '-o', 'exported.jsonl'],
    ['failed', 'walk', 'list', '--json'],
    ['stats', 'walk', '--json'],
    ['doctor', 'walk'],
    ['doctor', 'walk', '--deep'],
  ]) {
    const { stdout, peakMb: mb } = await run(args, args[0] === 'crawl' ? [0, 1, 3] : [0, 1]);
    peakMb = Math.max(peakMb, mb);
    if (args[0] === 'doctor') judgeDoctor(say, stdout, await store.badSeeds());
    if (args[0] === 'failed' && args.includes('--json')) judgeFailed(say, stdout);
  }
  const left = JSON.parse((await run(['stats', 'walk', '--json'])).stdout || '{}');
  for (const state of ['pending', 'leased', 'delayed', 'startUrls'])
    if (left[state] !== 0) say(`${left[state]} left ${state}`);
  for (const entry of await store.badSeeds())
    if (!JSON.parse(entry).reason) say('a seed was set aside without a reason');
  const others = await store.others(mutate);
  count += others;
  for (const args of [
    ['failed', 'walk', 'list'],
    ['failed', 'walk', 'list', '--json'],
    ['stats', 'walk'],
    ['doctor', 'walk'],
  ])
    await run(args);
  for (const file of ['again.jsonl', 'exported.jsonl', 'out.jsonl'])
    judgeLines(say, path.join(project, file));
  judgeAccepted(say, path.join(project, 'committed.jsonl'));
  judgeFiles(say, path.join(project, 'files'));
  compare(say, before, look(folder));
  if (existsSync(path.join(folder, 'PWNED'))) say(`${readFileSync(path.join(folder, 'PWNED'))}`);
  return { count, peakMb };
}

/** @returns paths that nothing may touch or load. */
function makeProject(folder, project) {
  for (const name of [
    'project/spiders',
    'project/pipelines',
    'project/canary',
    'project/backups',
    'home',
    'canary',
  ])
    mkdirSync(path.join(folder, name), { recursive: true });
  const pwned = JSON.stringify(path.join(folder, 'PWNED'));
  writeFileSync(
    path.join(project, 'spiders', 'walk.ts'),
    `import { writeFileSync } from 'node:fs';
import { Spider, type Response } from 'crawlnode';
const pwned = (what: string) => writeFileSync(${pwned}, what);
export default class extends Spider {
  name = 'walk';
  *parse(response: Response) { yield { url: response.url, title: response.css('title::text').get(), n: response.meta.n }; }
  *parseFiles(response: Response) {
    for (let n = 0; n < ${COUNTS.waiting}; n += 1)
      yield { n, file_urls: [response.urljoin('/file/' + n + '.pdf'), response.urljoin('/file/' + n)] };
  }
  *parseOther(response: Response) { yield { url: response.url, other: true }; }
  failed() { return []; }
  override opened(...args: unknown[]) { if (args.length > 0) pwned('the hook opened was a callback'); }
  override closed(reason: unknown) { if (typeof reason !== 'string') pwned('the hook closed was a callback'); }
  override makeRequestFromData(data: unknown) {
    if (typeof data !== 'string') pwned('the hook makeRequestFromData was a callback');
    return super.makeRequestFromData(data as string);
  }
}
`,
  );
  writeFileSync(
    path.join(project, 'pipelines', 'note.ts'),
    `import { appendFileSync } from 'node:fs';
export default class {
  committed(batch: unknown[]) {
    appendFileSync('committed.jsonl', batch.map((entry) => JSON.stringify(entry) + '\\n').join(''));
  }
}
`,
  );
  const evil = `import { writeFileSync } from 'node:fs'; writeFileSync(${pwned}, 'code was loaded');\n`;
  const canaries = [
    ...['project/canary/evil.mjs', 'project/canary/evil.ts', 'canary/evil.mjs'],
    ...['project/victim.jsonl', 'project/victim.csv', 'home/.bashrc', 'canary/authorized_keys'],
  ].map((name) => path.join(folder, name));
  for (const file of canaries) writeFileSync(file, file.includes('evil') ? evil : '{"mine":1}\n');
  symlinkSync(path.join(folder, 'canary/authorized_keys'), path.join(project, 'link.jsonl'));
  return [...canaries, path.join(project, 'link.jsonl'), path.join(project, 'spiders/walk.ts')];
}

/** The item that waits in the record of a request, changed; null for another record, and now and then for one with an item. */
function mutateWaiting(bytes, mutate, random) {
  // In Redis its place in the queue follows, behind a NUL.
  const end = bytes.indexOf(0);
  const tail = end === -1 ? Buffer.alloc(0) : bytes.subarray(end);
  const text = bytes.subarray(0, bytes.length - tail.length).toString();
  if (!text.includes('"f":{') || random.next() < 0.3) return null;
  const waiting = JSON.stringify(JSON.parse(text).f);
  const at = text.indexOf(waiting);
  if (at === -1) return null;
  const changed = mutate(Buffer.from(waiting));
  return Buffer.concat([
    Buffer.from(text.slice(0, at)),
    changed,
    Buffer.from(text.slice(at + waiting.length)),
    tail,
  ]);
}

/** A copy of a backup with some of its values changed; `isSigned`: with checksums to match, as a forger makes them. */
function mutateBackup(from, to, random, mutate, isSigned) {
  const all = readFileSync(from, 'utf8').trimEnd().split('\n');
  for (let n = 0; n < VALUES_OF_BACKUP; n += 1) {
    const at = random.below(all.length);
    all[at] = mutate(Buffer.from(all[at])).toString().replaceAll('\n', ' ');
  }
  if (isSigned) {
    const hash = createHash('sha256');
    for (const [n, line] of all.entries()) {
      if (/"kind":"(check|end)"/.test(line))
        all[n] = line.replace(/"sha256":"[0-9a-f]*"/, `"sha256":"${hash.copy().digest('hex')}"`);
      hash.update(`${all[n]}\n`);
    }
  }
  writeFileSync(to, `${all.join('\n')}\n`);
  return VALUES_OF_BACKUP;
}

/** Run a command to its end; whatever nobody foresaw is a problem. */
async function command(say, project, env, args, allowed) {
  const node = start(project, args, { env });
  let peakMb = 0;
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, Math.round(peakOfProcess(node.pid)));
  }, 100);
  const { code, signal } = await endOf(node, TIMEOUT_MS);
  clearInterval(watch);
  const name = args.join(' ');
  if (!allowed.includes(code)) say(`${name} ended with ${signal ?? code}: ${node.said.slice(-600)}`);
  const unforeseen =
    /\b(Type|Range|Reference|Syntax)Error\b.*|internal_error|unforeseen.*|"code":"unexpected".*/.exec(
      node.said,
    );
  if (unforeseen !== null) say(`${name} said ${unforeseen[0].slice(0, 400)}`);
  if (/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/.test(node.out + node.said))
    say(`${name} printed a control character`);
  return { code, stdout: node.out, peakMb };
}

function judgeDoctor(say, stdout, badSeeds) {
  if (badSeeds.length > 0 && !/could not be parsed/.test(stdout))
    say(`doctor does not name ${badSeeds.length} bad seeds`);
  const failed = /([\d,]+) failed\b/.exec(stdout)?.[1] ?? '0';
  if (failed !== '0' && !/requests? failed for good/.test(stdout)) say(`doctor does not name the failed`);
}

function judgeFailed(say, stdout) {
  for (const line of stdout.trim().split('\n')) {
    if (line === '') continue;
    const { reason, detail } = JSON.parse(line);
    if (!reason || reason === 'unknown' || reason === 'internal_error')
      say(`a request was set aside as ${reason}: ${detail}`);
  }
}

/** Each line of a feed is one JSON object. */
function judgeLines(say, file) {
  if (!existsSync(file)) return;
  for (const line of readFileSync(file, 'utf8').trimEnd().split('\n')) {
    if (line === '') continue;
    try {
      const value = JSON.parse(line);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('no object');
    } catch (error) {
      say(`${path.basename(file)} holds ${line.slice(0, 100)}: ${error.message}`);
    }
  }
}

/** Whatever the store held, a pipeline gets items with ids. */
function judgeAccepted(say, file) {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  if (lines.length < COUNTS.accepted) say(`the pipeline got ${lines.length} items`);
  for (const line of lines) {
    const { id, item } = JSON.parse(line);
    if (typeof id !== 'string' || typeof item !== 'object' || item === null || Array.isArray(item))
      say(`a pipeline got ${line.slice(0, 100)}`);
  }
}

/** Whatever the store held, a file is stored under the hash of its URL. */
function judgeFiles(say, folder) {
  const stored = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  if (stored.length === 0) say(`no file was stored`);
  for (const { parentPath, name } of stored) {
    const file = path.relative(folder, path.join(parentPath, name));
    if (!/^full\/[0-9a-f]{40}(\.[a-z0-9]{1,10})?$/.test(file)) say(`a file was stored as ${file}`);
  }
}

/** Every file below the folder but those that command lines name, with what tells that it was written. */
function look(folder) {
  const named =
    /^(project\/((out|again|exported|committed)\.jsonl(\.cut-.*)?|backups(\/.*)?|(raw|files)\.txt|files(\/.*)?|\.crawlnode(\/.*)?)|home\/\.(cache|local)(\/.*)?|dump\.rdb|PWNED)$/;
  const found = new Map();
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = path.join(folder, name);
    if (named.test(name) || !statSync(file).isFile()) continue;
    const { mtimeMs, ctimeMs, size } = statSync(file);
    found.set(
      name,
      `${mtimeMs} ${ctimeMs} ${size} ${createHash('sha256').update(readFileSync(file)).digest('hex')}`,
    );
  }
  return found;
}

function compare(say, before, after) {
  for (const name of new Set([...before.keys(), ...after.keys()]))
    if (before.get(name) !== after.get(name)) say(`${name} was touched`);
}
