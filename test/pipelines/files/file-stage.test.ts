/** Files of items: where they are stored, which are wanted, and which are not fetched again. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/http/message/record/request-record.js';
import type { FileStage } from '../../../src/pipelines/files/file-stage.js';
import { type FileSettings, loadFileStage } from '../../../src/pipelines/files/load-file-stage.js';
import { tempDir } from '../../helpers/temp-dir.js';

let dir: string;
beforeEach(() => {
  dir = tempDir('files').dir;
});

const stageOf = (name: string, some: Partial<FileSettings> = {}): Promise<FileStage> =>
  loadFileStage(
    name,
    {
      ...{ FILES_STORE: dir, FILES_URLS_FIELD: 'file_urls', FILES_RESULT_FIELD: 'files' },
      ...{ FILES_EXPIRES: 90, FILES_MAXSIZE: 0, FILES_TYPES: [], FILES_HOST_IN_PATH: false },
      ...{ IMAGES_STORE: dir, IMAGES_URLS_FIELD: 'image_urls', IMAGES_RESULT_FIELD: 'images' },
      ...{ IMAGES_EXPIRES: 90, IMAGES_MIN_WIDTH: 0, IMAGES_MIN_HEIGHT: 0, MEDIA_ALLOW_REDIRECTS: false },
      ...some,
    },
    'host 1',
  );
const files = (some?: Partial<FileSettings>) => stageOf('FilesPipeline', some);
const images = (some?: Partial<FileSettings>) => stageOf('ImagesPipeline', some);

const sha1 = (text: string) => createHash('sha1').update(text).digest('hex');
const md5 = (body: Buffer) => createHash('md5').update(body).digest('hex');
const ok = (body: Buffer | string) => ({ status: 200, body: Buffer.from(body) });
/** The head of a PNG of this size: all that is read of it. */
const png = (width: number, height: number) => {
  const bytes = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};
const stored = () =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(dir, path.join(entry.parentPath ?? entry.path, entry.name)));

