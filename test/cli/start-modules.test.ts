/** What a start loads: code that few commands need is loaded on use, so a start does not pay for it. */
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
  /^dist\/frontier\/\w+\/backup\//,
  /^dist\/frontier\/(\w+\/)?care\//,
  /^dist\/frontier\/redis\/examine\/(?!server|version)/,
  /^dist\/frontier\/\w+\/read\/inspect/,
  /^dist\/pipelines\/files\/(?!media-pipeline)/,
  /^dist\/pipelines\/feeds\/(feed-writer|feed-content|batched-content|restore-feed)/,
  /^dist\/crawler\/feeds\/(open-feeds|orphaned-feeds|item-filter)/,
  /^dist\/crawler\/run\/dry-run/,
  /^dist\/downloader\/cache\//,
  /^dist\/cli\/(shell|backup|completion|project\/.*template)/,
  /node_modules\/(@aws-sdk|csv-parse|csv-stringify|esbuild|file-type|image-size|log-update|socks|tough-cookie|xpath)\//,
];

/** The modules that the main thread of a command imports; those of crawlnode begin with dist/. */
async function importedBy(args: readonly string[], settings: Readonly<Record<string, unknown>> = {}) {
  const site = await startSite({ pages: 1 });
  const spider = `import { Spider } from 'crawlnode';
export default class One extends Spider {
  name = 'one';
  startUrls = ['${site.url}'];
  *parse(response) { yield { url: response.url }; }
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
  const urls = (await project.read('loaded')).trimEnd().split('\n');
  return [...new Set(urls.map((url) => url.replace(dist, 'dist/')))];
}

const crawl = ['crawl', 'one', '--exit-when-done'];

/** The number of crawlnode's modules may grow by a few. A larger one is a reason to look at what a start now loads. */
describe.each([
  ['--help', ['--help'], {}, 25],
  ['a crawl in Redis', crawl, { REDIS_URL: server.url }, 435],
  ['a crawl on the embedded engine', crawl, {}, 457],
  ['stats', ['stats', 'one'], { REDIS_URL: server.url }, 270],
])('%s', (_, args, settings, most) => {
  it(`imports at most ${most} modules of crawlnode, and none that is for other uses`, async () => {
    const imported = await importedBy(args, settings);
    const own = imported.filter((url) => url.startsWith('dist/'));
    expect(own).toContain('dist/cli/main.js');
    expect(own.length).toBeLessThanOrEqual(most);
    expect(imported.filter((url) => onUseOnly.some((pattern) => pattern.test(url)))).toEqual([]);
  });
});
