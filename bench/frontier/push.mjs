/** Links into the frontier, canonical URL and fingerprint included: new ones, seen ones in another spelling, known ones. */

import { Request, SeenLinks } from '../../dist/internal.js';
import { linkOf, pushAll, urlOf } from './requests.mjs';
import { measure } from './stage.mjs';

const COUNT = 100_000;
const WARM_UP = 10_000;
const PAGE = 100;
/** Links in the node's cache, fewer than it holds, and how often each is looked up. */
const KNOWN = 40_000;
const ROUNDS = 20;

export async function* push(stage) {
  const domains = 100;
  const frontier = await stage.join(stage.newCrawl());
  const all = (spelling, from, to, batch) =>
    pushAll(frontier, from, to, (n) => linkOf(n, domains, spelling), batch);
  await all('canonical', 0, WARM_UP);
  yield {
    what: 'new link, 1,000 at a time',
    ...(await measure(stage, COUNT, () => all('canonical', WARM_UP, WARM_UP + COUNT))),
    goals: { perSecond: 80_000, serverUs: 10 },
  };
  yield {
    what: 'new link, 100 at a time',
    ...(await measure(stage, COUNT, () => all('canonical', WARM_UP + COUNT, WARM_UP + 2 * COUNT, PAGE))),
    goals: { serverUs: 10 },
  };
  yield {
    what: 'seen link, another spelling',
    ...(await measure(stage, COUNT, () => all('other', WARM_UP, WARM_UP + COUNT))),
    goals: { perSecond: 150_000 },
  };
  if (stage.engine === 'redis') yield await knownToTheNode(stage);
}

/** The node's own cache, where a link known to be seen ends, from the text of its URL on: the same on both engines. */
async function knownToTheNode(stage) {
  const urls = Array.from({ length: KNOWN }, (_, n) => urlOf(n, 100));
  const seen = new SeenLinks();
  seen.learn(
    urls.map((url) => ({ found: { request: new Request(url) } })),
    'epoch',
    0,
  );
  const cost = await measure(stage, ROUNDS * KNOWN, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      for (const url of urls) if (!seen.has(new Request(url))) throw new Error(`${url} is not known`);
    }
  });
  return { what: "seen link, in the node's cache", ...cost, serverUs: null, goals: { perSecond: 1_000_000 } };
}
