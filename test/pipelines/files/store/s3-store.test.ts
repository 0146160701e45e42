/** Files in S3-compatible storage: a real server, which checks signatures. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openS3, type S3Settings, s3Config } from '../../../../src/pipelines/files/store/s3-client.js';
import { S3Store } from '../../../../src/pipelines/files/store/s3-store.js';
import { bucket, keys, startS3 } from '../../../helpers/servers/s3-server.mjs';
import { startSite } from '../../../helpers/sites/site.js';
import { tempDir } from '../../../helpers/temp-dir.js';

const md5 = (body: Buffer | string) => createHash('md5').update(body).digest('hex');
const day = 86_400_000;

let server: Awaited<ReturnType<typeof startS3>>;
let stores: S3Store[];
beforeAll(async () => {
  server = await startS3(tempDir('s3').dir);
  stores = [];
});
afterAll(async () => {
  for (const store of stores) store.close();
  await server.stop();
});

const settingsWith = (some: Partial<S3Settings> = {}): S3Settings => ({
  ...{ ...keys, AWS_SESSION_TOKEN: null, AWS_REGION_NAME: null, AWS_ENDPOINT_URL: server.endpoint },
  ...{ AWS_USE_SSL: true, AWS_VERIFY: true },
  ...some,
});

async function storeAt(
  folder: string,
  some: Partial<S3Settings> = {},
  options: { host?: string; acl?: string; in?: string } = {},
): Promise<S3Store> {
  const s3 = await openS3('FILES_STORE', settingsWith(some), import.meta.dirname ?? '.');
  const url = `s3://${options.in ?? bucket}/${folder}`;
  const store = new S3Store(s3, { url, acl: options.acl ?? 'private', host: options.host ?? null });
  stores.push(store);
  return store;
}

describe('S3Store', () => {
  it('stores a file under its name with checksum and media type, and finds it until it is too old', async () => {
    const store = await storeAt('shop');
    await store.open();
    const body = Buffer.from('%PDF-1.7 content');
    expect(await store.find(['full/a.pdf'], day)).toBeNull();
    const stored = { path: 'full/a.pdf', checksum: md5(body) };
    expect(await store.write('full/a.pdf', body)).toEqual(stored);
    expect(server.objects().get('shop/full/a.pdf')).toEqual(body);
    expect(await store.find(['full/a.pdf'], day)).toEqual(stored);
    expect(await store.find(['full/a.pdf'], -1_000)).toBeNull();
    const { headers } = server.requests.findLast(({ method }) => method === 'PUT')!;
    expect(headers).toMatchObject({
      ...{ 'content-type': 'application/pdf', 'x-amz-meta-md5': md5(body) },
      'content-md5': Buffer.from(md5(body), 'hex').toString('base64'),
      authorization: expect.stringContaining('AWS4-HMAC-SHA256'),
    });
    expect(headers['x-amz-acl']).toBeUndefined();
  });

  it('takes names that a URL escapes', async () => {
    const store = await storeAt('shop');
    const stored = await store.write('manuals/é 1+2%20.pdf', Buffer.from('x'));
    expect(await store.find(['manuals/é 1+2%20.pdf'], day)).toEqual(stored);
  });

  it('finds the one that is there among many names, with one request for all of them', async () => {
    const store = await storeAt('images', {}, { host: 'web-2', acl: 'public-read' });
    const names = ['jpg', 'png', 'webp'].map((extension) => `full/photo.${extension}`);
    expect(await store.find(names, day)).toBeNull();
    await store.write('full/photo.webp', Buffer.from('x'));
    expect(server.requests.findLast(({ method }) => method === 'PUT')!.headers['x-amz-acl']).toBe(
      'public-read',
    );
    const before = server.requests.length;
    expect(await store.find(names, day)).toEqual({ path: 'web-2/full/photo.webp', checksum: md5('x') });
    expect(server.requests.slice(before).map(({ method }) => method)).toEqual(['GET', 'HEAD']);
    expect([...server.objects().keys()]).toContain('images/web-2/full/photo.webp');
  });

  it('leaves nothing behind where it looks at its start whether it can write', async () => {
    await (await storeAt('probe')).open();
    expect(server.requests.findLast(({ url }) => url.includes('/probe/'))!.method).toBe('DELETE');
  });

  it.each([
    ['a wrong secret', { AWS_SECRET_ACCESS_KEY: 'not the secret' }, bucket, /SignatureDoesNotMatch/],
    ['unknown keys', { AWS_ACCESS_KEY_ID: 'SOMEBODY' }, bucket, /InvalidAccessKeyId/],
    ['a bucket that is not there', {}, 'elsewhere', /NoSuchBucket.*is the name of the bucket right/],
    ['a server that is not there', { AWS_ENDPOINT_URL: 'http://127.0.0.1:1' }, bucket, /ECONNREFUSED/],
  ])('%s is an error at its start that says so', async (_, some, where, message) => {
    const store = await storeAt('shop', some, { in: where });
    const error = await store.open().catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject({ code: 'files_unwritable', message: expect.stringMatching(message) });
    expect((error as Error).message).toContain(`s3://${where}/shop`);
    expect((error as Error).message).not.toContain('not the secret');
    // A missing bucket and a missing object are the same answer.
    if (where === bucket)
      await expect(store.find(['full/a'], day)).rejects.toMatchObject({ code: 'files_unwritable' });
    await expect(store.write('full/a', Buffer.from('x'))).rejects.toMatchObject({ code: 'files_unwritable' });
  });
});

describe('a server that is no storage', () => {
  it.each([
    ['answers with a page', 200, 'the answer to PUT has no ETag'],
    [
      'answers with an error page',
      500,
      'the answer is not that of S3-compatible storage; check AWS_ENDPOINT_URL',
    ],
  ])('which %s is an error, and no file counts as stored', async (_, status, message) => {
    const site = await startSite({
      handler: (_request, response) => {
        response.writeHead(status, { 'content-type': 'text/html' }).end('<p>Sign in to the network');
        return true;
      },
    });
    try {
      const store = await storeAt('shop', { AWS_ENDPOINT_URL: site.origin });
      const refusal = { code: 'files_unwritable', message: expect.stringContaining(message) };
      await expect(store.open()).rejects.toMatchObject(refusal);
      await expect(store.write('full/a.pdf', Buffer.from('x'))).rejects.toMatchObject(refusal);
    } finally {
      await site.close();
    }
  });
});

describe('the options of the client', () => {
  it('leave credentials and region to where AWS tools find them, unless a setting gives them', () => {
    const none = { AWS_ACCESS_KEY_ID: null, AWS_SECRET_ACCESS_KEY: null, AWS_ENDPOINT_URL: null };
    const own = s3Config(settingsWith(none));
    expect(own).not.toHaveProperty('credentials');
    expect(own).not.toHaveProperty('region');
    expect(own).not.toHaveProperty('forcePathStyle');
    const given = s3Config(settingsWith({ AWS_SESSION_TOKEN: 'token', AWS_REGION_NAME: 'eu-north-1' }));
    expect(given).toMatchObject({
      credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER', sessionToken: 'token' },
      ...{ region: 'eu-north-1', endpoint: server.endpoint, forcePathStyle: true },
    });
  });

  it('take both keys or none', () => {
    expect(() => s3Config(settingsWith({ AWS_SECRET_ACCESS_KEY: null }))).toThrow(/belong together/);
  });
});
