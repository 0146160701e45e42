/** Arguments of a callback travel with their request: through the store, redirects, forms, seeds and to the errback. */
import { expect, it } from 'vitest';
import {
  type CrawlOptions,
  crawl,
  type Failure,
  Request,
  type Response,
  Spider,
  seed,
} from '../../../src/index.js';
import { startSite } from '../../helpers/sites/site.js';
import { tempDir } from '../../helpers/temp-dir.js';

class Given extends Spider {
  override name = 'given';

  override *start() {
    const { site } = this.args;
    yield new Request(`${site}/moved`, { callback: this.parseMoved, cbKwargs: { from: 'start' } });
    yield new Request(`${site}/gone`, { errback: this.onGone, cbKwargs: { from: 'errback' } });
  }

  override parse(_response: Response, { from }: { from?: string }) {
    return { parse: from ?? 'nothing' };
  }

  *parseMoved(response: Response, { from }: { from: string }) {
    yield { moved: from, same: response.cbKwargs.from === from };
    yield response.follow('/linked', this.parse, { cbKwargs: { from: 'follow' } });
    yield response.follow('/plain', this.parse);
    yield Request.fromForm(response, { callback: this.parse, cbKwargs: { from: 'fromForm' } });
  }

  onGone(failure: Failure, { from }: { from: string }) {
    return { gone: from, same: failure.request.cbKwargs.from === from };
  }
}

it('gives callbacks and errbacks the cbKwargs of their request', async () => {
  const site = await startSite({
    pages: 1,
    handler: ({ url }, response) => {
      if (url === '/moved') response.writeHead(302, { location: '/form' }).end();
      else if (url === '/gone') response.writeHead(404).end();
      else response.end('<form action="/sent"><input name="q" value="1"></form>');
      return true;
    },
  });
  const items: object[] = [];
  const how: CrawlOptions = {
    cwd: tempDir('cb-kwargs').dir,
    config: false,
    args: { site: site.origin },
    settings: { ALLOW_PRIVATE_ADDRESSES: true, ROBOTSTXT_OBEY: false },
    onItem: (item) => void items.push(item),
  };
  async function* seeds() {
    yield new Request(`${site.origin}/seed`, { cbKwargs: { from: 'seed' } });
  }
  expect(await seed(Given, seeds(), how)).toMatchObject({ accepted: 1 });
  expect(await crawl(Given, how)).toMatchObject({ reason: 'finished', failed: 0 });
  const byText = (a: object, b: object) => JSON.stringify(a).localeCompare(JSON.stringify(b));
  expect(items.sort(byText)).toEqual([
    { gone: 'errback', same: true },
    { moved: 'start', same: true },
    { parse: 'follow' },
    { parse: 'fromForm' },
    { parse: 'nothing' },
    { parse: 'seed' },
  ]);
});
