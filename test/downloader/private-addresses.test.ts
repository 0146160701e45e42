/** Private addresses: a request that descends from a public site connects to none, in whatever form it is named. */
import type { LookupFunction } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createDownloader, type DownloaderOptions } from '../../src/downloader/downloader.js';
import { asPage, downloaderOptions } from '../helpers/downloader/default-options.js';
import { httpAnswer, rawSite } from '../helpers/sites/raw-site.js';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const publicSeed = { seed: '0123abcd', private: false };
const privateSeed = { seed: '0123abcd', private: true };

/** A site on this machine, and a downloader that looks names up in `names`. */
async function inNetwork(
  names: Record<string, string | readonly string[]> = {},
  options: Partial<DownloaderOptions> = {},
) {
  const site = await rawSite((socket) => socket.write(httpAnswer('inside')));
  const lookup: LookupFunction = (host, { all }, callback) => {
    const addresses = [names[host] ?? []].flat();
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    if (all) callback(null, found);
    else callback(null, found[0]?.address ?? '', found[0]?.family ?? 0);
  };
  const downloader = createDownloader({
    ...downloaderOptions,
    allowPrivateAddresses: false,
    lookup,
    ...options,
  });
  cleanups.push(site.close, () => downloader.close());
  const fetch = (host: string, origin: typeof publicSeed | null, scheme = 'http') => {
    const url = `${scheme}://${host}:${site.port}/`;
    const request = { url, method: 'GET', headers: {}, body: null, cookies: null, origin };
    return downloader.start(request, asPage).result;
  };
  return { site, fetch };
}

const literals = [
  '127.0.0.1',
  '0x7f.1',
  '2130706433',
  '0177.0.0.1',
  '127.1',
  '0.0.0.0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2002:a00::1]',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '169.254.169.254',
  '[fe80::1]',
  '[fd00::1]',
  '[fec0::1]',
];

test.each(literals)('http://%s/ is refused without a connection', async (host) => {
  const { site, fetch } = await inNetwork();
  for (const origin of [publicSeed, null]) {
    await expect(fetch(host, origin)).rejects.toMatchObject({ reason: 'private_address', retryable: false });
  }
  expect(site.connections).toBe(0);
});

test('https is refused as http is', async () => {
  const { site, fetch } = await inNetwork({ 'inside.test': '127.0.0.1' });
  for (const host of ['127.0.0.1', 'inside.test']) {
    await expect(fetch(host, publicSeed, 'https')).rejects.toMatchObject({ reason: 'private_address' });
  }
  expect(site.connections).toBe(0);
});

test.each([['127.0.0.1'], ['::ffff:127.0.0.1'], [['10.0.0.1', '::1']], ['169.254.169.254']])(
  'a name that resolves to %s is refused',
  async (addresses) => {
    const { site, fetch } = await inNetwork({ 'inside.test': addresses });
    const refused = fetch('inside.test', publicSeed);
    await expect(refused).rejects.toMatchObject({ reason: 'private_address', retryable: false });
    await expect(refused).rejects.toThrow(/^inside\.test:\d+: .*ALLOW_PRIVATE_ADDRESSES/);
    expect(site.connections).toBe(0);
  },
);

test('a name that resolves to a public and to a private address is never connected to at the private one', async () => {
  // 4000::/3 is allocated to nobody: nothing answers there.
  const names = { 'both.test': ['127.0.0.1', '4000::1'] };
  const { site, fetch } = await inNetwork(names, { timeoutMs: 300 });
  await expect(fetch('both.test', publicSeed)).rejects.toMatchObject({
    reason: expect.stringMatching(/^(timeout|unreachable|network|connection_refused)$/),
  });
  expect(site.connections).toBe(0);
});

test('a name that changes its address between two requests is refused at the second', async () => {
  const names: Record<string, string> = { 'changing.test': '4000::1' };
  const { site, fetch } = await inNetwork(names, { timeoutMs: 300 });
  await expect(fetch('changing.test', publicSeed)).rejects.not.toMatchObject({ reason: 'private_address' });
  names['changing.test'] = '127.0.0.1';
  await expect(fetch('changing.test', publicSeed)).rejects.toMatchObject({ reason: 'private_address' });
  expect(site.connections).toBe(0);
});

test('what descends from a private seed is fetched, and its answer says that it came from a private address', async () => {
  const { fetch } = await inNetwork({ 'inside.test': '127.0.0.1' });
  for (const host of ['127.0.0.1', 'inside.test', '[::ffff:127.0.0.1]']) {
    const { body, fromPrivateAddress } = await fetch(host, privateSeed);
    expect([body.toString(), fromPrivateAddress]).toEqual(['inside', true]);
  }
});

test('a connection that a private seed has left open is not used for a request that may not go there', async () => {
  const { site, fetch } = await inNetwork({ 'inside.test': '127.0.0.1' });
  for (const host of ['127.0.0.1', 'inside.test']) {
    await fetch(host, privateSeed);
    await expect(fetch(host, publicSeed)).rejects.toMatchObject({ reason: 'private_address' });
    await fetch(host, privateSeed);
  }
  expect(site.connections).toBe(2);
});

test.each(['169.254.169.254', '[fe80::1]', '[::ffff:169.254.169.254]', 'metadata.test'])(
  'the link-local %s is refused even to what descends from a private seed',
  async (host) => {
    const { fetch } = await inNetwork({ 'metadata.test': '169.254.169.254' });
    await expect(fetch(host, privateSeed)).rejects.toMatchObject({ reason: 'private_address' });
  },
);

test('ALLOW_PRIVATE_ADDRESSES lets every request connect anywhere', async () => {
  const { fetch } = await inNetwork({ 'inside.test': '127.0.0.1' }, { allowPrivateAddresses: true });
  for (const host of ['127.0.0.1', 'inside.test']) {
    expect((await fetch(host, publicSeed)).body.toString()).toBe('inside');
  }
});
