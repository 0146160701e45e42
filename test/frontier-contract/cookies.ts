/** Contract: the cookies of a crawl are committed with the pages that set them, and every node reads them. */
import { describe, expect, it } from 'vitest';
import type { CookieChange, CookieNews, Frontier } from '../../src/frontier/frontier.js';
import {
  type Crawl,
  commit,
  done,
  effects,
  failed,
  type Node,
  released,
  request,
  retry,
  takeOne,
  until,
} from './world.js';

/** A cookie of the site that the tests are about. */
function set(name: string, value: string | null, some: Partial<CookieChange> = {}): CookieChange {
  return {
    jar: '',
    domain: 'a.example',
    path: '/',
    name,
    text: value === null ? null : `h=${value}`,
    ...some,
  };
}

/** Commit cookies with one page. */
async function commitCookies({ frontier }: Node, cookies: readonly CookieChange[]): Promise<void> {
  await frontier.push([request(`page ${Math.random()}`)], 'links');
  await commit(frontier, await takeOne(frontier), done, { cookies });
}

/** All cookies, as `jar domain path name text`. */
async function all(frontier: Frontier): Promise<string[]> {
  const found: string[] = [];
  const first = await frontier.cookies(0);
  for (let news = first; news !== null; ) {
    found.push(...texts(news));
    news = news.version < news.latest ? await frontier.cookies(news.version, first?.latest) : null;
  }
  return found;
}

const texts = (news: CookieNews | null | undefined): string[] =>
  (news?.sets ?? []).flatMap(({ jar, domain, cookies }) =>
    cookies.map(({ path, name, text }) => [jar, domain, path, name, text].join(' ').trim()),
  );

