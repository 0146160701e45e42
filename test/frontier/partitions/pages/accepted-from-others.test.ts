/** A partition whose server lost its last writes, while the others kept theirs. */
import { describe, expect, it } from 'vitest';
import { AcceptedFromOthers } from '../../../../src/frontier/partitions/pages/accepted-from-others.js';
import { commit, done, nameOf, take, takeOne } from '../../../frontier-contract/world.js';
import { at, perPartition, threePartitions } from '../../../helpers/redis/three-partitions.js';

const stage = await threePartitions();

/** All keys of partition 1 as they are now; call it to bring them back. */
async function copyOfPartition1(): Promise<() => Promise<void>> {
  const { admin, world } = stage;
  const keysNow = () => admin.keys(`${world.spider}:p1:*`);
  const copies = await Promise.all(
    (await keysNow()).map(async (key) => ({ key, dump: (await admin.dumpBuffer(key))! })),
  );
  return async () => {
    await admin.unlink(...(await keysNow()));
    for (const { key, dump } of copies) await admin.restore(key, 0, dump, 'REPLACE');
  };
}

describe('a partition that came back from an older copy', () => {
  it('counts as lost what pages of others gave it since, once for all nodes', async () => {
    const [one, two] = [await stage.crawl.node(), await stage.crawl.node()];
    await one.frontier.push([at(0, 'page'), at(0, 'other')], 'links');
    const [page, other] = await take(one.frontier, 2);
    await commit(one.frontier, other!, done, { requests: [at(1, 'kept')] });
    const bringBack = await copyOfPartition1();
    await commit(one.frontier, page!, done, { requests: [at(1, 'a'), at(1, 'b'), at(2, 'c')] });
    await two.frontier.lease(0, 0);
    await bringBack();
    expect((await one.frontier.lease(0, 0)).crawl).toMatchObject({ lost: 2, finished: false });
    expect((await two.frontier.lease(0, 0)).crawl).toMatchObject({ lost: 2 });
    expect(await one.frontier.snapshot()).toMatchObject({ lost: 2, pending: 2 });
    expect(await perPartition(one.frontier, 'pending')).toEqual([0, 1, 1]);
  });

  it('has lost nothing where only its own pages are pending again', async () => {
    const { frontier } = await stage.crawl.node();
    await frontier.push([at(1, 'page')], 'links');
    const lease = await takeOne(frontier);
    const bringBack = await copyOfPartition1();
    await commit(frontier, lease, done, { requests: [at(1, 'a'), at(2, 'b')] });
    await bringBack();
    await frontier.reconcile([], 0);
    const names = (await take(frontier, 2)).map(nameOf).sort();
    expect(names).toEqual(['b', 'page']);
    expect((await frontier.lease(0, 2)).crawl).toMatchObject({ lost: 0 });
  });
});

describe('what was accepted for pages of others', () => {
  it('is missing only within one crawl', () => {
    const accepted = new AcceptedFromOthers();
    expect(accepted.hear(1, { crawlId: 'a', fromOthers: 5 })).toBeNull();
    expect(accepted.hear(1, { crawlId: 'a', fromOthers: 3 })).toEqual({ crawlId: 'a', fromOthers: 5 });
    expect(accepted.hear(1, { crawlId: 'a', fromOthers: 5 })).toBeNull();
    expect(accepted.hear(1, { crawlId: 'b', fromOthers: 0 })).toBeNull();
    expect(accepted.hear(2, { crawlId: 'a', fromOthers: 0 })).toBeNull();
  });
});
