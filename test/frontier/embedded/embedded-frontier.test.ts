/** What only a store of one machine can get wrong; `embedded-contract.test.ts` has the rest. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connect } from '../../../src/disk/sqlite.js';
import { RefusedError } from '../../../src/errors.js';
import { findInFolder as listCrawls } from '../../../src/frontier/embedded/crawl/find-crawls.js';
import { openEmbedded } from '../../../src/frontier/embedded/embedded-frontier.js';
import { openDatabase } from '../../../src/frontier/embedded/file/database.js';
import { bootId } from '../../../src/frontier/embedded/file/processes.js';
import { fileIn } from '../../../src/frontier/embedded/file/wal.js';
import { allParts, type Dupefilter } from '../../../src/frontier/frontier.js';
import type { OpenOptions } from '../../../src/frontier/open-options.js';
import type { World } from '../../frontier-contract/frontier-contract.js';
import {
  Crawl,
  commit,
  effects,
  failed,
  nameOf,
  request,
  retry,
  take,
  takeOne,
  until,
  worldOf,
} from '../../frontier-contract/world.js';
import { joinOptions } from '../../helpers/joining.js';
import { defaultShape, openOptions } from '../../helpers/open-options.js';
import { type TempDir, tempDir } from '../../helpers/temp-dir.js';

/** What `embedded-frontier-child.mjs` is told. */
interface ChildTask {
  readonly open: OpenOptions;
  readonly dir: string;
  readonly join: ReturnType<typeof joinOptions>;
  /** Pages are numbered from 0 up to this. */
  readonly pages: number;
}
const childScript = fileURLToPath(
  new URL('../../helpers/children/embedded-frontier-child.mjs', import.meta.url),
);

const DAY_MS = 24 * 60 * 60 * 1000;

/** A world of one spider in a folder. */
function worldIn({ dir, remove }: TempDir, spider = 'news'): World {
  return worldOf(
    (shape) => openEmbedded(openOptions(dir, spider, { shape: { ...defaultShape, ...shape } }), dir),
    remove,
  );
}

