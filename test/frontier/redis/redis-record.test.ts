/** The record of a crawl that somebody deletes or overwrites in part, and another library under the name of ours. */
import { describe, expect, it } from 'vitest';
import { library } from '../../../src/frontier/redis/connection/library.js';
import { reading } from '../../frontier-contract/repair.js';
import { Crawl, commit, request, take } from '../../frontier-contract/world.js';
import { redisOfFile } from '../../helpers/redis/redis-of-file.js';
import { redisWorld } from '../../helpers/redis/redis-world.js';

const { server, admin } = await redisOfFile();
const pages = ['a', 'b', 'c', 'd'].map((name) => request(name));

/** A crawl with two pages done and two pending, whose node has left. */
async function halfDone() {
  const world = redisWorld(server.url);
  const crawl = new Crawl(world);
  const { frontier } = await crawl.node();
  await frontier.push(pages, 'links');
  for (const lease of await take(frontier, 2)) await commit(frontier, lease);
  return { crawl, frontier, meta: `${world.spider}:requests:~meta` };
}

describe('the record of a crawl in Redis', () => {
  it.each([['done'], ['epoch'], ['control', 'start', 'lost', 'accepted']])(
    'without %s is refused to nodes until a repair, which says so and loses no request',
    async (...fields) => {
      const { crawl, frontier, meta } = await halfDone();
      await frontier.leave('signal');
      const gone = await admin.hdel(meta, ...fields);
      const damaged = { code: 'damaged_store', message: expect.stringContaining(`${gone} field`) };
      await expect(crawl.node()).rejects.toMatchObject(damaged);
      const outsider = await crawl.outsider();
      expect(await outsider.examine()).toContainEqual(expect.objectContaining({ check: 'record' }));
      expect(await outsider.verify()).toContainEqual(`I4: ${gone} fields of ${meta} are gone`);
      const { losses, pending } = await outsider.repair(reading(...pages), { force: true });
      expect({ pending, losses: losses.length }).toEqual({ pending: 2, losses: 1 });
      const next = await crawl.node();
      for (const lease of await take(next.frontier, 2)) await commit(next.frontier, lease);
      expect((await next.frontier.lease(1, 0)).crawl).toMatchObject({ finished: true, lost: 0 });
      if (fields[0] === 'done') expect(await outsider.snapshot()).toMatchObject({ done: 4, accepted: 4 });
      await crawl.end();
    },
  );

  it.each(['done', 'accepted', 'run_leased'])('is refused while its number %s is a text', async (field) => {
    const { crawl, frontier, meta } = await halfDone();
    await admin.hset(meta, field, 'x');
    await expect(frontier.lease(1, 0)).rejects.toMatchObject({ message: expect.stringContaining(field) });
    await (await crawl.outsider()).repair(reading(...pages), { force: true });
    await crawl.end();
  });

  it('with a start that nobody has pushed under its name does not keep the crawl open', async () => {
    const world = redisWorld(server.url);
    const crawl = new Crawl(world);
    const { frontier } = await crawl.node({ hasStart: true });
    await frontier.push([], 'start');
    await admin.hset(`${world.spider}:requests:~meta`, 'run_start', '-1');
    expect((await frontier.lease(0, 0)).crawl.finished).toBe(true);
    await crawl.end();
  });

  it.each(['x', '[', '"text"'])(
    'whose JSON was overwritten with %s is refused as damaged, shown and backed up, and joined after a repair',
    async (text) => {
      const { crawl, frontier, meta } = await halfDone();
      await admin.hset(meta, { shape: text, dupefilter: text, budgets: text });
      const outsider = await crawl.outsider();
      expect(await outsider.snapshot()).toMatchObject({ shape: null, done: 2 });
      const kinds: string[] = [];
      for await (const { kind } of outsider.backups.read(['queue'])) kinds.push(kind);
      expect(kinds).toContain('requests');
      await expect(crawl.node()).rejects.toMatchObject({ code: 'damaged_store' });
      await frontier.leave('signal').catch(() => {});
      await outsider.repair(reading(...pages), { force: true });
      const next = await crawl.node();
      for (const lease of await take(next.frontier, 2)) await commit(next.frontier, lease);
      await crawl.end();
    },
  );

  it('whose budgets were overwritten is joined without limits, and says so', async () => {
    const { crawl, meta } = await halfDone();
    await admin.hset(meta, 'budgets', 'x');
    const { joined } = await crawl.node({ budgets: { maxPages: 5 } });
    expect(joined.notices).toContainEqual(expect.stringContaining('is off in this run'));
    await crawl.end();
  });

  it('whose first call was cut off by a lost right is no damaged one when the right is back', async () => {
    const rights = (...words: string[]) => admin.call('ACL', 'SETUSER', 'half', ...words);
    await rights('on', '>secret', '~*', '&*', '+@all', '-hincrby');
    const crawl = new Crawl(redisWorld(server.url.replace('redis://', 'redis://half:secret@')));
    await expect(crawl.node()).rejects.toMatchObject({ code: 'unauthorized' });
    await rights('+hincrby');
    const { frontier } = await crawl.node();
    await frontier.push(pages, 'links');
    for (const lease of await take(frontier, 4)) await commit(frontier, lease);
    await crawl.end();
  });

  it('that is gone is not begun anew beside its requests', async () => {
    const { crawl, frontier, meta } = await halfDone();
    await admin.del(meta);
    await expect(frontier.lease(1, 0)).rejects.toMatchObject({ code: 'frontier_gone' });
    await expect(crawl.node()).rejects.toMatchObject({ code: 'damaged_store' });
    const outsider = await crawl.outsider();
    expect(await outsider.examine()).toContainEqual(expect.objectContaining({ check: 'record' }));
    expect((await outsider.repair(reading(...pages), { force: true })).losses).toHaveLength(1);
    await crawl.end();
  });
});

describe('a library of other functions under our name', () => {
  it.each(['nil', '"text"', '{1, 2}', '42'])('that answer %s is replaced by ours', async (answer) => {
    const { crawl, frontier } = await halfDone();
    const verbs = ['lease', 'join', 'push', 'settle', 'settle_and_lease', 'leave', 'examine'];
    const functions = verbs.map(
      (verb) => `redis.register_function('${library().functionOf(verb)}', function() return ${answer} end)`,
    );
    await admin.function('LOAD', 'REPLACE', `#!lua name=${library().name}\n${functions.join('\n')}`);
    for (const lease of await take(frontier, 2)) await commit(frontier, lease);
    expect(await frontier.snapshot()).toMatchObject({ done: 4, pending: 0 });
    await crawl.end();
  });
});
