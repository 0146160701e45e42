/** The links of one page on their way to the frontier, where something else happens between two parts of them. */
import { expect, it } from 'vitest';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import { Request } from '../../../src/http/message/request.js';
import { silentLogger } from '../../../src/log.js';
import { linkRules } from '../../../src/node/links/filter-links.js';
import { PageLinks } from '../../../src/node/links/page-links.js';
import { SeenLinks } from '../../../src/node/links/seen-links.js';
import { Outage } from '../../../src/node/membership/outage.js';
import { DeadEnds } from '../../../src/node/page/dead-ends.js';
import { freshStore, nodeOptions } from '../../helpers/node.js';

it('a page that began before anything was known to be seen sends all of its links', async () => {
  const frontier = await openFrontier(await freshStore());
  const seen = new SeenLinks();
  const rules = linkRules({}, nodeOptions().links, 'host', null);
  const outage = new Outage(silentLogger);
  const page = {
    id: 'a'.repeat(40),
    record: { url: 'http://127.0.0.1/', depth: 0, origin: { seed: 'a', private: false } },
  };
  const links = new PageLinks(page, {
    frontier,
    rules,
    outage,
    seen,
    deadEnds: new DeadEnds(),
    onDropped: () => {},
    signals: null,
  });
  const found = Array.from({ length: 2_500 }, (_, n) => ({
    request: new Request(`http://a.example/${n}`),
    callback: null,
    errback: null,
  }));

  const taken = links.take(
    found,
    {},
    {
      signal: new AbortController().signal,
      closing: null,
      response: null,
    },
  );
  // Its first thousand are being pushed; another page is settled meanwhile.
  seen.learn([{ found: found[2_400]! }], 'epoch', 0);
  const { requests, withheld } = await taken;

  const { pending } = await frontier.snapshot();
  expect({ pending, sent: requests.length, withheld }).toEqual({
    pending: 1_000,
    sent: 1_500,
    withheld: undefined,
  });
  await frontier.close();
});
