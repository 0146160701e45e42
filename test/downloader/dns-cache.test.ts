/** The DNS cache: a name is looked up once, within its bounds, and no cached answer evades the check of private addresses. */
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { expect, test } from 'vitest';
import { cachedLookup } from '../../src/downloader/dns-cache.js';
import { createDownloader } from '../../src/downloader/downloader.js';
import { reachableLookup } from '../../src/downloader/private-addresses.js';
import { asPage, downloaderOptions } from '../helpers/downloader/default-options.js';
import { startSite } from '../helpers/sites/site.js';

/** Answers from a table, and notes each name that it was asked for. */
function resolver(names: Readonly<Record<string, string>>) {
  const asked: string[] = [];
  const lookup: LookupFunction = (host, { all }, callback) => {
    asked.push(host);
    const address = names[host.toLowerCase()];
    setImmediate(() => {
      if (address === undefined)
        callback(Object.assign(new Error(`no ${host}`), { code: 'ENOTFOUND' }), '', 0);
      else if (all) callback(null, [{ address, family: 4 }]);
      else callback(null, address, 4);
    });
  };
  return { asked, lookup };
}

const ask = (lookup: LookupFunction, host: string, options = {}): Promise<string | LookupAddress[]> =>
  new Promise((resolve, reject) => {
    lookup(host, { all: true, ...options }, (error, found) => (error ? reject(error) : resolve(found)));
  });

test('a name is looked up once, also when several ask at the same time, in whatever case', async () => {
  const { asked, lookup } = resolver({ 'a.example': '192.0.2.1' });
  const cached = cachedLookup(10, lookup);
  const all = await Promise.all([
    ask(cached, 'a.example'),
    ask(cached, 'A.example'),
    ask(cached, 'a.example'),
  ]);
  expect(all).toEqual(Array(3).fill([{ address: '192.0.2.1', family: 4 }]));
  (all[0] as LookupAddress[]).pop();
  expect(await ask(cached, 'a.example')).toEqual([{ address: '192.0.2.1', family: 4 }]);
  expect(await ask(cached, 'a.example', { all: false })).toBe('192.0.2.1');
  expect(asked).toEqual(['a.example', 'a.example']);
});

test('names that are looked up at the same time at first are all kept', async () => {
  const { asked, lookup } = resolver({ a: '192.0.2.1', b: '192.0.2.2' });
  const cached = cachedLookup(10, lookup);
  for (const _ of [1, 2]) await Promise.all([ask(cached, 'a'), ask(cached, 'b')]);
  expect(asked.toSorted()).toEqual(['a', 'b']);
});

test('an error reaches everyone who waits, and is not kept', async () => {
  const { asked, lookup } = resolver({});
  const cached = cachedLookup(10, lookup);
  for (const _ of [1, 2]) {
    const both = await Promise.allSettled([ask(cached, 'no.example'), ask(cached, 'no.example')]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  }
  expect(asked).toHaveLength(2);
});

test('beyond its size the name used least recently is dropped', async () => {
  const { asked, lookup } = resolver({ a: '192.0.2.1', b: '192.0.2.2', c: '192.0.2.3' });
  const cached = cachedLookup(2, lookup);
  for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) await ask(cached, name);
  expect(asked).toEqual(['a', 'b', 'c', 'b']);
});

test('a cached private address is refused to a request that may not connect to it', async () => {
  const { asked, lookup } = resolver({ 'inside.example': '127.0.0.1' });
  const cached = cachedLookup(10, lookup);
  await ask(reachableLookup('private', cached), 'inside.example');
  await expect(ask(reachableLookup('public', cached), 'inside.example')).rejects.toMatchObject({
    reason: 'private_address',
  });
  expect(asked).toHaveLength(1);
});

test('the downloader looks a name up once for connections of its own', async () => {
  const site = await startSite({ pages: 3 });
  const { asked, lookup } = resolver({ 'site.example': '127.0.0.1' });
  const downloads = async (dns: { cacheSize: number; timeoutMs: number }) => {
    const downloader = createDownloader({
      ...downloaderOptions,
      ...{ lookup, dns },
    });
    const url = `http://site.example:${new URL(site.url).port}/`;
    const request = { url, method: 'GET', headers: {}, body: null, cookies: null, origin: null };
    for (const _ of [1, 2]) {
      const all = [1, 2, 3].map(() => downloader.start(request, asPage).result);
      for (const { status } of await Promise.all(all)) expect(status).toBe(200);
    }
    await downloader.close();
    return asked.splice(0).length;
  };
  expect(await downloads({ cacheSize: 100, timeoutMs: 10_000 })).toBe(1);
  expect(await downloads({ cacheSize: 0, timeoutMs: 10_000 })).toBeGreaterThan(1);
});
