/** The links of one page on their way to the frontier, where something else happens between two parts of them. */
import { expect, it } from 'vitest';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import { type Frontier, noEffects } from '../../../src/frontier/frontier.js';
import { Request } from '../../../src/http/message/request.js';
import { silentLogger } from '../../../src/log.js';
import { linkRules } from '../../../src/node/links/filter-links.js';
import { PageLinks } from '../../../src/node/links/page-links.js';
import { SeenLinks } from '../../../src/node/links/seen-links.js';
import { Outage } from '../../../src/node/membership/outage.js';
import { DeadEnds } from '../../../src/node/page/dead-ends.js';
import { done, request, takeOne } from '../../frontier-contract/world.js';
import { joinAs } from '../../helpers/joining.js';
import { freshStore, nodeOptions } from '../../helpers/node.js';

const flight = { signal: new AbortController().signal, closing: null, response: null };

/** The links of the page with this id. */
function linksOf(id: string, frontier: Frontier, seen = new SeenLinks()): PageLinks {
  const page = { id, record: { url: 'http://127.0.0.1/', depth: 0, origin: { seed: 'a', private: false } } };
  return new PageLinks(page, {
    ...{ frontier, seen, rules: linkRules({}, nodeOptions().links, 'host', null) },
    ...{ outage: new Outage(silentLogger), deadEnds: new DeadEnds(), onDropped: () => {}, signals: null },
  });
}

const found = (dontFilter = false) =>
  Array.from({ length: 2_500 }, (_, n) => ({
    request: new Request(`http://a.example/${n}`, { dontFilter }),
    callback: null,
    errback: null,
  }));

it('a page that began before anything was known to be seen sends all of its links', async () => {
  const frontier = await openFrontier(await freshStore());
  const seen = new SeenLinks();
  const all = found();
  const taken = linksOf('a'.repeat(40), frontier, seen).take(all, {}, flight);
  // Its first thousand are being pushed; another page is settled meanwhile.
  seen.learn([{ found: all[2_400]! }], 'epoch', 0);
  const { requests, withheld } = await taken;

  const { pending } = await frontier.snapshot();
  expect({ pending, sent: requests.length, withheld }).toEqual({
    pending: 1_000,
    sent: 1_500,
    withheld: undefined,
  });
  await frontier.close();
});

it('a page that is processed again has none of its dontFilter links twice, those included that were pushed early and are done', async () => {
  const frontier = await openFrontier(await freshStore());
  await joinAs(frontier, { id: 'node' });
  const page = request('page', { domain: 'page.example', priority: 1 });
  await frontier.push([page], 'links');
  const lease = await takeOne(frontier);
  await linksOf(page.id, frontier).take(found(true), {}, flight);
  const early = await takeOne(frontier);
  expect((await frontier.settle(early, done, noEffects)).committed).toBe(true);
  expect(await frontier.snapshot()).toMatchObject({ accepted: 1_001, done: 1 });

  const again = await linksOf(page.id, frontier).take(found(true), {}, flight);
  expect(await frontier.snapshot()).toMatchObject({ accepted: 1_001 });
  expect(await frontier.settle(lease, done, { ...noEffects, ...again })).toMatchObject({ accepted: 1_500 });
  expect(await frontier.snapshot()).toMatchObject({ accepted: 2_501, done: 2, pending: 2_499 });
  await frontier.close();
});