export function cookies(crawl: () => Crawl): void {
  describe('cookies', () => {
    it('come with the lease of a page that the page which set them has discovered, on any node', async () => {
      const [one, two] = [await crawl().node(), await crawl().node()];
      await one.frontier.push([request('login')], 'links');
      const login = await takeOne(one.frontier);
      const found = { requests: [request('account')], cookies: [set('sid', 'abc')] };
      await commit(one.frontier, login, done, found);

      const answer = await until(
        () => two.frontier.lease(1, 0, 0),
        ({ leases }) => leases.length === 1,
      );
      expect(texts(answer.cookies)).toEqual(['a.example / sid h=abc']);
      await commit(two.frontier, answer.leases[0]!);
    });

    it('also come with the lease that is sent together with the settle that sets them', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('login')], 'links');
      const login = await takeOne(frontier);
      const [settled, answer] = await Promise.all([
        frontier.settle(
          login,
          done,
          effects({ requests: [request('account')], cookies: [set('sid', 'abc')] }),
        ),
        frontier.lease(1, 0, 0),
      ]);
      expect(settled.committed).toBe(true);
      expect(texts(answer.cookies)).toEqual(['a.example / sid h=abc']);
      for (const lease of answer.leases) await commit(frontier, lease);
    });

    it('come only when they have changed, and only to a node that names a version', async () => {
      const node = await crawl().node();
      expect((await node.frontier.lease(1, 0, 0)).cookies).toBeUndefined();
      expect(await node.frontier.cookies(0)).toBeNull();
      await commitCookies(node, [set('sid', 'abc')]);
      const { cookies } = await node.frontier.lease(1, 0, 0);
      expect(cookies?.version).toBe(cookies?.latest);
      expect((await node.frontier.lease(1, 0, cookies?.version)).cookies).toBeUndefined();
      expect((await node.frontier.lease(1, 0)).cookies).toBeUndefined();
      await commitCookies(node, [set('sid', 'abc')]);
      expect((await node.frontier.lease(1, 0, cookies?.version)).cookies).toBeUndefined();
      await commitCookies(node, [set('sid', 'def', { domain: 'b.example' })]);
      expect(texts((await node.frontier.lease(1, 0, cookies?.version)).cookies)).toEqual([
        'b.example / sid h=def',
      ]);
    });

    it('are written with every outcome but released, and not with a stale token', async () => {
      const [one, two] = [
        await crawl().node({ tunables: { nodeTimeoutMs: 200 } }),
        await crawl().node({ tunables: { nodeTimeoutMs: 200 } }),
      ];
      await one.frontier.push([request('1'), request('2'), request('3'), request('4')], 'links');
      for (const [name, outcome] of [
        ['retried', retry],
        ['failed', () => failed()],
        ['released', () => released],
      ] as const) {
        const lease = await takeOne(one.frontier);
        await commit(one.frontier, lease, outcome(lease, 60_000), { cookies: [set(name, '1')] });
      }
      expect(await all(two.frontier)).toEqual(['a.example / retried h=1', 'a.example / failed h=1']);
      const lost = await takeOne(one.frontier);
      await crawl().recoverUntil(1, [two]);
      const late = one.frontier.settle(lost, done, effects({ cookies: [set('lost', '1')] }));
      expect(await late.catch(() => ({ committed: false }))).toMatchObject({ committed: false });
      expect(await all(two.frontier)).toHaveLength(2);
    });

    it('of the last settle win, and keep their place in the order of creation', async () => {
      const node = await crawl().node();
      await commitCookies(node, [set('a', '1'), set('b', '1'), set('c', '1')]);
      await commitCookies(node, [set('b', '2'), set('a', '2'), set('c', null), set('unknown', null)]);
      expect(await all(node.frontier)).toEqual(['a.example / a h=2', 'a.example / b h=2']);
      await commitCookies(node, [set('a', '3', { path: '/shop' }), set('a', '4', { jar: 'second' })]);
      expect((await all(node.frontier)).sort()).toEqual([
        'a.example / a h=2',
        'a.example / b h=2',
        'a.example /shop a h=3',
        'second a.example / a h=4',
      ]);
    });

    it('that are removed are gone for every node', async () => {
      const node = await crawl().node();
      await commitCookies(node, [set('sid', 'abc')]);
      const before = await node.frontier.cookies(0);
      await commitCookies(node, [set('sid', null)]);
      const after = await node.frontier.cookies(before!.version);
      expect(after?.sets).toEqual([{ jar: '', domain: 'a.example', cookies: [] }]);
      expect(await all(node.frontier)).toEqual([]);
    });

    it("expire on the store's clock", async ({ skip }) => {
      const clock = crawl().clockOr(skip);
      const node = await crawl().node();
      const now = Date.now();
      await commitCookies(node, [
        set('age', '1', { expiresInMs: 600_000 }),
        set('date', '1', { expiresAtMs: now + 1_200_000 }),
        set('over', '1', { expiresAtMs: now - 60_000 }),
        set('soon', '1', { expiresInMs: 60_000 }),
      ]);
      const [first] = (await node.frontier.cookies(0))!.sets;
      expect(first!.cookies.map(({ name }) => name)).toEqual(['age', 'date', 'soon']);
      expect(first!.cookies[0]!.expiresAtMs).toBeGreaterThan(now + 300_000);
      expect(first!.cookies[1]!.expiresAtMs).toBe(now + 1_200_000);
      clock.setForward(60_000);
      await commitCookies(node, [set('more', '1')]);
      const [left] = (await node.frontier.cookies(0))!.sets;
      expect(left!.cookies.map(({ name }) => name)).toEqual(['age', 'date', 'more']);
    });

    it('of one subdomain do not push out those of another, of the domain or of its other hosts', async () => {
      const node = await crawl().node();
      const many = (prefix: string, n: number, some: Partial<CookieChange> = {}) =>
        Array.from({ length: n }, (_, i) => set(`${prefix}${i}`, '1', some));
      const first = [...many('own', 10), ...many('shop', 10, { setBy: 'shop.a.example' })];
      await commitCookies(node, first);
      await commitCookies(node, many('evil', 100, { setBy: 'evil.a.example' }));
      await commitCookies(node, many('more', 3, { setBy: 'evil.a.example' }));
      const found = (await all(node.frontier)).map((cookie) => cookie.split(' ')[2]);
      expect(found.filter((name) => !/evil|more/.test(name!))).toEqual(first.map(({ name }) => name));
      expect(found.slice(20)).toEqual([
        ...Array.from({ length: 27 }, (_, n) => `evil${n + 73}`),
        ...['more0', 'more1', 'more2'],
      ]);
    });

    it('are 50 a domain and 3,000 a jar at most; the oldest ones are dropped and counted', async () => {
      const node = await crawl().node();
      await commitCookies(
        node,
        Array.from({ length: 60 }, (_, n) => set(`c${n}`, '1')),
      );
      const [first] = (await node.frontier.cookies(0))!.sets;
      expect(first!.cookies.map(({ name }) => name)).toEqual(
        Array.from({ length: 50 }, (_, n) => `c${n + 10}`),
      );
      for (let domain = 0; domain < 60; domain += 1) {
        const cookies = Array.from({ length: 50 }, (_, n) =>
          set(`c${n}`, '1', { domain: `d${domain}.example` }),
        );
        await commitCookies(node, cookies);
      }
      const found = await all(node.frontier);
      expect(found.length).toBeLessThanOrEqual(3_000);
      expect(found.length).toBeGreaterThanOrEqual(2_600);
      expect(found.some((text) => text.startsWith('a.example'))).toBe(false);
      expect(found.some((text) => text.startsWith('d59.example'))).toBe(true);
      const { counters } = await node.frontier.snapshot();
      expect(counters['cookies/dropped']).toBe(60 + 60 * 50 - found.length);
    });

    it('are in as many jars as the node allows; the jar changed least recently is dropped', async () => {
      const node = await crawl().node({ maxCookieJars: 2 });
      for (const jar of ['a', 'b', 'a', 'c'])
        await commitCookies(node, [set('sid', String(Math.random()), { jar })]);
      expect((await all(node.frontier)).map((text) => text[0]).sort()).toEqual(['a', 'c']);
    });

    it('are read in bounded answers, and anew when too many removals were forgotten', async () => {
      const node = await crawl().node({ maxCookieJars: 10_000 });
      const jars = Array.from({ length: 250 }, (_, n) => set('sid', '1', { jar: `j${n}` }));
      await commitCookies(node, jars);
      const first = await node.frontier.cookies(0);
      expect(first!.sets).toHaveLength(100);
      expect(first!.version).toBeLessThan(first!.latest);
      expect(await all(node.frontier)).toHaveLength(250);
      for (let round = 0; round < 6; round += 1) {
        await commitCookies(
          node,
          Array.from({ length: 200 }, (_, n) => set('sid', '1', { jar: `x${round}-${n}` })),
        );
        await commitCookies(
          node,
          Array.from({ length: 200 }, (_, n) => set('sid', null, { jar: `x${round}-${n}` })),
        );
      }
      expect((await node.frontier.cookies(first!.latest))!.isAnew).toBe(true);
      expect(await all(node.frontier)).toHaveLength(250);
      const again = await node.frontier.cookies(0);
      expect(again!.isAnew).toBe(false);
      expect((await node.frontier.cookies(again!.version, again!.latest))!.isAnew).toBe(false);
      expect((await node.frontier.cookies(1_000_000))!.isAnew).toBe(true);
    });

    it('are cleared with the queue, and restored with it from a backup', async () => {
      const node = await crawl().node();
      await commitCookies(node, [
        set('sid', 'abc', { expiresInMs: 600_000 }),
        set('k', 'ü"\\', { jar: 'second' }),
      ]);
      await node.frontier.leave('shutdown');
      const outsider = await crawl().outsider();
      const before = (await all(outsider)).sort();
      const entries = [];
      for await (const entry of outsider.backups.read(['queue', 'failed', 'dupefilter'])) entries.push(entry);
      await outsider.clear(['queue', 'failed', 'dupefilter'], { force: false });
      expect(await outsider.cookies(0)).toBeNull();
      await outsider.backups.begin({ id: 'restore', parts: ['queue'], exclusive: [], force: true });
      for (const [n, entry] of entries.entries()) await outsider.backups.apply('restore', n + 1, entry);
      await outsider.backups.end('restore');
      expect((await all(outsider)).sort()).toEqual(before);
    });

    it('outlast a repair', async () => {
      const node = await crawl().node();
      await commitCookies(node, [set('sid', 'abc'), set('k', '1', { jar: 'second' })]);
      const known = (await node.frontier.cookies(0))!.latest;
      await node.frontier.leave('shutdown');
      const outsider = await crawl().outsider();
      const before = (await all(outsider)).sort();
      await outsider.repair(() => null, { force: true });
      expect((await all(outsider)).sort()).toEqual(before);
      expect(await outsider.cookies(known)).toBeNull();
    });
  });
}
