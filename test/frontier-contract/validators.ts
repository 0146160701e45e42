/** Contract: what a server said to recognize a page by (ETag, Last-Modified) is committed with the page, and kept for its next download. */
import { describe, expect, it } from 'vitest';
import { type Crawl, commit, done, effects, failed, released, request, sha1, takeOne } from './world.js';

const page = sha1('page');
const etag = (value: string): string => JSON.stringify([`"${value}"`, null]);

export function validators(crawl: () => Crawl): void {
  describe('validators of pages', () => {
    it('are committed with a page that is done, and every client reads them, in the order asked for', async () => {
      const { frontier } = await crawl().node();
      expect(await frontier.validators([page])).toEqual([null]);
      await frontier.push([request('one'), request('two')], 'links');
      await commit(frontier, await takeOne(frontier), done, {
        validators: { fingerprint: page, text: etag('a') },
      });
      await commit(frontier, await takeOne(frontier), done, {
        validators: { fingerprint: sha1('other'), text: etag('b') },
      });
      const two = await crawl().node();
      const asked = [sha1('other'), sha1('nobody'), page];
      expect(await two.frontier.validators(asked)).toEqual([etag('b'), null, etag('a')]);
      expect(await (await crawl().outsider()).validators([])).toEqual([]);
    });

    it('are replaced, and removed, by a later page', async () => {
      const { frontier } = await crawl().node();
      for (const text of [etag('a'), etag('b'), null]) {
        await frontier.push([request(`page ${text}`)], 'links');
        await commit(frontier, await takeOne(frontier), done, { validators: { fingerprint: page, text } });
        expect(await frontier.validators([page])).toEqual([text]);
      }
    });

    it('are not written by a page that failed or is given back, nor under a lost lease', async () => {
      const { frontier } = await crawl().node();
      const validators = { fingerprint: page, text: etag('a') };
      await frontier.push([request('bad'), request('page')], 'links');
      await commit(frontier, await takeOne(frontier), failed(), { validators });
      const lease = await takeOne(frontier);
      await commit(frontier, lease, released, { validators });
      expect(await frontier.settle(lease, done, effects({ validators }))).toEqual({ committed: false });
      expect(await frontier.validators([page])).toEqual([null]);
    });

    it('are not written by a page of which a link was dropped: it must be found again', async () => {
      const { frontier } = await crawl().node({ tunables: { queueLimit: 1 } });
      await frontier.push([request('start')], 'start');
      const answer = await commit(frontier, await takeOne(frontier), done, {
        requests: ['a', 'b', 'c'].map((name) => request(name)),
        validators: { fingerprint: page, text: etag('a') },
      });
      expect(answer.dropped).toBe(1);
      expect(await frontier.validators([page])).toEqual([null]);
    });

    it('are void once a fingerprint was forgotten: the page may be the one that links to it', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('page')], 'links');
      const validators = { fingerprint: page, text: etag('a') };
      await commit(frontier, await takeOne(frontier), done, { requests: [request('linked')], validators });
      expect(await frontier.forget(request('linked').fingerprint)).toBe(true);
      expect(await frontier.validators([page])).toEqual([null]);
    });

    it('go with the crawl', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('page')], 'links');
      const validators = { fingerprint: page, text: etag('a') };
      await commit(frontier, await takeOne(frontier), done, { validators });
      await frontier.leave('finished');
      const outsider = await crawl().outsider();
      await outsider.clear(['queue'], { force: false });
      expect(await outsider.validators([page])).toEqual([null]);
    });
  });
}