describe('FilesPipeline', () => {
  it('stores a file under the hash of its URL, as Scrapy does, with its MD5', async () => {
    const stage = await files();
    const url = 'https://shop.example/manual/a.PDF?lang=en';
    const body = Buffer.from('%PDF-1.7 content');
    const name = `full/${sha1(url)}.pdf`;
    expect(await stage.receive(url, ok(body))).toEqual({
      ...{ url, path: name, checksum: md5(body), status: 'downloaded' },
    });
    expect(readFileSync(path.join(dir, name))).toEqual(body);
    expect(stored()).toEqual([name]);
  });

  it.each([
    ['https://shop.example/a/../../../../etc/passwd', ''],
    ['https://shop.example/..%2f..%2fetc%2fpasswd', ''],
    ['https://shop.example/shell.php', ''],
    ['https://shop.example/a.tar.gz', '.gz'],
    ['https://shop.example/a.pdf%00.sh', ''],
    ['https://shop.example/', ''],
  ])('takes no part of %s into the path but a known extension', async (url, extension) => {
    const stage = await files();
    await stage.receive(url, ok('x'));
    expect(stored().map((file) => file.replace(/[0-9a-f]{40}/, 'HASH'))).toEqual([`full/HASH${extension}`]);
  });

  it('says the host in the path where hosts do not share the folder', async () => {
    const stage = await files({ FILES_HOST_IN_PATH: true });
    const result = await stage.receive('https://shop.example/a.pdf', ok('x'));
    expect(result.path).toBe(`host_1/full/${sha1('https://shop.example/a.pdf')}.pdf`);
    expect(stored()).toEqual([result.path]);
  });

  it('fetches no file again that is there, until it has expired', async () => {
    const url = 'https://shop.example/a.pdf';
    const stage = await files({ FILES_EXPIRES: 1 });
    expect(await stage.known(url)).toBeNull();
    const { path: name, checksum } = await stage.receive(url, ok('x'));
    expect(await stage.known(url)).toEqual({ url, path: name, checksum, status: 'uptodate' });
    const twoDaysAgo = Date.now() / 1_000 - 2 * 86_400;
    utimesSync(path.join(dir, name!), twoDaysAgo, twoDaysAgo);
    expect(await stage.known(url)).toBeNull();
  });

  it('keeps a failure in mind, so that many items with one dead link cost one request', async () => {
    const stage = await files();
    const url = 'https://shop.example/gone.pdf';
    const gone = { url, path: null, checksum: null, status: 'failed', reason: 'http_404' };
    expect(await stage.receive(url, { status: 404, body: Buffer.from('no') })).toEqual(gone);
    expect(await stage.known(url)).toEqual(gone);
    expect(await stage.goOn({ file_urls: [url, url] }, [])).toEqual({
      item: { file_urls: [url, url], files: [gone, gone] },
    });
    expect(stored()).toEqual([]);
  });

  it('judges the type by content, whatever the name says', async () => {
    const stage = await files({ FILES_TYPES: ['application/pdf', 'image/*', 'text/plain'] });
    const reasonOf = async (name: string, body: Buffer | string) =>
      (await stage.receive(`https://shop.example/${name}`, ok(body))).reason ?? 'stored';
    expect(await reasonOf('a.pdf', '%PDF-1.7\n')).toBe('stored');
    expect(await reasonOf('b.pdf', '<!DOCTYPE html><p>log in')).toBe('other_type');
    expect(await reasonOf('c.pdf', png(1, 1))).toBe('stored');
    expect(await reasonOf('d.pdf', 'a,b\n1,2\n')).toBe('stored');
    expect(await reasonOf('e.pdf', Buffer.from([0, 1, 2, 3, 0, 9]))).toBe('other_type');
    expect(await reasonOf('f.pdf', '')).toBe('empty');
  });

  it.each<[JsonObject, unknown]>([
    [{ title: 'none' }, { item: { title: 'none' } }],
    [{ file_urls: null }, { item: { file_urls: null } }],
    [{ file_urls: [] }, { item: { file_urls: [], files: [] } }],
    [{ file_urls: 'https://shop.example/a' }, { next: 'https://shop.example/a', files: [] }],
    [{ fileUrls: ['https://shop.example/a'] }, { next: 'https://shop.example/a', files: [] }],
    [
      { file_urls: ['/relative', 'ftp://shop.example/x', 'https://shop.example/a'] },
      {
        next: 'https://shop.example/a',
        files: ['/relative', 'ftp://shop.example/x'].map((url) => ({
          ...{ url, path: null, checksum: null, status: 'failed', reason: 'invalid_url' },
        })),
      },
    ],
  ])('of %j gives what is left to do', async (item, step) => {
    const stage = await files();
    expect(await stage.goOn(item, [])).toEqual(step);
  });

  it('refuses a field that holds no URLs, and an item that no request could carry', async () => {
    const stage = await files();
    await expect(stage.goOn({ file_urls: [{ href: 'x' }] }, [])).rejects.toThrow(
      /file_urls .* not a list of URLs/,
    );
    const large = { file_urls: ['https://shop.example/a'], page: 'x'.repeat(1_000_000) };
    await expect(stage.goOn(large, [])).rejects.toThrow(/at most 900000 fit/);
  });

  it('says which folder cannot be written', async () => {
    writeFileSync(path.join(dir, 'file'), '');
    const stage = await files({ FILES_STORE: path.join(dir, 'file') });
    await expect(stage.options.store.open()).rejects.toMatchObject({ code: 'files_unwritable' });
    await expect(stage.receive('https://shop.example/a', ok('x'))).rejects.toMatchObject({
      ...{ code: 'files_unwritable', message: expect.stringContaining(path.join(dir, 'file')) },
    });
  });

  it('removes what a node left unfinished long ago, and nothing newer', async () => {
    const stage = await files();
    await stage.options.store.open();
    const unfinished = (name: string) => path.join(dir, '.unfinished', name);
    for (const name of ['old', 'new']) writeFileSync(unfinished(name), 'x');
    const longAgo = Date.now() / 1_000 - 7_200;
    utimesSync(unfinished('old'), longAgo, longAgo);
    await stage.options.store.open();
    expect(stored()).toEqual(['.unfinished/new']);
  });
});

describe('ImagesPipeline', () => {
  it('names an image by its content, and finds it again', async () => {
    const stage = await images();
    const url = 'https://shop.example/photo.jpg';
    const result = await stage.receive(url, ok(png(10, 10)));
    expect(result.path).toBe(`full/${sha1(url)}.png`);
    expect(await stage.known(url)).toMatchObject({ path: result.path, status: 'uptodate' });
  });

  it.each([
    ['not_an_image', Buffer.from('<!DOCTYPE html><p>log in')],
    ['not_an_image', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"/>')],
    ['not_an_image', Buffer.from('%PDF-1.7\n')],
    ['not_an_image', png(100, 100).subarray(0, 18)],
    ['not_an_image', Buffer.alloc(64)],
    ['too_small', png(100, 49)],
    ['too_small', png(19, 100)],
  ])('refuses as %s what is none, or too small', async (reason, body) => {
    const stage = await images({ IMAGES_MIN_WIDTH: 20, IMAGES_MIN_HEIGHT: 50 });
    expect(await stage.receive('https://shop.example/photo.png', ok(body))).toMatchObject({
      ...{ path: null, status: 'failed', reason },
    });
    expect(stored()).toEqual([]);
  });
});

it('a pipeline without a folder is refused by name', async () => {
  await expect(files({ FILES_STORE: null })).rejects.toThrow(/FilesPipeline: set FILES_STORE/);
  await expect(images({ IMAGES_STORE: null })).rejects.toThrow(/ImagesPipeline: set IMAGES_STORE/);
});
