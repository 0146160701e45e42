/** Keys of a crawl in Redis that somebody has overwritten with another type: refused by name, and nothing is half done. */
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { allKeys } from '../../../src/frontier/redis/keys.js';
import { commit, request, takeOne } from '../../frontier-contract/world.js';
import { projectOn } from '../../helpers/engine-project.js';
import { joinAs } from '../../helpers/joining.js';

const here = projectOn('redis');
const names = allKeys({
  requests: 'news:requests',
  dupefilter: 'news:dupefilter',
  items: 'news:items',
  stats: 'news:stats',
  startUrls: [],
}).filter((name) => !/:~absent$/.test(name));

it.each(names)('%s of another type is refused by name, before a page is half committed', async (name) => {
  const client = new Redis(here.redis!.url);
  const feeds = ['out'];
  await here.look(async (frontier) => {
    await joinAs(frontier, { feeds });
    await frontier.push([request('a'), request('b')], 'links');
    const lease = await takeOne(frontier);
    const before = await client.hlen('news:requests');
    await client.set('copy', 'x');
    await client.rename('copy', name);
    const said = new RegExp(`^${name} is a STRING.* must be|^${name} is a STRING`);
    const refusal = { code: 'foreign_key', message: expect.stringMatching(said) };
    const effects = { items: ['{"a":1}'], feedItems: ['{"a":1}'], requests: [request('c')] };
    await expect(commit(frontier, lease, undefined, effects)).rejects.toMatchObject(refusal);
    await expect(frontier.lease(1, 0)).rejects.toMatchObject(refusal);
    await expect(frontier.push([request('d')], 'links')).rejects.toMatchObject(refusal);
    if (name !== 'news:requests') expect(await client.hlen('news:requests')).toBe(before);
    if (name !== 'news:items') expect(await client.llen('news:items')).toBe(0);
    expect((await frontier.examine()).filter(({ level }) => level === 'problem')).toMatchObject([
      { check: 'foreign_key', message: expect.stringMatching(said) },
    ]);
  });
  client.disconnect();
});
