/** dontFilter links that a page pushes before its settle come once, whatever happens to the node meanwhile. */
import { describe, expect, it } from 'vitest';
import { allParts, type Frontier } from '../../src/frontier/frontier.js';
import { type Crawl, commit, done, failed, request, takeOne } from './world.js';

const page = request('page');
const child = (name: string, ordinal = 0) => request(name, { dontFilter: true, ordinal });

/** Push links of the page early, as a node that has many of them does. */
const pushEarly = (frontier: Frontier, ...names: string[]) =>
  frontier.push(
    names.map((name) => child(name)),
    'links',
    { page: page.id },
  );

/** A node that has leased the page and pushed a link of it, which is done. The node is about to die. */
async function begun(crawl: Crawl): Promise<Frontier> {
  const doomed = await crawl.node({ tunables: { nodeTimeoutMs: 300 } });
  await doomed.frontier.push([page], 'links');
  await takeOne(doomed.frontier);
  expect(await pushEarly(doomed.frontier, 'a')).toEqual({ accepted: 1, duplicates: 0 });
  return doomed.frontier;
}

/** The page at another node, after the first one has died and the link is done. */
async function begunAgain(crawl: Crawl): Promise<{ frontier: Frontier; doomed: Frontier }> {
  const doomed = await begun(crawl);
  const peer = await crawl.node({ tunables: { nodeTimeoutMs: 300 } });
  const { frontier } = peer;
  const lease = await takeOne(frontier);
  expect(lease.id).toBe(child('a').id);
  await commit(frontier, lease);
  await crawl.recoverUntil(1, [peer]);
  return { frontier, doomed };
}

export function earlyLinks(crawl: () => Crawl): void {
  describe('links with dontFilter that are pushed before the settle of their page', () => {
    it('are accepted once, also when one is done before the node of the page dies', async () => {
      const { frontier } = await begunAgain(crawl());
      const lease = await takeOne(frontier);
      expect(lease.id).toBe(page.id);
      expect(await pushEarly(frontier, 'a', 'b')).toEqual({ accepted: 1, duplicates: 1 });
      const answer = await commit(frontier, lease, done, { requests: [child('a'), child('b'), child('c')] });
      expect(answer).toMatchObject({ accepted: 1, duplicates: 2 });
      expect(await frontier.snapshot()).toMatchObject({ accepted: 4, done: 2, pending: 2 });
    });

    it('are so whatever is forgotten or reset in the dupefilter', async () => {
      const { frontier } = await begunAgain(crawl());
      const lease = await takeOne(frontier);
      await frontier.forget(page.fingerprint);
      await frontier.clear(['dupefilter'], { force: true });
      expect(await pushEarly(frontier, 'a')).toEqual({ accepted: 0, duplicates: 1 });
      await commit(frontier, lease, done, { requests: [child('a')] });
      expect(await frontier.snapshot()).toMatchObject({ accepted: 2, done: 2, pending: 0 });
    });

    it('are so through a retry and a failure of the page, until it leaves the failed list', async () => {
      const { frontier } = await begunAgain(crawl());
      await commit(frontier, await takeOne(frontier), failed());
      await frontier.failed.retry([page]);
      const lease = await takeOne(frontier);
      expect(await pushEarly(frontier, 'a')).toEqual({ accepted: 0, duplicates: 1 });
      await commit(frontier, lease, failed());
      await frontier.failed.purge([page.id]);
      await frontier.push([page], 'seeds');
      await takeOne(frontier);
      expect(await pushEarly(frontier, 'a')).toEqual({ accepted: 1, duplicates: 0 });
    });

    it('are accepted again when the page, once done, is crawled again', async () => {
      const { frontier } = await begunAgain(crawl());
      await commit(frontier, await takeOne(frontier));
      await frontier.push([page], 'seeds');
      const lease = await takeOne(frontier);
      expect(await pushEarly(frontier, 'a')).toEqual({ accepted: 1, duplicates: 0 });
      await commit(frontier, lease);
    });

    it('are not accepted from a node whose page another one has ended', async () => {
      const { frontier, doomed } = await begunAgain(crawl());
      await commit(frontier, await takeOne(frontier));
      expect(await pushEarly(doomed, 'a', 'b')).toEqual({ accepted: 0, duplicates: 2 });
      expect(await frontier.snapshot()).toMatchObject({ accepted: 2, done: 2, pending: 0 });
    });

    it('do not concern other pages, nor filtered links', async () => {
      const { frontier } = await begunAgain(crawl());
      const lease = await takeOne(frontier);
      expect(await frontier.push([child('a', 1), request('a')], 'links', { page: page.id })).toMatchObject({
        accepted: 2,
      });
      expect(await frontier.push([child('a')], 'links')).toMatchObject({ accepted: 1 });
      await commit(frontier, lease);
    });

    it('are forgotten with the queue, and leave nothing', async () => {
      const { frontier } = await begunAgain(crawl());
      await frontier.clear(['queue'], { force: true });
      const next = await crawl().node();
      await next.frontier.push([page], 'seeds');
      await takeOne(next.frontier);
      expect(await pushEarly(next.frontier, 'a')).toEqual({ accepted: 1, duplicates: 0 });
      await next.frontier.clear(allParts, { force: true });
      expect(await crawl().world.hand!.left()).toEqual([]);
    });
  });
}
