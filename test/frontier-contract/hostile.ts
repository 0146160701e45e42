/** What a page, a spider or a seed may bring in: no name, number or id harms the requests beside it. */
import { describe, expect, it } from 'vitest';
import { InvalidRequestError } from '../../src/errors.js';
import { type Crawl, commit, nameOf, request, retry, take, takeOne } from './world.js';

export function hostile(crawl: () => Crawl): void {
  describe('hostile input', () => {
    it('of domain names is told apart and obeyed, whatever they are made of', async () => {
      const { frontier } = await crawl().node({ tunables: { concurrencyPerDomain: 1 } });
      const domains = [
        '',
        '*',
        '?[a-z]',
        'a\0b.example',
        '__proto__',
        'constructor',
        'ü.example',
        '\u{d800}',
        'x'.repeat(10_000),
        'news:requests:~queue',
      ];
      for (const round of [1, 2]) {
        await frontier.push(
          domains.map((domain, n) => request(`${round}/${n}`, { domain })),
          'links',
        );
      }
      const leases = await take(frontier, domains.length);
      expect(leases.map(nameOf)).toEqual(domains.map((_, n) => `1/${n}`));
      expect((await frontier.lease(20, domains.length)).leases).toEqual([]);
      for (const lease of leases) await commit(frontier, lease);
      for (const domain of domains.slice(1)) {
        await frontier.throttle(domain, { forMs: 60_000, source: 'retry-after' });
      }
      const left = (await frontier.lease(20, 0)).leases;
      expect(left.map(nameOf)).toEqual(['2/0']);
      await commit(frontier, left[0]!);
    });

    it('of an id is refused, and the requests beside it are not harmed', async () => {
      const { frontier } = await crawl().node();
      for (const id of ['', 'zz', 'a'.repeat(39), `${'a'.repeat(39)}g`, 'a'.repeat(42)]) {
        const bad = { ...request('bad'), id, fingerprint: id };
        const pushed = await Promise.allSettled([
          frontier.push([request('a'), bad, request('b')], 'links'),
          frontier.push([request('c')], 'links'),
        ]);
        expect(pushed[0]).toMatchObject({ reason: expect.any(InvalidRequestError) });
        expect(pushed[1]?.status).toBe('fulfilled');
      }
      const c = await takeOne(frontier);
      expect(nameOf(c)).toBe('c');
      const dontFilter = { ...request('bad', { dontFilter: true }), id: 'short' };
      await expect(frontier.push([dontFilter], 'links')).rejects.toThrow(InvalidRequestError);
      expect(await frontier.failed.purge(['', 'short', request('c').id])).toBe(0);
      await commit(frontier, c);
    });

    it('of priorities and delays out of all bounds is taken at the bound', async () => {
      const { frontier } = await crawl().node();
      const priorities = [-Infinity, 2 ** 40, Number.NaN, 2 ** 31, -(2 ** 31), 0.5];
      await frontier.push(
        priorities.map((priority) => request(String(priority), { priority })),
        'links',
      );
      const order = (await take(frontier, priorities.length)).map(nameOf);
      expect(order.slice(2, 4)).toEqual(['NaN', '0.5']);
      expect(new Set(order.slice(0, 2))).toEqual(new Set([String(2 ** 40), String(2 ** 31)]));
      await frontier.push(
        [-5, Number.NaN, Number.POSITIVE_INFINITY, 1e300].map((delayMs) =>
          request(`d${delayMs}`, { delayMs }),
        ),
        'links',
      );
      const due = await take(frontier, 2);
      expect(due.map(nameOf)).toEqual(['d-5', 'dNaN']);
      expect(await frontier.snapshot()).toMatchObject({ delayed: 2 });
      await commit(frontier, due[0]!, retry(due[0]!, Number.POSITIVE_INFINITY, 2 ** 33));
      await commit(frontier, due[1]!, retry(due[1]!, -1));
      expect(nameOf(await takeOne(frontier))).toBe('dNaN');
    });

    it('of counter names is kept, and the page is committed', async () => {
      const { frontier } = await crawl().node();
      await frontier.push([request('a')], 'links');
      const stats = JSON.parse('{"__proto__": 2, "constructor": 3}') as Record<string, number>;
      await commit(frontier, await takeOne(frontier), undefined, {
        stats: { ...stats, ['__proto__']: 2, ['x'.repeat(5_000)]: 1, '': 4, half: 1.5, none: Number.NaN },
      });
      const { counters } = await frontier.snapshot();
      expect(Object.getOwnPropertyDescriptor(counters, '__proto__')?.value).toBe(2);
      expect(counters).toMatchObject({ constructor: 3, '': 4, half: 2 });
      expect(counters.none).toBeUndefined();
    });

    it('of seeds is kept byte for byte, and a seed may bring more requests than a page', async () => {
      const frontier = await crawl().outsider();
      const value = Buffer.from([0xff, 0x00, 0xfe, 0x0a, 0x2a]);
      await frontier.appendSeeds([value.toString('latin1'), 'many']);
      const [odd, many] = await frontier.peekSeeds(2);
      expect(odd!.value).toEqual(Buffer.from(value.toString('latin1')));
      const requests = Array.from({ length: 4_500 }, (_, n) =>
        request(`seed-${n}`, { domain: `${n}.example` }),
      );
      expect(
        await frontier.intake([
          { seed: odd!, bad: '\u{1b}[31m' },
          { seed: many!, requests },
        ]),
      ).toMatchObject({ bad: 1 });
      expect(await frontier.snapshot()).toMatchObject({ pending: 4_500, domains: 4_500, startUrls: 0 });
    });
  });
}
