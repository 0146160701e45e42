/** The links of one page on their way to the frontier, where something else happens between two parts of them. */
import { expect, it } from 'vitest';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import type { Frontier } from '../../../src/frontier/frontier.js';
import { Request } from '../../../src/http/message/request.js';
import { silentLogger } from '../../../src/log.js';
import { linkRules } from '../../../src/node/links/filter-links.js';
import { type LinkDeps, PageLinks } from '../../../src/node/links/page-links.js';
import { SeenLinks } from '../../../src/node/links/seen-links.js';
import { Outage } from '../../../src/node/membership/outage.js';
import { DeadEnds } from '../../../src/node/page/dead-ends.js';
import { freshStore, nodeOptions } from '../../helpers/node.js';
import { openOptions } from '../../helpers/open-options.js';
import { tempDir } from '../../helpers/temp-dir.js';

const page = {
  id: 'a'.repeat(40),
  record: { url: 'http://127.0.0.1/', depth: 0, origin: { seed: 'a', private: false } },
};

function linksOf(frontier: Frontier, some: Partial<LinkDeps>): PageLinks {
  return new PageLinks(page, {
    frontier,
    rules: linkRules({}, nodeOptions().links, 'host', null),
    outage: new Outage(silentLogger),
    seen: null,
    deadEnds: new DeadEnds(),
    onDropped: () => {},
    signals: null,
    hasOtherPages: () => false,
    ...some,
  });
}

const discovered = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    request: new Request(`http://a.example/${n}`),
    callback: null,
    errback: null,
  }));

const flight = () => ({ signal: new AbortController().signal, closing: null, response: null });

it('a page that began before anything was known to be seen sends all of its links', async () => {
  const frontier = await openFrontier(await freshStore());
  const seen = new SeenLinks();
  const found = discovered(2_500);
  const taken = linksOf(frontier, { seen }).take(found, {}, flight());
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
  const links = linksOf(
    { ...frontier, push },
    {
      hasOtherPages: () => true,
    },
  );
  await links.take(discovered(6_000), {}, flight());
  clearInterval(timer);
  expect(turnsAtPush.length).toBeGreaterThan(2);
  expect(new Set(turnsAtPush).size).toBe(turnsAtPush.length);
  await frontier.close();
  await remove();
});
