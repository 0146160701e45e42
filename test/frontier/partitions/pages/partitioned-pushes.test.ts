/** What a page, a start or a login has for several partitions. */
import { describe, expect, it } from 'vitest';
import type { Lease } from '../../../../src/frontier/frontier.js';
import { commit, done, effects, nameOf, take, takeOne, until } from '../../../frontier-contract/world.js';
import { at, inAll, perPartition, threePartitions } from '../../../helpers/redis/three-partitions.js';

const stage = await threePartitions();

describe('a page', () => {
  it('puts its links into the partitions of their domains, and its items and counters beside itself', async () => {
    const { frontier } = await stage.crawl.node();
    await frontier.push([at(1, 'page')], 'links');
    const answer = await commit(frontier, await takeOne(frontier), done, {
      ...{
        requests: [...inAll('link'), at(1, 'page')],
        items: ['{"n":1}'],
        stats: { item_scraped_count: 1 },
      },
    });
    expect(answer).toMatchObject({ accepted: 3, duplicates: 1, allSeen: true });
    expect(await perPartition(frontier, 'pending')).toEqual([1, 1, 1]);
    expect(await perPartition(frontier, 'items')).toEqual([0, 1, 0]);
    expect(await frontier.snapshot()).toMatchObject({ counters: { item_scraped_count: 1 }, accepted: 4 });
  });

  it('that is fetched again after its node died between its pushes and its settle gives each link once', async () => {
    const { frontier } = await stage.crawl.node();
    await frontier.push([at(0, 'page')], 'links');
    const lease = await takeOne(frontier);
    // What a settle does first; then the node dies.
    await frontier.push([at(1, 'link'), at(2, 'link')], 'links');
    await frontier.reconcile([], 0);
    const again = (await take(frontier, 3)).find(({ id }) => id === lease.id)!;
    const links = { requests: [at(1, 'link'), at(2, 'link'), at(0, 'own')] };
    expect(await commit(frontier, again, done, links)).toMatchObject({ accepted: 1, duplicates: 2 });
    expect((await frontier.settle(lease, done, effects(links))).committed).toBe(false);
    expect(await frontier.snapshot()).toMatchObject({ accepted: 4, pending: 1, leased: 2 });
  });

  it('that ends in the turn of a lease is settled before that lease finds nothing', async () => {
    const { frontier } = await stage.crawl.node();
    await frontier.push([at(0, 'page')], 'links');
    const page = await takeOne(frontier);
    const links = { requests: [at(0, 'next'), at(2, 'seen')] };
    await frontier.push([at(2, 'seen')], 'links');
    // From now on it is the turn of partition 0, so the lease comes there before the link came to partition 2.
    await commit(frontier, await takeOne(frontier));
    const settled = frontier.settle(page, done, effects(links));
    const { leases } = await frontier.lease(1, 0);
    expect(leases.map(nameOf)).toEqual(['next']);
    expect(await settled).toMatchObject({ committed: true, accepted: 1, duplicates: 1 });
  });

  it('is told of its own links only, when those of several pages go in one call', async () => {
    const { frontier } = await stage.crawl.node();
    await frontier.push([at(0, 'one'), at(0, 'two'), at(0, 'three')], 'links');
    const leases = await take(frontier, 3);
    const answers = await Promise.all(
      leases.map((lease, n) =>
        frontier.settle(
          lease,
          done,
          effects({ requests: [at(1, 'same'), at(1, `a-${n}`), at(2, `b-${n}`), at(0, `c-${n}`)] }),
        ),
      ),
    );
    expect(answers).toMatchObject([
      { committed: true, accepted: 4, duplicates: 0, allSeen: true },
      { committed: true, accepted: 3, duplicates: 1, allSeen: true },
      { committed: true, accepted: 3, duplicates: 1, allSeen: true },
    ]);
    expect(await perPartition(frontier, 'pending')).toEqual([3, 4, 3]);
  });

  it('whose links were withheld is asked for all of them when a fingerprint was forgotten in any partition', async () => {
    const { frontier } = await stage.crawl.node();
    await frontier.push([at(0, 'one'), at(0, 'two')], 'links');
    const [one, two] = (await take(frontier, 2)) as [Lease, Lease];
    const { epoch } = await commit(frontier, one, done, { requests: [at(2, 'seen')] });
    await (await stage.crawl.outsider()).forget(at(2, 'seen').fingerprint);
    const withheld = effects({ withheld: { count: 1, epoch } });
    expect(await frontier.settle(two, done, withheld)).toMatchObject({ committed: false, resend: true });
    await commit(frontier, two, done, { requests: [at(2, 'seen')] });
  });
});

describe('start requests', () => {
  it('in parts are accepted once, in all partitions, by whichever node', async () => {
    const nodes = [await stage.crawl.node({ hasStart: true }), await stage.crawl.node({ hasStart: true })];
    const [a, b] = [inAll('a'), [at(1, 'b'), at(1, 'c')]];
    expect(await nodes[0]!.frontier.push(a, 'start', { from: 0, total: 5 })).toMatchObject({ accepted: 3 });
    expect(await nodes[1]!.frontier.push(a, 'start', { from: 0, total: 5 })).toMatchObject({
      accepted: 0,
      duplicates: 3,
    });
    expect((await nodes[1]!.frontier.lease(0, 0)).crawl.finished).toBe(false);
    expect(await nodes[1]!.frontier.push(b, 'start', { from: 3, total: 5 })).toMatchObject({ accepted: 2 });
    expect(await nodes[0]!.frontier.push(b, 'start', { from: 3, total: 5 })).toMatchObject({
      accepted: 0,
      duplicates: 2,
    });
    expect(await perPartition(nodes[0]!.frontier, 'pending')).toEqual([1, 3, 1]);
  });
});

describe('cookies', () => {
  const change = { jar: '', domain: 'site.example', path: '/', name: 'session', text: 'h=1' };

  it('of a page are known to whichever node leases a link of it, in whichever partition', async () => {
    const [one, two] = [await stage.crawl.node(), await stage.crawl.node()];
    await one.frontier.push([at(1, 'login')], 'links');
    const login = await takeOne(one.frontier);
    await commit(one.frontier, login, done, { requests: [at(2, 'inside')], cookies: [change] });
    const answer = await until(
      () => two.frontier.lease(1, 0, 0),
      ({ leases }) => leases.length > 0,
    );
    expect(answer.cookies?.sets).toMatchObject([{ domain: 'site.example', cookies: [{ name: 'session' }] }]);
  });
});

describe("stats of the user's own", () => {
  it('add up over partitions', async () => {
    const { frontier } = await stage.crawl.node();
    await frontier.push(inAll('a'), 'links');
    for (const [n, lease] of (await take(frontier, 3)).entries()) {
      const custom = [
        { name: 'sum', op: 'inc', value: n + 1 },
        { name: 'most', op: 'max', value: n },
        { name: 'least', op: 'min', value: n },
        { name: 'last', op: 'set', value: 'text' },
      ] as const;
      await commit(frontier, lease, done, { custom });
    }
    expect((await frontier.snapshot()).custom).toEqual({ sum: 6, most: 2, least: 0, last: 'text' });
  });
});
