/** Who leads a crawl to private addresses: the user may, the store and public pages may not. */
import { expect, it } from 'vitest';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import { inheritedOrigin } from '../../../src/http/message/record/request-record.js';
import type { Response } from '../../../src/http/message/response.js';
import { Spider } from '../../../src/spider/spider.js';
import { crawl, freshStore } from '../../helpers/node.js';

const guarded = { downloader: { allowPrivateAddresses: false } };

import { startSite } from '../../helpers/sites/site.js';

/** A spider that follows every link and notes where it came. */
function follower(startUrls: readonly string[], seen: string[] = []) {
  return class extends Spider {
    override name = 'follower';
    override startUrls = [...startUrls];
    override *parse(response: Response) {
      seen.push(response.url);
      yield* response.followAll('a', this.parse);
    }
  };
}

it('startUrls may be at a private address, and lead to others by link and redirect', async () => {
  const other = await startSite({ pages: 2, extraLinks: 0 });
  const site = await startSite({
    pages: 0,
    handler: (request, response) => {
      if (request.url === '/away') response.writeHead(302, { location: other.url }).end();
      else response.writeHead(200, { 'content-type': 'text/html' }).end('<a href="/away">away</a>');
      return true;
    },
  });
  const seen: string[] = [];
  const result = await crawl(await freshStore(), follower([site.url], seen), guarded);
  expect(result).toMatchObject({ reason: 'finished', failed: 0 });
  expect(new Set(seen)).toEqual(new Set([site.url, ...other.urls]));
});

it('a seed that somebody put into the store may not', async () => {
  const site = await startSite({ pages: 2, extraLinks: 0 });
  const open = await freshStore();
  const outsider = await openFrontier(open);
  const claims = { url: `${site.url}?claims`, origin: { seed: '01234567', private: true } };
  await outsider.appendSeeds([site.url, JSON.stringify(claims)]);
  expect(await crawl(open, follower([]), guarded)).toMatchObject({ reason: 'finished', pages: 0 });
  expect(await outsider.badSeeds(0, 10)).toHaveLength(2);
  expect(await outsider.snapshot()).toMatchObject({ seen: 0, failed: 0 });
  await outsider.close();
});

it('such a seed does not keep a trusted link from its page', async () => {
  const site = await startSite({ pages: 3, extraLinks: 0 });
  const [first = '', ...linked] = site.urls;
  const open = await freshStore();
  const outsider = await openFrontier(open);
  await outsider.appendSeeds(linked);
  const seen: string[] = [];
  await crawl(open, follower([], seen), guarded);
  await crawl(open, follower([first], seen), guarded);
  expect(seen.sort()).toEqual([...site.urls].sort());
  await outsider.close();
});

it('it may where ALLOW_PRIVATE_ADDRESSES says so', async () => {
  const site = await startSite({ pages: 2, extraLinks: 0 });
  const open = await freshStore();
  const outsider = await openFrontier(open);
  await outsider.appendSeeds([site.url]);
  const seen: string[] = [];
  const downloader = { allowPrivateAddresses: true };
  expect(await crawl(open, follower([], seen), { downloader })).toMatchObject({ failed: 0 });
  expect(seen.sort()).toEqual([...site.urls].sort());
  await outsider.close();
});

it('a page passes the right on only if it has it and came from a private address itself', () => {
  const may = { seed: '01234567', private: true };
  const mayNot = { seed: '01234567', private: false };
  expect(inheritedOrigin(may, true)).toEqual(may);
  expect(inheritedOrigin(may, false)).toEqual(mayNot);
  expect(inheritedOrigin(mayNot, true)).toEqual(mayNot);
  expect(inheritedOrigin(null, true)).toBeNull();
});
