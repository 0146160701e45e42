/** Verify and repair owe the same on both engines. */
import { afterAll, describe } from 'vitest';
import { connect } from '../../../src/disk/sqlite.js';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import { fileIn } from '../../../src/frontier/embedded/file/wal.js';
import { careOfDamages, type Hand } from '../../frontier-contract/damages.js';
import { lostWhileBusy, stalls } from '../../frontier-contract/stalls.js';
import { Crawl, worldOf } from '../../frontier-contract/world.js';
import { openOptions } from '../../helpers/open-options.js';
import { redisOfFile } from '../../helpers/redis/redis-of-file.js';
import { type TempDir, tempDir } from '../../helpers/temp-dir.js';

const { server, admin } = await redisOfFile();

async function change({ dir }: TempDir, sql: string): Promise<void> {
  const connection = connect(fileIn(dir));
  connection.exec(sql);
  connection.close();
}

/** Where a domain's state and its next instant lie in its record, see `lua/domains/domains.lua`. */
const [STATE, NEXT_AT] = [4, 11];

const crawlAt = (place: string, spider: string) =>
  new Crawl(worldOf(() => openFrontier(openOptions(place, spider))));

describe('in Redis', () => {
  let crawls = 0;
  const lost = ['ready', 'domains', 'queue', 'leases', 'delayed', 'failed', 'domains and ready'];
  stalls(async () => {
    crawls += 1;
    const spider = `stalled${crawls}`;
    const keys = (name: string) => name.split(' and ').map((word) => `${spider}:requests:~${word}`);
    const indexes = Object.fromEntries([...lost, 'nodes'].map((name) => [name, () => admin.del(keys(name))]));
    return { crawl: crawlAt(server.url, spider), indexes };
  }, lost);
  const ofDomain = ['its entry among the ready', 'its record', 'its queue'];
  lostWhileBusy(async () => {
    crawls += 1;
    const key = (word: string) => `busy${crawls}:requests:~${word}`;
    const keys = { ready: key('ready'), domains: key('domains'), queue: key('queue') };
    const deletions = [
      async () => {
        const entries = await admin.zrangeBuffer(keys.ready, 0, -1);
        await admin.zrem(keys.ready, ...entries.filter((entry) => entry.includes('lost.example')));
      },
      () => admin.hdel(keys.domains, 'lost.example'),
      () => admin.zremrangebylex(keys.queue, '[lost.example\0', '(lost.example\x01'),
    ];
    const indexes = Object.fromEntries(ofDomain.map((name, n) => [name, deletions[n]!]));
    return { crawl: crawlAt(server.url, `busy${crawls}`), indexes };
  }, ofDomain);
  careOfDamages(async () => {
    crawls += 1;
    const requests = `damaged${crawls}:requests`;
    const drop = (word: string) => () => admin.del(`${requests}:~${word}`);
    const hand: Hand = {
      dropPending: drop('queue'),
      dropDelayed: drop('delayed'),
      dropRecord: (id) => admin.hdel(requests, Buffer.from(id, 'hex')),
      dropDomains: drop('domains'),
      dropNodes: drop('nodes'),
      dropLeases: drop('leases'),
      acceptOneMore: () => admin.hincrby(`${requests}:~meta`, 'accepted', 1),
      spoilRecord: (id) => admin.hset(requests, Buffer.from(id, 'hex'), 'junk'),
      dropOutbox: drop('outbox'),
      async shiftOutbox() {
        const items = await admin.hgetall(`${requests}:~outbox`);
        await admin.del(`${requests}:~outbox`);
        const before = (field: string) => field.replace(/\d+$/, (number) => String(Number(number) - 1));
        const moved = Object.entries(items).map(([field, item]) => [before(field), item]);
        await admin.hset(`${requests}:~outbox`, Object.fromEntries(moved));
      },
      dropFeeds: drop('feeds'),
      async raiseWritten(feed, by) {
        const record = JSON.parse((await admin.hget(`${requests}:~feeds`, feed))!);
        await admin.hset(
          `${requests}:~feeds`,
          feed,
          JSON.stringify({ ...record, sequence: record.sequence + by }),
        );
      },
      dropCrawl: drop('meta'),
      async delayForYears(domain) {
        const record = (await admin.hgetBuffer(`${requests}:~domains`, domain))!;
        record.writeUIntBE(4_000_000_000_000, NEXT_AT, 6);
        record.write('w', STATE);
        await admin.hset(`${requests}:~domains`, domain, record);
      },
      forgetSeen: (id) => admin.srem(`damaged${crawls}:dupefilter`, id),
    };
    return { crawl: crawlAt(server.url, `damaged${crawls}`), hand };
  });
});

describe('in a folder', () => {
  const folders: TempDir[] = [];
  afterAll(async () => {
    for (const folder of folders) await folder.remove();
  });
  const lost = {
    domains: 'DELETE FROM domain',
    requests: 'DELETE FROM request',
    'pending requests': "DELETE FROM request WHERE state = 'pending'",
    'leased requests': "DELETE FROM request WHERE state = 'leased'",
  };
  stalls(async () => {
    const folder = tempDir('stall');
    folders.push(folder);
    const indexes = Object.entries({ ...lost, nodes: 'DELETE FROM node' }).map(
      ([name, sql]) => [name, () => change(folder, sql)] as const,
    );
    return { crawl: crawlAt(folder.dir, 'news'), indexes: Object.fromEntries(indexes) };
  }, Object.keys(lost));
  const ofDomain = {
    'its row': "DELETE FROM domain WHERE name = 'lost.example'",
    'its requests': "DELETE FROM request WHERE domain = 'lost.example'",
  };
  lostWhileBusy(async () => {
    const folder = tempDir('busy');
    folders.push(folder);
    const indexes = Object.entries(ofDomain).map(([name, sql]) => [name, () => change(folder, sql)] as const);
    return { crawl: crawlAt(folder.dir, 'news'), indexes: Object.fromEntries(indexes) };
  }, Object.keys(ofDomain));
  careOfDamages(async () => {
    const folder = tempDir('care');
    folders.push(folder);
    const run = (sql: string) => () => change(folder, sql);
    const hand: Hand = {
      dropPending: run("DELETE FROM request WHERE state = 'pending'"),
      dropDelayed: run("DELETE FROM request WHERE state = 'delayed'"),
      dropRecord: (id) => run(`DELETE FROM record WHERE id = x'${id}'`)(),
      dropDomains: run('DELETE FROM domain'),
      dropNodes: run('DELETE FROM node'),
      dropLeases: run("DELETE FROM request WHERE state = 'leased'"),
      acceptOneMore: run('UPDATE tally SET accepted = accepted + 1'),
      spoilRecord: (id) => run(`UPDATE record SET text = 'junk' WHERE id = x'${id}'`)(),
      dropOutbox: run('DELETE FROM outbox'),
      shiftOutbox: run('UPDATE outbox SET sequence = sequence - 1'),
      dropFeeds: run('DELETE FROM feed'),
      raiseWritten: (feed, by) => run(`UPDATE feed SET written = written + ${by} WHERE feed = '${feed}'`)(),
      dropCrawl: run('DELETE FROM crawl'),
      delayForYears: (domain) =>
        run(`UPDATE domain SET next_at = 4000000000000, state = 'waiting', until = 4000000000000
          WHERE name = '${domain}'`)(),
      forgetSeen: (id) => run(`DELETE FROM seen WHERE id = x'${id}'`)(),
    };
    return { crawl: crawlAt(folder.dir, 'news'), hand };
  });
});
