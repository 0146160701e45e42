/** Leases from several partitions, and the budgets over them. */
import { describe, expect, it } from 'vitest';
import type { Lease } from '../../../../src/frontier/frontier.js';
import { commit, done, effects, take, takeOne, until } from '../../../frontier-contract/world.js';
import { at, COUNT, inAll, threePartitions } from '../../../helpers/redis/three-partitions.js';

const stage = await threePartitions();

describe('leases', () => {
  it('come from all partitions in turn, and fill the free slots from several', async () => {
    const { frontier } = await stage.crawl.node();
    await frontier.push([...inAll('a'), ...inAll('b')], 'links');
    const first = await take(frontier, 1);
    const second = await take(frontier, 1);
    const third = await take(frontier, 1);
    const partitions = [...first, ...second, ...third].map(({ token }) => token.split('/')[0]);
    expect(new Set(partitions).size).toBe(3);
    expect((await frontier.lease(10, 3)).leases).toHaveLength(3);
    expect(await frontier.snapshot()).toMatchObject({ leased: 6, nodes: [{ leased: 6 }] });
  });

  it('of a suspect wait until its node holds nothing in any partition', async () => {
    const { frontier: dead } = await stage.crawl.node({ tunables: { nodeTimeoutMs: 200 } });
    await dead.push([at(1, 'poison')], 'links');
    await takeOne(dead);
    const survivor = await stage.crawl.node({ tunables: { nodeTimeoutMs: 200 } });
    await survivor.frontier.push([at(0, 'good'), at(2, 'other')], 'links');
    const held = await takeOne(survivor.frontier);
    await stage.crawl.recoverUntil(1, [survivor]);
    const none = await survivor.frontier.lease(5, 1);
    expect(none.leases.every(({ crashes }) => crashes === 0)).toBe(true);
    for (const lease of [held, ...none.leases]) await commit(survivor.frontier, lease);
    const rest: Lease[] = [];
    await until(
      async () => {
        const { leases } = await survivor.frontier.lease(5, 0);
        if (leases.some(({ crashes }) => crashes > 0)) expect(leases).toHaveLength(1);
        for (const lease of leases) await commit(survivor.frontier, lease);
        return rest.push(...leases);
      },
      () => rest.some(({ crashes }) => crashes === 1),
    );
    expect(rest.some(({ crashes }) => crashes === 1)).toBe(true);
  });
});

describe('the page budget', () => {
  it('is exact over partitions and nodes, wherever the requests are', async () => {
    const budgets = { maxPages: 20 };
    const nodes = [await stage.crawl.node({ budgets }), await stage.crawl.node({ budgets })];
    const pages = Array.from({ length: 60 }, (_, n) => at(n % 10 === 0 ? n % COUNT : 1, `page-${n}`));
    await nodes[0]!.frontier.push(pages, 'links');
    let leased = 0;
    const closed = await until(
      async () => {
        let closing: string | null = null;
        for (const { frontier } of nodes) {
          const answer = await frontier.lease(3, 0);
          leased += answer.leases.length;
          for (const [n, lease] of answer.leases.entries()) {
            // Every fourth is given back unstarted.
            const isReleased = n === 1 && leased % 4 === 0;
            if (isReleased) leased -= 1;
            await frontier.settle(
              lease,
              isReleased ? { kind: 'released', reason: 'shutdown', unstarted: true } : done,
              effects({}),
            );
          }
          closing = answer.crawl.closing;
        }
        return closing;
      },
      (closing) => closing !== null,
    );
    expect(closed).toBe('closespider_pagecount');
    expect(leased).toBe(20);
    expect(await (await stage.crawl.outsider()).snapshot()).toMatchObject({
      ...{ done: 20, pending: 40, run: { pages: 20, closed: 'closespider_pagecount' } },
    });
    for (const { frontier } of nodes) await frontier.leave('closespider_pagecount');
    expect((await (await stage.world.client()).snapshot()).run).toMatchObject({ pages: 20 });
  });

  it('of items closes the run in all partitions', async () => {
    const { frontier } = await stage.crawl.node({ budgets: { maxItems: 2 } });
    await frontier.push([...inAll('a'), ...inAll('b')], 'links');
    const leases = await take(frontier, 2);
    for (const lease of leases) {
      await commit(frontier, lease, done, { items: ['{}'], stats: { item_scraped_count: 1 } });
    }
    const answer = await until(
      () => frontier.lease(0, 0),
      ({ crawl: { closing } }) => closing !== null,
    );
    expect(answer.crawl.closing).toBe('closespider_itemcount');
    expect(await frontier.lease(5, 0)).toMatchObject({ leases: [] });
  });
});
