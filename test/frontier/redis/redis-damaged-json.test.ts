/** JSON that somebody has damaged in Redis hides nothing else of the crawl. */
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { crawlFindings } from '../../../src/cli/reports/doctor-findings.js';
import { allParts } from '../../../src/frontier/frontier.js';
import { commit, request, takeOne } from '../../frontier-contract/world.js';
import { projectOn } from '../../helpers/engine-project.js';
import { joinAs } from '../../helpers/joining.js';

const damaged = [
  '{"host":',
  'null',
  '[]',
  '{"seenMs":"x"}',
  `{"a":${'['.repeat(3_000)}`,
  '{"path":{"a":1}}',
  '\u0000',
];

describe('on the redis engine', () => {
  const here = projectOn('redis');

  it('a damaged record of a feed is named by doctor, counts as none, and is removed with the crawl', async () => {
    const client = new Redis(here.redis!.url);
    for (const record of damaged) {
      await here.look((frontier) => frontier.push([request('a')], 'links'));
      await client.hset('news:requests:~feeds', 'feed', record, 'feed:tail', 3);
      await here.look(async (frontier) => {
        const snapshot = await frontier.snapshot();
        expect(snapshot.outbox, record).toMatchObject([{ feed: 'feed', waiting: 3, writerPid: null }]);
        const findings = crawlFindings('news', snapshot, 30_000, true);
        if (snapshot.outbox[0]!.path === '')
          expect(findings, record).toMatchObject([{ level: 'problem', check: 'feed_record' }]);
        const writer = { feed: 'feed', host: 'h', path: '/a.jsonl', pid: 1, owner: 'o', format: 'jsonl' };
        expect(await frontier.feeds.open(writer, { staleMs: 1 }), record).toBeNull();
        await expect(frontier.feeds.read('feed', 0, 10)).rejects.toMatchObject({ code: 'outbox_damaged' });
      });
      await client.hset('news:requests:~feeds', 'feed', record);
      await here.look((frontier) => frontier.clear(allParts, { force: true }));
      expect(await client.keys('news:*'), record).toEqual([]);
    }
    client.disconnect();
  });

  it('a damaged reason of a failure and a damaged node leave the others readable', async () => {
    const client = new Redis(here.redis!.url);
    await here.look(async (frontier) => {
      await joinAs(frontier);
      await frontier.push([request('a')], 'links');
      await commit(frontier, await takeOne(frontier), { kind: 'failed', reason: 'timeout', attempts: 1 });
      const [id] = await client.hkeysBuffer('news:requests:~failures');
      for (const text of damaged) {
        await client.hset('news:requests:~failures', id!, text);
        await client.zadd('news:requests:~nodes', Date.now(), 'forged');
        await client.hset('news:requests:~node-info', 'forged', text);
        const { requests } = await frontier.failed.list(null, 10);
        expect(requests, text).toMatchObject([{ reason: 'unknown', attempts: 0 }]);
        expect(
          (await frontier.snapshot()).nodes.map((node) => node.id),
          text,
        ).toContain('forged');
      }
    });
    client.disconnect();
  });
});
