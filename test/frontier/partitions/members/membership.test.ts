/** A crawl over several partitions: its number of partitions, its runs, its end and its clearing. */
import { describe, expect, it } from 'vitest';
import { allParts } from '../../../../src/frontier/frontier.js';
import { Crawl, commit, done, take, takeOne } from '../../../frontier-contract/world.js';
import { addressOf, openPartitioned } from '../../../helpers/redis/partitioned-world.js';
import { openRedis } from '../../../helpers/redis/redis-world.js';
import { at, inAll, threePartitions } from '../../../helpers/redis/three-partitions.js';

const stage = await threePartitions();

describe('a crawl', () => {
  it('is not complete while a page in one partition may still give links to another', async () => {
    const { frontier } = await stage.crawl.node();
    const other = await stage.crawl.node();
    await frontier.push([at(0, 'page')], 'links');
    const lease = await takeOne(frontier);
    expect((await other.frontier.lease(1, 0)).crawl.finished).toBe(false);
    await commit(frontier, lease, done, { requests: [at(2, 'link')] });
    const link = await takeOne(other.frontier);
    expect((await frontier.lease(1, 0)).crawl.finished).toBe(false);
    await commit(other.frontier, link);
    expect((await frontier.lease(1, 0)).crawl.finished).toBe(true);
    expect((await other.frontier.lease(1, 0)).crawl.finished).toBe(true);
  });

  it('that does not persist is cleared by the last node once all partitions are complete, and leaves no key', async () => {
    const transient = new Crawl(stage.world, { persist: false });
    const [one, two] = [await transient.node(), await transient.node()];
    await one.frontier.push(inAll('a'), 'links');
    for (const lease of await take(one.frontier, 3)) await commit(one.frontier, lease);
    expect(await one.frontier.leave('finished')).toMatchObject({ last: false, cleared: false });
    expect(await two.frontier.leave('finished')).toMatchObject({ last: true, cleared: true });
    const left = (await stage.admin.keys(`${stage.world.spider}:*`)).filter((key) => !key.endsWith(':stats'));
    expect(left).toEqual([]);
  });

  it('that does not persist is kept when a request waits in any partition', async () => {
    const transient = new Crawl(stage.world, { persist: false });
    const { frontier } = await transient.node();
    await frontier.push([at(2, 'a')], 'links');
    expect(await frontier.leave('finished')).toMatchObject({ last: true, cleared: false });
    expect(await (await transient.outsider()).snapshot()).toMatchObject({ pending: 1 });
  });

  it('with another number of partitions is refused, naming both, whoever asks', async () => {
    const { frontier } = await stage.crawl.node();
    await frontier.push([at(0, 'a')], 'links');
    const addresses = [addressOf(stage.server.url), addressOf(stage.server.url)];
    await expect(openPartitioned(addresses, stage.world.spider)).rejects.toMatchObject({
      ...{ name: 'RefusedError', code: 'shape' },
      message: expect.stringContaining('SCHEDULER_PARTITIONS is 3 there and 2 here'),
    });
    await expect(openRedis(stage.server.url, stage.world.spider)).rejects.toMatchObject({
      message: expect.stringContaining('SCHEDULER_PARTITIONS is 3 there and 1 here'),
    });
  });

  it('that a seed has begun has the number of partitions of that seed', async () => {
    await (await stage.crawl.outsider()).push([at(2, 'a')], 'seeds');
    await expect(openRedis(stage.server.url, stage.world.spider)).rejects.toMatchObject({ code: 'shape' });
  });

  it('is paused, resumed and closed in all partitions', async () => {
    const { frontier } = await stage.crawl.node();
    await frontier.push(inAll('a'), 'links');
    const outsider = await stage.crawl.outsider();
    await outsider.control('paused');
    expect(await frontier.lease(9, 0)).toMatchObject({ leases: [], crawl: { control: 'paused' } });
    await outsider.control('running');
    expect(await take(frontier, 2)).toHaveLength(2);
    await outsider.closeRun('enough');
    expect(await frontier.lease(9, 2)).toMatchObject({ leases: [], crawl: { closing: 'enough' } });
  });

  it('begins its next run in all partitions, also after its only node died while it left', async () => {
    const first = await stage.crawl.node();
    await first.frontier.push(inAll('a'), 'links');
    for (const lease of await take(first.frontier, 3))
      await commit(first.frontier, lease, done, { stats: {} });
    expect((await first.frontier.snapshot()).run).toMatchObject({ pages: 3 });
    await first.frontier.leave('finished');
    const second = await stage.crawl.node();
    expect((await second.frontier.snapshot()).run).toMatchObject({ pages: 0, id: second.joined.run });
  });

  it('loses nothing of a partition that is gone: its nodes are told', async () => {
    const { frontier } = await stage.crawl.node();
    await frontier.push([at(0, 'a')], 'links');
    await stage.admin.del(...(await stage.admin.keys(`${stage.world.spider}:p1:*`)));
    // What another partition gave comes first.
    await frontier.lease(5, 0);
    await expect(frontier.lease(5, 0)).rejects.toMatchObject({ code: 'frontier_gone' });
    await (await stage.crawl.outsider()).clear(allParts, { force: true });
  });

  it('refuses hooks for an idle crawl by name', async () => {
    await expect(stage.crawl.node({ hasIdle: true })).rejects.toMatchObject({ code: 'partitions' });
  });
});
