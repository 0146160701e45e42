/** Files of items: where they are stored, which are wanted, and which are not fetched again. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FileResult, JsonObject } from '../../../src/http/message/record/request-record.js';
import { Request } from '../../../src/http/message/request.js';
import { silentLogger } from '../../../src/log.js';
import type { FileAnswer, FileStage } from '../../../src/pipelines/files/file-stage.js';
import { type FileSettings, loadFileStage } from '../../../src/pipelines/files/load-file-stage.js';
import {
  builtInFilesPipeline,
  type FilePathInput,
  FilesPipeline,
  ImagesPipeline,
  refuseOtherMethods,
} from '../../../src/pipelines/files/media-pipeline.js';
import { tempDir } from '../../helpers/temp-dir.js';

let dir: string;
beforeEach(() => {
  dir = tempDir('files').dir;
});

const stageOf = (
  name: string,
  some: Partial<FileSettings> = {},
  pipeline: FilesPipeline = builtInFilesPipeline(name)!,
): Promise<FileStage> =>
  loadFileStage(name, pipeline, {
    settings: {
      ...{ FILES_STORE: dir, FILES_URLS_FIELD: 'file_urls', FILES_RESULT_FIELD: 'files' },
      ...{ FILES_EXPIRES: 90, FILES_MAXSIZE: 0, FILES_TYPES: [], FILES_HOST_IN_PATH: false },
      ...{ IMAGES_STORE: dir, IMAGES_URLS_FIELD: 'image_urls', IMAGES_RESULT_FIELD: 'images' },
      ...{ IMAGES_EXPIRES: 90, IMAGES_MIN_WIDTH: 0, IMAGES_MIN_HEIGHT: 0, MEDIA_ALLOW_REDIRECTS: false },
      ...{ FILES_STORE_TIMEOUT: 0, FILES_STORE_S3_ACL: 'private', IMAGES_STORE_S3_ACL: 'private' },
      ...{ AWS_ACCESS_KEY_ID: null, AWS_SECRET_ACCESS_KEY: null, AWS_SESSION_TOKEN: null },
      ...{ AWS_REGION_NAME: null, AWS_ENDPOINT_URL: null, AWS_USE_SSL: true, AWS_VERIFY: true },
      ...some,
    },
    ...{ host: 'host 1', projectDir: dir, log: silentLogger },
  });
/** As the request of a file does it. */
const never = new AbortController().signal;
const receive = (stage: FileStage, url: string, answer: FileAnswer, item: JsonObject = {}) =>
  stage.receive(url, answer, item, never);
