/** Start requests of a generator, who runs it, and the arguments that a run has. */
import { describe, expect, it } from 'vitest';
import { RefusedError } from '../../src/errors.js';
import { startKey } from '../../src/frontier/shared-settings/run-arguments.js';
import { waitFor } from '../helpers/wait-for.js';
import { type Crawl, commit, request, take, takeOne } from './world.js';

export function starting(crawl: () => Crawl): void {
  describe('a generator of start requests', () => {
    const more = (from: number) => ({ from, total: null });
    const all = (total: number) => ({ from: total, total });

    it('holds the crawl open until all of it was pushed', async () => {
      const { frontier } = await crawl().node({ hasStart: true });
      const finished = async () => (await frontier.lease(0, 0)).crawl.finished;
      expect(await frontier.push([request('a')], 'start-generated', more(0))).toMatchObject({
        accepted: 1,
        waiting: 1,
      });
      await commit(frontier, await takeOne(frontier));
      expect(await finished()).toBe(false);
      expect(await frontier.push([], 'start-generated', all(1))).toMatchObject({ accepted: 0, waiting: 0 });
      expect(await finished()).toBe(true);
      expect((await crawl().node({ hasStart: true })).joined.startPushed).toBe(true);
    });

    it('that runs again from its beginning gives each request once', async () => {
      const one = await crawl().node({ hasStart: true });
      const free = (ordinal: number) => request(`free ${ordinal}`, { dontFilter: true, ordinal });
      const first = [request('a'), free(1), request('b')];
      expect(await one.frontier.push(first, 'start-generated', more(0))).toMatchObject({ accepted: 3 });
      for (const lease of await take(one.frontier, 3)) await commit(one.frontier, lease);
      const two = await crawl().node({ hasStart: true });
      const again = [request('a'), free(1)];
      expect(await two.frontier.push(again, 'start-generated', more(0))).toMatchObject({
        accepted: 0,
        duplicates: 2,
      });
      const rest = [request('b'), request('c'), free(4)];
      expect(await two.frontier.push(rest, 'start-generated', more(2))).toMatchObject({
        accepted: 2,
        duplicates: 1,
        waiting: 2,
      });
      expect(await two.frontier.push([free(4)], 'start-generated', more(4))).toMatchObject({
        accepted: 0,
        duplicates: 1,
      });
      await two.frontier.push([], 'start-generated', all(5));
      expect(await two.frontier.push([request('d')], 'start-generated', more(0))).toMatchObject({
        accepted: 0,
      });
    });

    it('is run by one node, and by another when that one has died or left', async () => {
      const one = await crawl().node({ hasStart: true, tunables: { nodeTimeoutMs: 300 } });
      const two = await crawl().node({ hasStart: true, tunables: { nodeTimeoutMs: 300 } });
      expect(await one.frontier.claimStart()).toBe('claimed');
      expect(await one.frontier.claimStart()).toBe('claimed');
      expect(await two.frontier.claimStart()).toBe('taken');
      await one.frontier.push([request('a')], 'start-generated', more(0));
      const [lease] = await take(one.frontier, 1);
      expect(lease).toBeDefined();
      await crawl().recoverUntil(1, [two]);
      expect(await two.frontier.claimStart()).toBe('claimed');
      await two.frontier.leave('shutdown');
      const three = await crawl().node({ hasStart: true });
      expect(await three.frontier.claimStart()).toBe('claimed');
      await three.frontier.push([], 'start-generated', all(1));
      expect(await three.frontier.claimStart()).toBe('pushed');
    });

    it('runs again in a new run only where its spider says so', async () => {
      const run = (startsAgain: boolean) => crawl().node({ hasStart: true, startsAgain });
      const one = await run(false);
      await one.frontier.push([], 'start-generated', all(0));
      await one.frontier.leave('finished');
      const two = await run(false);
      expect(await two.frontier.claimStart()).toBe('pushed');
      await two.frontier.leave('finished');
      const three = await run(true);
      expect(three.joined.startPushed).toBe(false);
      expect(await three.frontier.claimStart()).toBe('claimed');
      await three.frontier.push([], 'start-generated', all(0));
      expect((await run(true)).joined.startPushed).toBe(true);
    });
  });

  describe('the arguments of a run', () => {
    const tags = (tag: string) => ({ hasStart: true, args: { tag, sort: 'new' } });

    it('refuse a node with others, naming the differences but no secret', async () => {
      await crawl().node(tags('a'));
      await crawl().node({ hasStart: true, args: { sort: 'new', tag: 'a' } });
      const refused = crawl().node(tags('b'));
      await expect(refused).rejects.toBeInstanceOf(RefusedError);
      await expect(refused).rejects.toMatchObject({
        code: 'arguments',
        message: expect.stringContaining('tag is "a" there and "b" here'),
      });
      await expect(crawl().node({ args: { token: 'x' } })).rejects.toThrow(
        'token is not given there and *** here',
      );
      await expect(crawl().node({})).rejects.toThrow('tag is "a" there and not given here');
    });

    it('give way to others where all nodes of the run are dead', async () => {
      const { joined } = await crawl().node(tags('a'));
      await expect(crawl().node(tags('b'))).rejects.toMatchObject({ code: 'arguments' });
      // The timeout of the latest node holds for all.
      const brief = { tunables: { nodeTimeoutMs: 300 } };
      await crawl().node({ ...tags('a'), ...brief });
      const next = () => crawl().node({ ...tags('b'), ...brief });
      const begun = await waitFor(() => next().catch(() => null), { what: 'the death of the first nodes' });
      expect(begun.joined.run).not.toBe(joined.run);
    });

    it('hold for one run, and each set of them has its start requests once', async () => {
      const start = async (tag: string) => {
        const { frontier, joined } = await crawl().node(tags(tag));
        const key = startKey({ tag, sort: 'new' });
        const { accepted } = await frontier.push([request('home')], 'start', { from: 0, total: 1, key });
        for (const lease of await take(frontier, accepted)) await commit(frontier, lease);
        expect((await frontier.lease(0, 0)).crawl.finished).toBe(true);
        await frontier.leave('finished');
        return { accepted, startPushed: joined.startPushed };
      };
      expect(await start('a')).toEqual({ accepted: 1, startPushed: false });
      expect(await start('b')).toEqual({ accepted: 1, startPushed: false });
      expect(await start('a')).toEqual({ accepted: 0, startPushed: true });
      expect((await crawl().node({ hasStart: true })).joined.startPushed).toBe(false);
    });
  });
}
