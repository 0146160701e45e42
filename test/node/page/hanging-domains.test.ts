/** Servers that hang: they take no slot from those that answer, and are asked again ever more rarely. */
import type { Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import { HangingDomains } from '../../../src/node/page/hanging-domains.js';
import { Spider } from '../../../src/spider/spider.js';
import { freshStore, startNode } from '../../helpers/node.js';
import { type RawSite, rawSite } from '../../helpers/sites/raw-site.js';
import { startSite } from '../../helpers/sites/site.js';
import { waitFor } from '../../helpers/wait-for.js';

const sites: RawSite[] = [];

afterEach(async () => {
  for (const site of sites.splice(0)) await site.close();
});

/** A server that never answers. @returns a URL of each of `hosts` addresses of this machine that leads to it. */
async function silentHosts(hosts: number): Promise<{ site: RawSite; urls: string[] }> {
  const site = await rawSite((_socket: Socket) => {}, '0.0.0.0');
  sites.push(site);
  return { site, urls: Array.from({ length: hosts }, (_, n) => `http://127.1.0.${n + 1}:${site.port}/`) };
}

function visitor(startUrls: readonly string[]) {
  return class extends Spider {
    override name = 'visitor';
    override startUrls = [...startUrls];
    override parse() {}
  };
}

const noRetry = { enabled: false, times: 0, httpCodes: [], priorityAdjust: 0, retryAfterCapMs: 0 };
const retry = { ...noRetry, baseMs: 20, capMs: 100 };

it('good pages are crawled while twice as many requests as there are slots wait for silent servers', async () => {
  const { urls } = await silentHosts(8);
  const good = await startSite({ pages: 20, extraLinks: 0 });
  const open = await freshStore();
  const node = await startNode(open, visitor([...urls, ...good.urls]), {
    options: { concurrency: 4, retry },
    downloader: { timeoutMs: 600_000 },
  });
  await waitFor(async () => (await node.frontier.snapshot()).done === 20);
  expect(await node.frontier.snapshot()).toMatchObject({ leased: 8, failed: 0 });
  node.force();
  await node.result;
}, 60_000);

it('more than four times the concurrency do not wait: the oldest end as timeouts', async () => {
  const { urls } = await silentHosts(12);
  const open = await freshStore();
  const node = await startNode(open, visitor(urls), {
    options: { concurrency: 2, retry },
    downloader: { timeoutMs: 600_000 },
  });
  await waitFor(async () => (await node.frontier.snapshot()).failed >= 2, { timeoutMs: 60_000 });
  const outsider = await openFrontier(open);
  const { requests } = await outsider.failed.list(null, 10);
  expect(requests).toMatchObject(requests.map(() => ({ reason: 'timeout', attempts: 1 })));
  expect(requests[0]!.detail).toContain('more than 8 newer requests wait likewise');
  expect((await outsider.snapshot()).leased).toBeLessThanOrEqual(10);
  await outsider.close();
  node.force();
  await node.result;
}, 90_000);

it('a host rests longer each time it hangs, once for all requests that hang together, and is forgiven when it answers', () => {
  const hosts = new HangingDomains({ baseMs: 1_000, capMs: 5_000 });
  expect(hosts.hung('a', 0)).toBe(1_000);
  expect(hosts.hung('a', 10)).toBeNull();
  expect(hosts.hung('b', 10)).toBe(1_000);
  expect([hosts.hung('a', 1_000), hosts.hung('a', 3_000), hosts.hung('a', 7_000)]).toEqual([
    2_000, 4_000, 5_000,
  ]);
  hosts.answered('a');
  expect(hosts.hung('a', 7_001)).toBe(1_000);
});