const known = (stage: FileStage, url: string, item: JsonObject = {}) => stage.known(url, item, never);
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
    expect(await receive(stage, url, ok(body))).toEqual({
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
    await receive(stage, url, ok('x'));
    expect(stored().map((file) => file.replace(/[0-9a-f]{40}/, 'HASH'))).toEqual([`full/HASH${extension}`]);
  });

  it('says the host in the path where hosts do not share the folder', async () => {
    const stage = await files({ FILES_HOST_IN_PATH: true });
    const result = await receive(stage, 'https://shop.example/a.pdf', ok('x'));
    expect(result.path).toBe(`host_1/full/${sha1('https://shop.example/a.pdf')}.pdf`);
    expect(stored()).toEqual([result.path]);
  });

  it('fetches no file again that is there, until it has expired', async () => {
    const url = 'https://shop.example/a.pdf';
    const stage = await files({ FILES_EXPIRES: 1 });
    expect(await known(stage, url)).toBeNull();
    const { path: name, checksum } = await receive(stage, url, ok('x'));
    expect(await known(stage, url)).toEqual({ url, path: name, checksum, status: 'uptodate' });
    const twoDaysAgo = Date.now() / 1_000 - 2 * 86_400;
    utimesSync(path.join(dir, name!), twoDaysAgo, twoDaysAgo);
    expect(await known(stage, url)).toBeNull();
  });

  it('keeps a failure in mind, so that many items with one dead link cost one request', async () => {
    const stage = await files();
    const url = 'https://shop.example/gone.pdf';
    const gone = { url, path: null, checksum: null, status: 'failed', reason: 'http_404' };
    expect(await receive(stage, url, { status: 404, body: Buffer.from('no') })).toEqual(gone);
    expect(await known(stage, url)).toEqual(gone);
    expect(await stage.goOn({ file_urls: [url, url] }, [])).toEqual({
      item: { file_urls: [url, url], files: [gone, gone] },
    });
    expect(stored()).toEqual([]);
  });

  it('judges the type by content, whatever the name says', async () => {
    const stage = await files({ FILES_TYPES: ['application/pdf', 'image/*', 'text/plain'] });
    const reasonOf = async (name: string, body: Buffer | string) =>
      (await receive(stage, `https://shop.example/${name}`, ok(body))).reason ?? 'stored';
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
    await expect(receive(stage, 'https://shop.example/a', ok('x'))).rejects.toMatchObject({
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
    const result = await receive(stage, url, ok(png(10, 10)));
    expect(result.path).toBe(`full/${sha1(url)}.png`);
    expect(await known(stage, url)).toMatchObject({ path: result.path, status: 'uptodate' });
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
    expect(await receive(stage, 'https://shop.example/photo.png', ok(body))).toMatchObject({
      ...{ path: null, status: 'failed', reason },
    });
    expect(stored()).toEqual([]);
  });

  it('reads no byte behind the body, where others share its memory', async () => {
    const stage = await images();
    const body = png(100, 100).subarray(0, 18);
    const answer = { status: 200, body };
    expect(await receive(stage, 'https://shop.example/photo.png', answer)).toMatchObject({
      reason: 'not_an_image',
    });
  });
});

describe('a JPEG whose size stands behind many segments', () => {
  const jpeg = (megabytes: number) =>
    Buffer.concat([
      Buffer.from([0xff, 0xd8]),
      Buffer.alloc(megabytes * 1024 * 1024, Buffer.from([0xff, 0xe0, 0, 2])),
      Buffer.from([0xff, 0xc0, 0, 11, 8, 0, 30, 0, 20, 1, 1, 0x11, 0, 0xff, 0xd9]),
      Buffer.alloc(16),
    ]);

  it('is an image within 4 MiB, and none beyond', async () => {
    const stage = await images({ IMAGES_MIN_WIDTH: 20, IMAGES_MIN_HEIGHT: 30 });
    const url = 'https://shop.example/photo.jpg';
    expect(await receive(stage, url, ok(jpeg(3)))).toMatchObject({ status: 'downloaded' });
    expect(await receive(stage, url, ok(jpeg(5)))).toMatchObject({ reason: 'not_an_image' });
  });
});