describe('a folder of the embedded engine', () => {
  let folder: TempDir;
  let crawl: Crawl;
  const children: ChildProcess[] = [];
  beforeEach(() => {
    folder = tempDir('embedded');
    crawl = new Crawl(worldIn(folder));
  });
  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    }
    await crawl.end();
  });

  it('holds several crawls, and clearing one touches no other', async () => {
    const news = await crawl.outsider();
    const news2 = await openEmbedded(openOptions(folder.dir, 'news2'), folder.dir);
    try {
      await news.push([request('a'), request('b')], 'start');
      await news2.push([request('a'), request('c')], 'start');
      await news2.appendSeeds(['x']);
      expect(await listCrawls(folder.dir)).toEqual(['news2:requests', 'news:requests']);
      await news.clear(allParts, { force: false });
      expect(await listCrawls(folder.dir)).toEqual(['news2:requests']);
      expect(await news2.snapshot()).toMatchObject({ pending: 2, seen: 2, startUrls: 1 });
      expect(await news2.verify()).toEqual([]);
    } finally {
      await news2.close();
    }
  });

  it('goes on at once when the system clock was set back by a year: domains are asked again, retries come due', async () => {
    const nowMs = Date.now();
    const setClock = (atMs: number) => vi.useFakeTimers({ now: atMs, toFake: ['Date'] });
    try {
      setClock(nowMs + 365 * DAY_MS);
      const { frontier } = await crawl.node();
      await frontier.push([request('a', { domain: 'slow.example' }), request('b')], 'links');
      await frontier.throttle('slow.example', { delayMs: 1_000, source: 'setting' });
      const [first, second] = await take(frontier, 2);
      await commit(frontier, first?.domain === 'slow.example' ? first : second!);
      setClock(nowMs);
      const retried = first?.domain === 'slow.example' ? second! : first!;
      await frontier.settle(
        retried,
        retry(retried, 1_000),
        effects({ requests: [request('c', { domain: 'slow.example' })] }),
      );
      expect((await frontier.inspect(request('b'))).dueAtMs).toBeLessThanOrEqual(nowMs + 1_001);
      const domainsLeased = async () => (await frontier.lease(2, 0)).leases.map(({ domain }) => domain);
      setClock(nowMs + 2_000);
      expect((await domainsLeased()).sort()).toEqual([retried.domain, 'slow.example'].sort());
    } finally {
      vi.useRealTimers();
    }
  });

  it('keeps large records and items whole, and leaves nothing of them', async () => {
    const { frontier } = await crawl.node({ feeds: ['feed-1'] });
    const large = 'é'.repeat(50_000);
    const big = { ...request('a'), record: JSON.stringify({ u: 'a', body: large }) };
    await frontier.push([big, request('b')], 'links');
    const lease = await takeOne(frontier);
    expect(lease.record).toBe(big.record);
    await commit(frontier, lease, failed(), { items: [large, '{}'], feedItems: [large] });
    expect(await frontier.feeds.read('feed-1', 0, 2)).toEqual([large]);
    expect((await frontier.failed.list(null, 1)).requests[0]?.record).toBe(big.record);
    await frontier.push([{ ...big, record: request('a').record }], 'seeds');
    expect((await frontier.inspect(big)).record).toBe(request('a').record);
    await frontier.appendSeeds([large]);
    const [seed] = await frontier.peekSeeds(1);
    expect(seed?.value.toString()).toBe(large);
    await frontier.intake([{ seed: seed!, requests: [] }]);
    await frontier.leave('shutdown');
    await frontier.clear(allParts, { force: false });
    const database = openDatabase(folder.dir);
    const { connection } = database.readable;
    const tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as {
      name: string;
    }[];
    const filled = tables.filter(
      ({ name }) => connection.prepare(`SELECT 1 FROM ${name}`).get() !== undefined,
    );
    expect(filled.map(({ name }) => name)).toEqual(['sqlite_sequence']);
    await database.close();
  });

  it('commits what a turn of the main loop asks together, and a refusal disturbs nobody', async () => {
    const { frontier } = await crawl.node();
    const other = await crawl.world.client();
    const [pushed, refused, seen, cleared] = await Promise.allSettled([
      frontier.push([request('a')], 'links'),
      crawl.join(other, { shape: { queueClass: 'LifoQueue' } }),
      frontier.push([request('a'), request('b')], 'links'),
      frontier.clear(['queue'], { force: false }),
    ]);
    expect(pushed).toMatchObject({ value: { accepted: 1 } });
    expect(refused).toMatchObject({ reason: { code: 'shape' } });
    expect(seen).toMatchObject({ value: { accepted: 1, duplicates: 1 } });
    expect(cleared).toMatchObject({ reason: { code: 'live_nodes' } });
    expect((await frontier.snapshot()).pending).toBe(2);
  });

  it('gives the leases of a process that is gone to others at once', async () => {
    const sleeper = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    children.push(sleeper);
    await once(sleeper, 'spawn');
    const doomed = await crawl.node({ pid: sleeper.pid! });
    const peer = await crawl.node();
    await peer.frontier.push([request('a')], 'links');
    await takeOne(doomed.frontier);
    expect(await peer.frontier.recover()).toBe(0);
    sleeper.kill('SIGKILL');
    await once(sleeper, 'exit');
    expect(await peer.frontier.recover()).toBe(1);
    expect(await takeOne(peer.frontier)).toMatchObject({ crashes: 1 });
  });

  it('tells a node that waits for the delay of one domain alone when that has passed, not to ask all the time', async () => {
    const { frontier } = await crawl.node();
    await frontier.push([request('a'), request('b')], 'links');
    await frontier.throttle('a.example', { delayMs: 5_000, source: 'robots' });
    const lease = await takeOne(frontier);
    const holding = await frontier.lease(1, 1);
    expect(holding.leases).toEqual([]);
    expect(holding.waitMs).toBe(1_000);
    await commit(frontier, lease);
    expect((await frontier.lease(1, 0)).waitMs).toBe(1_000);
  });

  it('skips requests whose records were deleted by hand: they are counted as lost, links bring them back, and no delay begins for them', async () => {
    const peer = await crawl.node({ tunables: { nodeTimeoutMs: 300 } });
    const { frontier } = peer;
    await frontier.push([request('poison', { domain: 'b.example' })], 'links');
    const doomed = await crawl.node({ tunables: { nodeTimeoutMs: 300 } });
    await takeOne(doomed.frontier);
    await crawl.recoverUntil(1, [peer]);
    await frontier.throttle('a.example', { delayMs: 60_000, source: 'robots' });
    await frontier.throttle('b.example', { delayMs: 60_000, source: 'robots' });
    await frontier.push([request('gone-1'), request('gone-2'), request('good')], 'links');
    const byHand = connect(fileIn(folder.dir));
    byHand.exec(`DELETE FROM record WHERE text LIKE '%gone%' OR text LIKE '%poison%'`);
    byHand.close();
    expect((await takeOne(frontier)).record).toBe(request('good').record);
    expect(await frontier.snapshot()).toMatchObject({ lost: 3, suspects: 0, leased: 1, pending: 0 });
    expect((await frontier.inspect(request('poison'))).crashes).toBe(0);
    expect(await frontier.push([request('gone-1'), request('good')], 'links')).toEqual({
      accepted: 1,
      duplicates: 1,
    });
  });

  it('skips any number of requests without a record in one lease, and leases what is behind them', async () => {
    const { frontier } = await crawl.node();
    const requests = Array.from({ length: 5 }, (_, n) => request(String(n)));
    await frontier.push(requests, 'links');
    const byHand = connect(fileIn(folder.dir));
    byHand.exec(`DELETE FROM record`);
    byHand.close();
    await frontier.push([request('good')], 'links');
    expect((await frontier.lease(2, 0)).leases.map(nameOf)).toEqual(['good']);
    expect(await frontier.snapshot()).toMatchObject({ lost: 5, pending: 0, leased: 1 });
  });

  it('is refused while processes of another container or machine have it open', async () => {
    const users = join(folder.dir, 'users');
    const stranger = join(users, 'stranger.json');
    mkdirSync(users, { recursive: true });
    const open = () => openEmbedded(openOptions(folder.dir, 'news'), folder.dir);
    const self = { bootId: bootId(), pidNamespace: 'pid:[1]', host: hostname(), pid: 1 };
    for (const user of [self, { ...self, bootId: 'another', host: 'another-machine' }]) {
      writeFileSync(stranger, JSON.stringify(user));
      const frontier = await open();
      await expect(frontier.push([request('a')], 'links')).rejects.toThrow(RefusedError);
      await frontier.close();
    }
    const longAgo = new Date(Date.now() - 60_000);
    utimesSync(stranger, longAgo, longAgo);
    await (await open()).close();
  });

  it('tells nodes that the file was deleted, or replaced by another one', async () => {
    const { frontier, joined } = await crawl.node();
    await frontier.push([request('a')], 'links');
    const file = fileIn(folder.dir);
    renameSync(file, `${file}.away`);
    await expect(frontier.lease(1, 0)).rejects.toMatchObject({ code: 'frontier_gone' });
    writeFileSync(file, '');
    await expect(frontier.heartbeat(joined.incarnation, 0)).rejects.toMatchObject({
      code: 'frontier_gone',
    });
    renameSync(`${file}.away`, file);
    expect((await frontier.lease(1, 0)).leases).toHaveLength(1);
  });

  it('makes no store for a command that only reads', async () => {
    const frontier = await openEmbedded(
      openOptions(join(folder.dir, 'none'), 'news'),
      join(folder.dir, 'none'),
    );
    expect(await frontier.snapshot()).toMatchObject({ pending: 0, shape: null });
    expect((await frontier.inspect(request('a'))).state).toBe('unknown');
    expect(await frontier.badSeeds(0, 10)).toEqual([]);
    expect(await frontier.recover()).toBe(0);
    await frontier.close();
    expect(await listCrawls(join(folder.dir, 'none'))).toEqual([]);
    expect(existsSync(join(folder.dir, 'none'))).toBe(false);
  });

  it('is refused where its file is empty, cut, garbled or of another program, and where LMDB was used', async () => {
    await (await crawl.outsider()).push(
      Array.from({ length: 2_000 }, (_, n) => request(String(n))),
      'links',
    );
    await (await crawl.outsider()).clear(allParts, { force: true });
    const whole = join(folder.dir, 'whole.db');
    const database = openDatabase(folder.dir);
    database.readable.connection.exec(`VACUUM INTO '${whole}'`);
    await database.close();
    const place = tempDir('damaged');
    const damages: Record<string, (file: string) => void> = {
      damaged_store: (file) => writeFileSync(file, ''),
      cut: (file) => writeFileSync(file, readFileSync(whole).subarray(0, 9_000)),
      garbled: (file) => writeFileSync(file, Buffer.alloc(50_000, 'x')),
      zeroed: (file) => writeFileSync(file, Buffer.alloc(50_000)),
      foreign_file: (file) => {
        const foreign = connect(file);
        foreign.exec('CREATE TABLE another (program TEXT)');
        foreign.close();
      },
      format: (file) => {
        rmSync(file, { force: true });
        mkdirSync(join(place.dir, 'frontier'));
        writeFileSync(join(place.dir, 'frontier', 'data.mdb'), '');
      },
    };
    for (const [name, damage] of Object.entries(damages)) {
      rmSync(fileIn(place.dir), { force: true });
      damage(fileIn(place.dir));
      const code = ['foreign_file', 'format'].includes(name) ? name : 'damaged_store';
      const open = openEmbedded(openOptions(place.dir, 'news'), place.dir);
      await expect(open, name).rejects.toMatchObject({ code });
    }
  });

  it('waits while another process holds its lock, hears signals meanwhile, and says so in the end', async () => {
    const { frontier } = await crawl.node();
    const peer = connect(fileIn(folder.dir));
    peer.exec('BEGIN IMMEDIATE');
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 5);
    await expect(frontier.lease(1, 0)).rejects.toMatchObject({ code: 'frontier_locked' });
    const pushed = frontier.push([request('a')], 'links');
    setTimeout(() => peer.exec('COMMIT'), 300);
    expect(await pushed).toMatchObject({ accepted: 1 });
    clearInterval(counting);
    expect(turns).toBeGreaterThan(10);
    peer.close();
  });

  it.each<readonly [Dupefilter, number]>([
    [{ class: 'RFPDupeFilter' }, 600],
    [{ class: 'TimedRFPDupeFilter', expireMs: 3_600_000 }, 300],
    [{ class: 'StateDupeFilter' }, 300],
    [{ class: 'BloomDupeFilter', capacity: 100, errorRate: 0.000_001 }, 300],
    [{ class: 'CompactDupeFilter' }, 300],
  ])(
    'loses and doubles nothing when processes that share it are killed at any moment: %o',
    async (dupefilter, pages) => {
      const shape = { ...defaultShape, dupefilter };
      const frontier = await crawl.world.client(shape);
      await frontier.push([request('0', { domain: '0.example' })], 'links');
      const task: ChildTask = {
        ...{ open: openOptions(folder.dir, 'news', { shape }), dir: folder.dir, pages },
        join: joinOptions({ shape, tunables: { concurrencyPerDomain: 16, failedLimit: 1000 } }),
      };
      const start = async (): Promise<ChildProcess> => {
        const child = spawn(process.execPath, [childScript, JSON.stringify(task)], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        children.push(child);
        await Promise.race([once(child.stdout!, 'data'), once(child, 'exit')]);
        return child;
      };
      const done = async (): Promise<number> => (await frontier.snapshot()).done;
      let nodes = await Promise.all([start(), start()]);
      for (let kill = 1; kill <= 4; kill += 1) {
        await until(done, (count) => count >= (pages * kill) / 6, 20_000);
        const [victim, survivor] = nodes;
        victim!.kill('SIGKILL');
        nodes = [survivor!, await start()];
      }
      await Promise.all(nodes.map((node) => (node.exitCode === null ? once(node, 'exit') : undefined)));
      const end = await until(
        () => frontier.snapshot(),
        (snapshot) => snapshot.done + snapshot.failed === pages,
      );
      expect(end).toMatchObject({ accepted: pages, seen: pages, pending: 0, leased: 0, items: end.done });
    },
  );
});
