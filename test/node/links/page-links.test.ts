/** The links of one page on their way to the frontier, where something else happens between two parts of them. */
import { expect, it } from 'vitest';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import { type Frontier, noEffects } from '../../../src/frontier/frontier.js';
import { Request } from '../../../src/http/message/request.js';
import { silentLogger } from '../../../src/log.js';
import { linkRules } from '../../../src/node/links/filter-links.js';
import { type LinkDeps, PageLinks } from '../../../src/node/links/page-links.js';
import { SeenLinks } from '../../../src/node/links/seen-links.js';
import { Outage } from '../../../src/node/membership/outage.js';
import { DeadEnds } from '../../../src/node/page/dead-ends.js';
import { done, request, takeOne } from '../../frontier-contract/world.js';
import { joinAs } from '../../helpers/joining.js';
import { freshStore, nodeOptions } from '../../helpers/node.js';
import { openOptions } from '../../helpers/open-options.js';
import { tempDir } from '../../helpers/temp-dir.js';

const flight = { signal: new AbortController().signal, closing: null, response: null };

/** The links of the page with this id. */
function linksOf(id: string, frontier: Frontier, some: Partial<LinkDeps> = {}): PageLinks {
  const page = { id, record: { url: 'http://127.0.0.1/', depth: 0, origin: { seed: 'a', private: false } } };
  return new PageLinks(page, {
    ...{ frontier, seen: null, rules: linkRules({}, nodeOptions().links, 'host', null) },
    ...{ outage: new Outage(silentLogger), deadEnds: new DeadEnds(), onDropped: () => {}, signals: null },
    hasOtherPages: () => false,
    ...some,
  });
}

const found = (dontFilter = false, length = 2_500) =>
  Array.from({ length }, (_, n) => ({
    request: new Request(`http://a.example/${n}`, { dontFilter }),
    callback: null,
    errback: null,
  }));

it('a page that began before anything was known to be seen sends all of its links', async () => {
  const frontier = await openFrontier(await freshStore());
  const seen = new SeenLinks();
  const all = found();
  const taken = linksOf('a'.repeat(40), frontier, { seen }).take(all, {}, flight);
  // Its first thousand are being pushed; another page is settled meanwhile.
  seen.learn([{ found: all[2_400]! }], 'epoch', { sentMs: 0, nowMs: 0 });
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

it('a page of many links lets the other pages go on between two parts of them', async () => {
  const { dir, remove } = tempDir('links');
  const frontier = await openFrontier(openOptions(dir, 'many'));
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 0);
  const turnsAtPush: number[] = [];
  const push: Frontier['push'] = (...given) => {
    turnsAtPush.push(turns);
    return frontier.push(...given);
  };
  const links = linksOf('a'.repeat(40), { ...frontier, push }, { hasOtherPages: () => true });
  await links.take(found(false, 6_000), {}, flight);
  clearInterval(timer);
  expect(turnsAtPush.length).toBeGreaterThan(2);
  expect(new Set(turnsAtPush).size).toBe(turnsAtPush.length);
  await frontier.close();
  await remove();
});
