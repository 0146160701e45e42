/** What a start loads: code that few commands need is loaded on use, so a start does not pay for it. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runCli } from '../helpers/cli.js';
import { createProject } from '../helpers/project.js';
import { redisOfFile } from '../helpers/redis/redis-of-file.js';
import { startSite } from '../helpers/sites/site.js';

const { server } = await redisOfFile();
const register = new URL('../fixtures/loaded-modules/register.mjs', import.meta.url).href;
const dist = new URL('../../dist/', import.meta.url).href;

/** No start needs these, whatever the command and the engine. */
const onUseOnly = [
  /^src\/frontier\/\w+\/backup\//,
  /^src\/frontier\/(\w+\/)?care\/(?!care-verbs)/,
  /^src\/frontier\/redis\/examine\/(?!server|version)/,
  /^src\/frontier\/\w+\/read\/inspect/,
  /^src\/pipelines\/files\/(?!media-pipeline)/,
  /^src\/pipelines\/feeds\/(feed-writer|feed-content|batched-content|restore-feed)/,
  /^src\/crawler\/feeds\/(open-feeds|orphaned-feeds|item-filter)/,
  /^src\/crawler\/run\/dry-run/,
  /^src\/downloader\/cache\//,
  /^src\/cli\/(shell|backup|completion|project\/.*template)/,
  /node_modules\/(@aws-sdk|csv-parse|csv-stringify|esbuild|file-type|image-size|log-update|socks|tough-cookie|xpath)\//,
];

interface Loaded {
  /** Of dist/, each of which costs a start some time. */
  readonly files: readonly string[];
  /** The modules in them, and the files of packages that are not part of dist/. */
  readonly modules: readonly string[];
}

/** What a command loads. @param of its main thread, or that of heartbeats, for whose first heartbeat the page waits */
async function importedBy(
  args: readonly string[],
  settings: Readonly<Record<string, unknown>> = {},
  of: 'main' | 'heartbeats' = 'main',
): Promise<Loaded> {
  const site = await startSite({ pages: 1 });
  const spider = `import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Spider } from 'crawlnode';
const file = process.env.LOADED_MODULES + '.thread';
const hasBeaten = () => existsSync(file) && /(redis|embedded)-frontier-/.test(readFileSync(file, 'utf8'));
export default class One extends Spider {
  name = 'one';
  startUrls = ['${site.url}'];
  async *parse(response) {
    while (${of === 'heartbeats'} && !hasBeaten()) await sleep(50);
    yield { url: response.url };
  }
}
`;
  const project = await createProject({
    settings: { ALLOW_PRIVATE_ADDRESSES: true, ...settings },
    files: { 'spiders/one.mjs': spider },
  });
  const env = { NODE_OPTIONS: `--import=${register}`, LOADED_MODULES: project.path('loaded') };
  const { code, stderr } = await runCli(args, { cwd: project.dir, env });
  expect(code, stderr).toBe(0);
  await site.close();
  const urls = [
    ...new Set((await project.read(of === 'main' ? 'loaded' : 'loaded.thread')).trimEnd().split('\n')),
  ];
  const files = urls.filter((url) => url.startsWith(dist));
  const packages = urls.filter((url) => url.includes('/node_modules/'));
  return { files, modules: [...files.flatMap(modulesIn), ...packages] };
}

/** What the build put into each file of dist/. */
const built = JSON.parse(readFileSync(new URL('internal.modules.json', dist), 'utf8')) as Record<
  string,
  readonly string[]
>;

function modulesIn(url: string): readonly string[] {
  return built[url.slice(dist.length)]!;
}

const crawl = ['crawl', 'one', '--exit-when-done'];

/** The number of files may grow by a few. A larger one is a reason to look at what a start now loads. */
describe.each([
  ['--help', ['--help'], {}, 20],
  ['a crawl in Redis', crawl, { REDIS_URL: server.url }, 177],
  ['a crawl on the embedded engine', crawl, {}, 177],
  ['stats', ['stats', 'one'], { REDIS_URL: server.url }, 149],
])('%s', (_, args, settings, most) => {
  it(`loads at most ${most} files of dist/, and no module that is for other uses`, async () => {
    const { files, modules } = await importedBy(args, settings);
    expect(modules).toContain('src/cli/main.ts');
    expect(files.length).toBeLessThanOrEqual(most);
    expect(modules.filter((name) => onUseOnly.some((pattern) => pattern.test(name)))).toEqual([]);
  });
});

/** The thread of heartbeats shares a core with the pages, and its memory is beside that of the node. */
it.each([
  ['Redis', { REDIS_URL: server.url }, /^src\/frontier\/embedded\/|node_modules\/@photostructure/],
  ['the embedded engine', {}, /^src\/frontier\/redis\/|node_modules\/ioredis/],
])('the heartbeat thread on %s loads its engine alone', async (_, settings, otherEngine) => {
  const own = { ...settings, HEARTBEAT_INTERVAL: 1 };
  const { modules } = await importedBy(crawl, own, 'heartbeats');
  expect(modules).toContain('src/node/membership/heartbeat-thread.ts');
  const others =
    /^src\/(cli|crawler|spider|pipelines|downloader|robots|settings(?!\/first-tunables))\/|node_modules\/(cheerio|got|zod|pino|yaml)\//;
  const unneeded = [...onUseOnly, otherEngine, others];
  expect(modules.filter((name) => unneeded.some((pattern) => pattern.test(name)))).toEqual([]);
});
