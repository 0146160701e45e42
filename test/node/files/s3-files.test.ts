/** Images of items in S3-compatible storage, through the executable: a node is killed, and the storage is away for a while. */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { root } from '../../docs/pages.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { runCli, startCli } from '../../helpers/cli.js';
import { projectOn } from '../../helpers/engine-project.js';
import { bucket, keys, startS3 } from '../../helpers/servers/s3-server.mjs';
import { startSite } from '../../helpers/sites/site.js';
import { tempDir } from '../../helpers/temp-dir.js';
import { waitFor } from '../../helpers/wait-for.js';

const spider = `
import { Spider } from 'crawlnode';
export default class extends Spider {
  name = 'news';
  startUrls = [this.args.start];
  *parse(response) {
    for (const n of Array(20).keys()) yield { n, image_urls: [response.urljoin('/image-' + n + '.jpg')] };
  }
}
`;
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const imageOf = (url: string) => Buffer.concat([png, Buffer.from(url)]);

describe('images in a bucket', () => {
  let server: Awaited<ReturnType<typeof startS3>>;
  beforeEach(async () => {
    server = await startS3(tempDir('s3').dir);
  });
  afterEach(() => server.stop());
  const here = projectOn('embedded', {
    settings: {
      ...{ IMAGES_STORE: `s3://${bucket}/shop`, ITEM_PIPELINES: { ImagesPipeline: 1 } },
      ...{ ALLOW_PRIVATE_ADDRESSES: true, ROBOTSTXT_OBEY: false, CONCURRENT_REQUESTS: 4 },
      ...{ CONCURRENT_REQUESTS_PER_DOMAIN: 4, NODE_TIMEOUT: 3, HEARTBEAT_INTERVAL: 1 },
    },
    files: { 'spiders/news.ts': spider },
  });
  const env = () => ({ ...keys, AWS_ENDPOINT_URL: server.endpoint });
  /** Answers so many requests for images; the others wait until `limit` is raised. */
  const siteOf = async () => {
    const gate = { asked: 0, limit: 3 };
    const site = await startSite({
      handler: ({ url = '/' }, response) => {
        if (!url.startsWith('/image-')) response.end('page');
        else {
          gate.asked += 1;
          const turn = gate.asked;
          void waitFor(() => turn <= gate.limit).then(() => response.end(imageOf(url)));
        }
        return true;
      },
    });
    return { site, gate };
  };
  const start = (args: readonly string[]) => startCli(args, { cwd: here.project.dir, env: env() });
  const stored = (count: number) =>
    waitFor(() => server.objects().size >= count, { what: `${count} images` });

  it('every item comes once and every image is whole, also after a kill and while the storage is away', async () => {
    const { site, gate } = await siteOf();
    const args = ['crawl', 'news', '-a', `start=${site.origin}/p`, '--exit-when-done', '-o', 'out.jsonl'];
    const first = start(args);
    await stored(3);
    first.kill('SIGKILL');
    await first.wait();
    gate.limit = gate.asked + 5;
    const second = start(args);
    await stored(8);
    await server.stop();
    gate.limit = Number.POSITIVE_INFINITY;
    await second.waitForOutput('files of items cannot be stored');
    await server.start();
    expect(await second.wait(), second.stderr()).toMatchObject({ code: 0 });

    const items = await here.project.readJsonLines<{
      n: number;
      images: { path: string; checksum: string }[];
    }>('out.jsonl');
    expect(items.map(({ n }) => n).sort((a, b) => a - b)).toEqual([...Array(20).keys()]);
    const objects = server.objects();
    for (const { n, images } of items) {
      const body = imageOf(`/image-${n}.jpg`);
      expect(objects.get(`shop/${images[0]!.path}`)).toEqual(body);
      expect(images[0]!.checksum).toBe(createHash('md5').update(body).digest('hex'));
    }
    expect(objects.size).toBe(20);
    expect(await here.look((frontier) => frontier.verify())).toEqual([]);
  }, 60_000);

  it('a storage that refuses the keys is an error at the start, which shows no secret', async () => {
    const wrong = { ...env(), AWS_SECRET_ACCESS_KEY: 'not-this-one' };
    const refused = await runCli(['crawl', 'news', '-a', 'start=http://127.0.0.1:1/'], {
      ...{ cwd: here.project.dir, env: wrong },
    });
    expect(refused).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining(`files cannot be written to s3://${bucket}/shop`) },
    });
    expect(refused.stderr).toContain('SignatureDoesNotMatch');
    const settings = await runHere(['settings', '--json'], { cwd: here.project.dir, env: wrong });
    expect(refused.stderr + settings.stdout).not.toContain('not-this-one');
    expect(settings.stdout).toContain('AWS_SECRET_ACCESS_KEY');
  });

  it('an image that cannot be stored in time fails with its item, and a retry goes on', async () => {
    const { site, gate } = await siteOf();
    const args = ['crawl', 'news', '-a', `start=${site.origin}/p`, '--exit-when-done', '-o', 'out.jsonl'];
    const crawling = start([...args, '-s', 'FILES_STORE_TIMEOUT=0.1']);
    await stored(3);
    await server.stop();
    gate.limit = Number.POSITIVE_INFINITY;
    expect(await crawling.wait()).toMatchObject({ code: 0 });
    const failed = await runHere(['failed', 'news', 'list', '--json'], { cwd: here.project.dir });
    expect(failed.stdout).toContain('"reason":"files_unwritable"');
    await server.start();
    expect(await runHere(['failed', 'news', 'retry'], { cwd: here.project.dir })).toMatchObject({ code: 0 });
    expect(await runCli(args, { cwd: here.project.dir, env: env() })).toMatchObject({ code: 0 });
    expect(await here.project.readJsonLines('out.jsonl')).toHaveLength(20);
    expect(server.objects().size).toBe(20);
  }, 60_000);

  it('without its package says what to type, and finds it in the project', async () => {
    const installed = tempDir('installed').dir;
    for (const part of ['bin', 'dist', 'package.json'])
      cpSync(path.join(root, part), path.join(installed, part), { recursive: true });
    mkdirSync(path.join(installed, 'node_modules'));
    for (const name of readdirSync(path.join(root, 'node_modules')))
      if (name !== '@aws-sdk')
        symlinkSync(path.join(root, 'node_modules', name), path.join(installed, 'node_modules', name));
    const { site, gate } = await siteOf();
    gate.limit = Number.POSITIVE_INFINITY;
    const args = ['crawl', 'news', '-a', `start=${site.origin}/p`, '--exit-when-done', '-o', 'out.jsonl'];
    const options = {
      cwd: here.project.dir,
      env: env(),
      executable: path.join(installed, 'bin/crawlnode.js'),
    };
    expect(await runCli(args, options)).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('type: npm install @aws-sdk/client-s3') },
    });
    symlinkSync(path.join(root, 'node_modules'), here.project.path('node_modules'));
    expect(await runCli(args, options)).toMatchObject({ code: 0 });
    expect(server.objects().size).toBe(20);
  }, 60_000);
});