describe('a pipeline that extends FilesPipeline', () => {
  class Manuals extends FilesPipeline {
    override *getMediaRequests(item: { sku: string }) {
      yield new Request(`https://shop.example/${item.sku}`, {
        headers: { Referer: 'https://shop.example/' },
      });
      yield `https://shop.example/${item.sku}.pdf`;
    }

    override filePath({ item, url, extension }: FilePathInput): string {
      return `manuals/${item.sku}/${url.length}.${extension || 'bin'}`;
    }

    override itemCompleted(results: readonly FileResult[], item: { sku: string }): unknown {
      return { ...item, stored: results.map(({ path: name }) => name) };
    }
  }
  const item = { sku: 'A 1' };
  const urls = ['https://shop.example/A%201', 'https://shop.example/A 1.pdf'];

  it('says which files an item has, their requests, their paths, and what becomes of the item', async () => {
    const stage = await stageOf('./manuals.ts', {}, new Manuals());
    expect(await stage.goOn(item, [])).toEqual({ next: urls[0], files: [] });
    expect(stage.urlAt(item, 1)).toBe(urls[1]);
    expect(stage.requestAt(item, 0, urls[0]!).headers).toEqual({ Referer: 'https://shop.example/' });
    const first = await receive(stage, urls[0]!, ok('x'), item);
    expect(first.path).toBe('manuals/A 1/26.bin');
    expect(await known(stage, urls[0]!, item)).toMatchObject({ path: first.path, status: 'uptodate' });
    expect(await stage.goOn(item, [first])).toEqual({ next: urls[1], files: [first] });
    const second = await receive(stage, urls[1]!, ok('y'), item);
    expect(await stage.goOn(item, [first, second])).toEqual({
      item: { sku: 'A 1', stored: ['manuals/A 1/26.bin', 'manuals/A 1/30.pdf'] },
    });
    expect(stored().sort()).toEqual(['manuals/A 1/26.bin', 'manuals/A 1/30.pdf']);
  });

  it.each(['../x', 'a/../x', '/x', 'a//x', '.x', 'a/.x', 'a\\x', 'a\0x', '', 'x/', 'é'.repeat(200), 7])(
    'never leaves the store: %j is refused',
    async (name) => {
      class Leaving extends FilesPipeline {
        override filePath(): string {
          return name as string;
        }
      }
      const stage = await stageOf('./leaving.ts', {}, new Leaving());
      await expect(receive(stage, 'https://shop.example/a', ok('x'))).rejects.toThrow(
        /filePath gave .* for https/,
      );
      expect(stored()).toEqual([]);
    },
  );

  it('names an image by its content, and finds it whatever it is', async () => {
    class Photos extends ImagesPipeline {
      override filePath({ item: { id }, extension }: FilePathInput): string {
        return `${id}.${extension}`;
      }
    }
    const stage = await stageOf('./photos.ts', {}, new Photos());
    expect((await receive(stage, 'https://shop.example/photo', ok(png(9, 9)), { id: 7 })).path).toBe('7.png');
    expect(await known(stage, 'https://shop.example/photo', { id: 7 })).toMatchObject({ path: '7.png' });
    expect(await known(stage, 'https://shop.example/photo', { id: 8 })).toBeNull();
  });
});

it('a pipeline without a folder is refused by name', async () => {
  await expect(files({ FILES_STORE: null })).rejects.toThrow(/FilesPipeline: set FILES_STORE/);
  await expect(images({ IMAGES_STORE: null })).rejects.toThrow(/ImagesPipeline: set IMAGES_STORE/);
});

describe('a pipeline of files with a mistake', () => {
  const of = (members: object) => {
    class Manuals extends FilesPipeline {}
    Object.assign(Manuals.prototype, members);
    return stageOf('./manuals.ts', {}, new Manuals());
  };

  it.each([
    [
      'an endless generator',
      function* () {
        while (true) yield 'http://a.example/a.pdf';
      },
      'gave more than 3600 files',
    ],
    ['a promise', async () => [], 'and gave a promise: it cannot be async'],
    ['a number in a list', () => [5], 'and gave a number'],
  ])('getMediaRequests that gives %s is an error of the item', async (_, getMediaRequests, message) => {
    const stage = await of({ getMediaRequests });
    await expect(stage.goOn({}, [])).rejects.toThrow(message);
  });

  it('filePath that gives a promise is told so', async () => {
    const stage = await of({ filePath: async () => 'a' });
    await expect(known(stage, 'http://a.example/a.pdf')).rejects.toThrow(
      'filePath gave a promise: it cannot be async',
    );
  });

  it('methods that would never be called are refused by name', () => {
    const refused = (members: object) => {
      class Manuals extends FilesPipeline {}
      Object.assign(Manuals.prototype, members);
      return () => refuseOtherMethods('./manuals.ts', new Manuals());
    };
    const method = () => null;
    expect(refused({ get_media_requests: method })).toThrow(
      './manuals.ts has get_media_requests, which is never called: call it getMediaRequests.',
    );
    expect(refused({ getMediaRequest: method })).toThrow('did you mean getMediaRequests?');
    expect(refused({ filePaths: method, filePath: method })).not.toThrow();
    expect(refused({ pathOf: method, open: method, close: method })).not.toThrow();
  });
});
