/** The examples of the guides on files and images, and on batches and filters of feeds. */
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { bucket, keys, startS3 } from '../../scripts/proof/item-files/s3-server.mjs';
import { runCli } from '../helpers/cli.js';
import { createProject } from '../helpers/project.js';
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
  expect(await runCli(args, { cwd: project.dir })).toMatchObject({ code: 0 });
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
  expect(await runCli(args, { cwd: project.dir, env })).toMatchObject({ code: 0 });
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
  expect(await runCli(args, { cwd: project.dir })).toMatchObject({ code: 0 });
  const [item] = await project.readJsonLines<{ images: { path: string; reason?: string }[] }>('out.jsonl');
  expect(item!.images.map(({ path, reason }) => reason ?? path.replace(/[0-9a-f]{40}/, 'HASH'))).toEqual([
    'full/HASH.png',
    'not_an_image',
  ]);
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
  expect(await runCli(args, { cwd: project.dir })).toMatchObject({ code: 0 });
  expect(await project.read('out/cheap.csv')).toBe('price\r\n10\r\n19\r\n');
  expect(await project.readJsonLines('out/all.jsonl')).toHaveLength(3);
  expect(existsSync(project.path('out/shop-0001.jsonl.gz'))).toBe(true);
});
