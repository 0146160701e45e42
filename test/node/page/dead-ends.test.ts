/** Pages of which nothing came: the result of a crawl names their kinds, each with an example. */
import { expect, it } from 'vitest';
import { sumOfDeadEnds } from '../../../src/node/page/dead-ends.js';
import { Spider } from '../../../src/spider/spider.js';
import { crawl, freshStore } from '../../helpers/node.js';
import { startSite } from '../../helpers/sites/site.js';

it('statuses and redirects that lead nowhere are counted, with the first URL of each', async () => {
  const answers: Record<string, [number, string?]> = {
    '/gone/1': [404],
    '/gone/2': [404],
    '/no-location': [302],
    '/script': [302, 'javascript:alert(1)'],
    '/file': [302, 'file:///etc/passwd'],
    '/long': [302, `/${'x'.repeat(3_000)}`],
  };
  const site = await startSite({
    pages: 0,
    handler: (request, response) => {
      const [status, location] = answers[request.url ?? '']!;
      response.writeHead(status, location === undefined ? {} : { location }).end();
      return true;
    },
  });
  class One extends Spider {
    override name = 'one';
    override startUrls = Object.keys(answers).map((path) => `${site.origin}${path}`);
    override parse() {}
  }
  const { deadEnds, failed } = await crawl(await freshStore(), One, { options: { concurrency: 1 } });
  expect(failed).toBe(0);
  expect(deadEnds).toEqual(
    expect.arrayContaining([
      { what: 'status 404', unit: 'page' as const, count: 2, example: `${site.origin}/gone/1` },
      { what: 'status 302', unit: 'page' as const, count: 1, example: `${site.origin}/no-location` },
      {
        what: 'redirect without a usable Location',
        unit: 'page' as const,
        count: 2,
        example: `${site.origin}/script`,
      },
      {
        what: 'redirect to a URL that the crawl does not follow',
        unit: 'page' as const,
        count: 1,
        example: `${site.origin}/long`,
      },
    ]),
  );
  expect(deadEnds).toHaveLength(4);
});

it('those of several nodes are one list, the most frequent first', () => {
  const a = [{ what: 'status 404', unit: 'page' as const, count: 2, example: 'a' }];
  const b = [
    { what: 'status 403', unit: 'page' as const, count: 3, example: 'b' },
    { what: 'status 404', unit: 'page' as const, count: 5, example: 'c' },
  ];
  expect(sumOfDeadEnds([a, b])).toEqual([
    { what: 'status 404', unit: 'page' as const, count: 7, example: 'a' },
    { what: 'status 403', unit: 'page' as const, count: 3, example: 'b' },
  ]);
});
