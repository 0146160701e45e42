/** Responses that are not valid HTTP: only a retry after one is parsed leniently, and only once. */
import { afterEach, expect, it } from 'vitest';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import type { Response } from '../../../src/http/message/response.js';
import { Spider } from '../../../src/spider/spider.js';
import { crawl, freshStore } from '../../helpers/node.js';
import { type Answer, httpAnswer, type RawSite, rawSite } from '../../helpers/sites/raw-site.js';

const sites: RawSite[] = [];

afterEach(async () => {
  for (const site of sites.splice(0)) await site.close();
});

const malformed = httpAnswer('malformed', ['x-odd: a\x01b']);
const busy = 'HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n';

/** Crawl a page whose answers are these, in this order; the last one is repeated. */
async function crawlPage(answers: readonly (string | Buffer)[]) {
  const answer: Answer = (socket, _head, nth) => {
    socket.write(answers[Math.min(nth, answers.length) - 1]!);
  };
  const site = await rawSite(answer);
  sites.push(site);
  const bodies: string[] = [];
  const open = await freshStore();
  await crawl(
    open,
    class extends Spider {
      override name = 'odd';
      override startUrls = [site.url];
      override parse(response: Response) {
        bodies.push(response.text);
      }
    },
    {
      options: {
        retry: {
          ...{ enabled: true, times: 3, httpCodes: [503], priorityAdjust: 0 },
          ...{ baseMs: 10, capMs: 10, retryAfterCapMs: 0 },
        },
      },
    },
  );
  const frontier = await openFrontier(open);
  const { requests } = await frontier.failed.list(null, 10);
  await frontier.close();
  return { site, bodies, failed: requests };
}

it('a malformed response is requested once more, and read', async () => {
  const { site, bodies } = await crawlPage([malformed]);
  expect(bodies).toEqual(['malformed']);
  expect(site.requests).toHaveLength(2);
});

it('a retry of another failure is parsed strictly, on the connection of before', async () => {
  const { site, bodies } = await crawlPage([busy, busy, httpAnswer('good')]);
  expect(bodies).toEqual(['good']);
  expect(site.connections).toBe(1);
});

it('a malformed response after another failure gets its lenient retry too', async () => {
  const { site, bodies } = await crawlPage([busy, malformed]);
  expect(bodies).toEqual(['malformed']);
  expect(site.requests).toHaveLength(3);
});

it('the next attempts stay lenient when the lenient one fails otherwise', async () => {
  const { bodies } = await crawlPage([malformed, busy, malformed]);
  expect(bodies).toEqual(['malformed']);
});

it('a response that no parser reads fails its page after one lenient retry', async () => {
  const { site, failed } = await crawlPage(['SSH-2.0-OpenSSH_9.2\r\n\r\n']);
  expect(failed).toMatchObject([{ reason: 'not_http', attempts: 2 }]);
  expect(site.requests).toHaveLength(2);
});
