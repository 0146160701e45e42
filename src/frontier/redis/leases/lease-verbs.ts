/** The verbs of leases in Redis. */
import type { Frontier } from '../../frontier.js';
import { OtherServer } from '../connection/errors.js';
import { EvictionWatch } from '../connection/eviction-watch.js';
import type { Arguments } from '../connection/lua-message.js';
import { hex, int, list, type Reply, text } from '../connection/reply.js';
import { readCookieNews } from '../cookies/cookie-reply.js';
import type { CrawlAccess } from '../crawl-access.js';
import { leaseCallOf, readLeases } from './lease-reply.js';
import { settleMessage } from './settle-message.js';

type LeaseVerb = 'lease' | 'settle' | 'defer' | 'reconcile' | 'cookies' | 'validators';

export function leaseVerbs(crawl: CrawlAccess): Pick<Frontier, LeaseVerb> {
  const { call, calls, node, leaseCalls } = crawl;
  const eviction = crawl.options.allowEviction ? null : new EvictionWatch(crawl.connection);

  async function lease(args: Arguments): Promise<Reply> {
    await node.live();
    eviction?.refuse();
    try {
      return await leaseCalls.lease({ ...args, random: Math.random(), server: node.server });
    } catch (error) {
      if (!(error instanceof OtherServer)) throw error;
      node.suspectServer();
      return lease(args);
    }
  }

  return {
    lease: async (max, holding, cookies) => readLeases(await lease({ max, holding, cookies })),
    async settle(settled, outcome, effects) {
      const { feeds = [], maxCookieJars } = node.options ?? {};
      const { caller, dupefilter } = calls;
      const sender = { hasFeeds: feeds.length > 0, maxCookieJars, node: caller, dupefilter };
      return leaseCalls.settle(settleMessage(settled, outcome, effects, sender));
    },
    async defer(deferred) {
      await node.live();
      const id = Buffer.from(deferred.id, 'hex');
      const args = { id, number: leaseCallOf(deferred), random: Math.random() };
      const waitMs = int(await call('defer', args));
      return waitMs < 0 ? null : waitMs;
    },
    async reconcile(held, graceMs) {
      node.joined();
      const ids = held.map(({ id }) => Buffer.from(id, 'hex'));
      const answer = await call('reconcile', { graceMs, ids, calls: held.map(leaseCallOf) });
      const [returned, lost] = list(answer);
      return { returned: int(returned), lost: list(lost).map(hex) };
    },
    cookies: async (known, anewAt) => readCookieNews(await call('cookies', { known, anewAt })),
    /** Not in order with settles: a page is leased after the settle of its last download. */
    async validators(fingerprints) {
      if (fingerprints.length === 0) return [];
      const raw = fingerprints.map((fingerprint) => Buffer.from(fingerprint, 'hex'));
      const found = list(await calls.run('validators', { fingerprints: raw }));
      return found.map((value) => text(value) || null);
    },
  };
}
