/** The examples of the guides on files and images, and on formats, options, batches and filters of feeds. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { runHere } from '../helpers/cli/run-here.js';
import { runCli } from '../helpers/cli.js';
import { createProject } from '../helpers/project.js';
import { bucket, keys, startS3 } from '../helpers/servers/s3-server.mjs';
import { startSite } from '../helpers/sites/site.js';
import { tempDir } from '../helpers/temp-dir.js';
import { pages } from './pages.js';

const guide = pages.find(({ file }) => file === 'docs/guide/files-and-images.md')!;
const blockWith = (text: string, from = guide) =>
  from.blocks.find((block) => block.text.includes(text))!.text;
const feedGuide = pages.find(({ file }) => file === 'docs/guide/items-and-feeds.md')!;

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
png.writeUInt32BE(200, 16);

const startShop = () =>
  startSite({
    handler: ({ url = '/', headers }, response) => {
      const link = (name: string) => `<li class="product"><a href="/${name}">${name}</a>`;
      if (url === '/') response.setHeader('content-type', 'text/html').end(link('a.pdf') + link('gone.pdf'));
      else if (url === '/gone.pdf') response.writeHead(404).end();
      else if (url === '/linked.pdf' && headers.referer === undefined) response.writeHead(403).end();
      else response.end(url === '/photo.jpg' ? png : '%PDF-1.7');
      return true;
    },
  });

it('files: each item has its results, failed ones included', async () => {
  const site = await startShop();
  const project = await createProject({
    settings: blockWith('FILES_STORE: files'),
    files: { 'spiders/manuals.ts': blockWith('// spiders/manuals.ts') },
  });
  const args = ['crawl', 'manuals', '-a', `start=${site.origin}/`, '--exit-when-done', '-O', 'out.jsonl'];
  expect(await runHere(args, { cwd: project.dir })).toMatchObject({ code: 0 });
  const items = await project.readJsonLines<{ title: string; files: { path: string; reason?: string }[] }>(
    'out.jsonl',
  );
  const shown = items.map(({ title, files: [file] }) => [
    title,
    file!.reason ?? existsSync(project.path('files', file!.path)),
  ]);
  expect(shown.sort()).toEqual([
    ['a.pdf', true],
    ['gone.pdf', 'http_404'],
  ]);
});

it("files in a bucket, and a pipeline of files of one's own", async () => {
  const site = await startShop();
  const server = await startS3(tempDir('s3').dir);
  const settings = parse(blockWith('FILES_STORE: s3://'));
  expect(settings.FILES_STORE).toBe('s3://my-bucket/manuals');
  const project = await createProject({
    settings: stringify({
      ...settings,
      FILES_STORE: `s3://${bucket}/manuals`,
      ITEM_PIPELINES: { './pipelines/manuals.ts': 1 },
    }),
    files: {
      'pipelines/manuals.ts': blockWith('// pipelines/manuals.ts'),
      'spiders/shop.ts': `
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = 'shop';
  startUrls = [this.args.start];
  *parse(response) {
    for (const sku of ['linked', 'gone']) yield { sku, page: response.url, manual: response.urljoin('/' + sku + '.pdf') };
  }
}
`,
    },
  });
  const args = ['crawl', 'shop', '-a', `start=${site.origin}/`, '--exit-when-done', '-O', 'out.jsonl'];
  const env = { ...keys, AWS_ENDPOINT_URL: server.endpoint };
  expect(await runHere(args, { cwd: project.dir, env })).toMatchObject({ code: 0 });
  expect(await project.readJsonLines('out.jsonl')).toEqual([{ sku: 'linked', manual: 'manuals/linked.pdf' }]);
  expect([...server.objects().keys()]).toEqual(['manuals/manuals/linked.pdf']);
  await server.stop();
});

it('images: only what is one, and large enough', async () => {
  const site = await startShop();
  const project = await createProject({
    settings: blockWith('IMAGES_STORE: images'),
    files: {
      'spiders/photos.ts': `
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = 'photos';
  startUrls = [this.args.start];
  *parse(response) { yield { image_urls: ['/photo.jpg', '/a.pdf'].map((path) => response.urljoin(path)) }; }
}
`,
    },
  });
  const args = ['crawl', 'photos', '-a', `start=${site.origin}/`, '--exit-when-done', '-O', 'out.jsonl'];
  expect(await runHere(args, { cwd: project.dir })).toMatchObject({ code: 0 });
  const [item] = await project.readJsonLines<{ images: { path: string; reason?: string }[] }>('out.jsonl');
  expect(item!.images.map(({ path, reason }) => reason ?? path.replace(/[0-9a-f]{40}/, 'HASH'))).toEqual([
    'full/HASH.png',
    'not_an_image',
  ]);
});

it('feeds: every format and option of the examples', async () => {
  const site = await startShop();
  const feeds = parse(blockWith('out/latest.json', feedGuide)).FEEDS;
  const security = pages.find(({ file }) => file === 'docs/guide/security.md')!;
  const escaped = parse(blockWith('escape_formulas: true', security)).FEEDS;
  const project = await createProject({
    settings: stringify({
      FEEDS: { ...feeds, ...escaped, 'empty.json': { store_empty: false, item_filter: './none.ts' } },
    }),
    files: {
      'none.ts': 'export default () => false;',
      'spiders/shop.ts': `
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = 'shop';
  startUrls = [this.args.start];
  *parse() { yield { title: '=1+1', price: 2, url: 'x', tags: ['a', 'b'] }; }
}
`,
    },
  });
  let jobs = 0;
  const crawl = async (...files: string[]) => {
    jobs += 1;
    const args = ['crawl', 'shop', '-a', `start=${site.origin}/`, '--exit-when-done', '--job', `j${jobs}`];
    // Standard output belongs to a process.
    const run = files.includes('-:csv') ? runCli : runHere;
    const result = await run([...args, ...files], { cwd: project.dir });
    expect(result, result.stderr).toMatchObject({ code: 0 });
    return result.stdout;
  };
  const item = { title: '=1+1', price: 2, url: 'x', tags: ['a', 'b'] };
  const csv = 'title,price,url,tags\r\n=1+1,2,x,"[""a"",""b""]"\r\n';
  const unzipped = (file: string) => gunzipSync(readFileSync(project.path(file))).toString();

  // A file that was there: overwrite and -O begin it anew, others append.
  await project.write('out/latest.json', '[{"old":1}]');
  await crawl();
  expect(await project.readJsonLines('out/shop.jsonl')).toEqual([item]);
  expect(JSON.parse(await project.read('out/latest.json'))).toEqual([item]);
  expect(await project.read('out/latest.json')).toContain('\n  ');
  expect(await project.read('shop.csv')).toBe(csv.replace('=1+1', "'=1+1"));
  expect(existsSync(project.path('empty.json'))).toBe(false);
  const renamed = readdirSync(project.path('out')).filter((name) => /^shop-\d{4}-.*\.csv\.gz$/.test(name));
  expect(renamed.map((name) => unzipped(`out/${name}`))).toEqual(['Product,Price\r\n=1+1,2\r\n']);

  await project.write('today.csv', 'old\r\n1\r\n');
  await project.write('shop.jsonl', '{"old":1}\n');
  const files = [
    '-o',
    'shop.jsonl',
    '-o',
    'shop.xml',
    '-o',
    'items.txt:jsonl',
    '-O',
    'today.csv',
    '-o',
    'all.json.gz',
  ];
  await crawl(...files);
  expect(await project.readJsonLines('shop.jsonl')).toEqual([{ old: 1 }, item]);
  expect(await project.readJsonLines('items.txt')).toEqual([item]);
  expect(await project.read('shop.xml')).toContain('<title>=1+1</title>');
  expect(await project.read('today.csv')).toBe(csv);
  expect(JSON.parse(unzipped('all.json.gz'))).toEqual([item]);
  expect(await crawl('-o', '-:csv')).toBe(csv);
});

it('feeds: a filter for one file, and batches', async () => {
  const site = await startShop();
  const filtered = parse(blockWith('item_filter: ./filters', feedGuide));
  const batched = parse(blockWith('batch_item_count: 10000', feedGuide));
  const project = await createProject({
    settings: stringify({ FEEDS: { ...filtered.FEEDS, ...batched.FEEDS } }),
    files: {
      'filters/cheap.ts': blockWith('// filters/cheap.ts', feedGuide),
      'spiders/shop.ts': `
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = 'shop';
  startUrls = [this.args.start];
  *parse() { for (const price of [10, 30, 19]) yield { price }; }
}
`,
    },
  });
  const args = ['crawl', 'shop', '-a', `start=${site.origin}/`, '--exit-when-done'];
  expect(await runHere(args, { cwd: project.dir })).toMatchObject({ code: 0 });
  expect(await project.read('out/cheap.csv')).toBe('price\r\n10\r\n19\r\n');
  expect(await project.readJsonLines('out/all.jsonl')).toHaveLength(3);
  expect(existsSync(project.path('out/shop-0001.jsonl.gz'))).toBe(true);
});
