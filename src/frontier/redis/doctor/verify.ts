/**
 * The invariants I1–I8 (DESIGN §5). A crawl of any size is examined in steps of some ms, so that its nodes can go on. What
 * changes meanwhile is no breach: each sentence is about what one step shows, or what was confirmed at one instant.
 */
import type { FrontierKeys } from '../../open-options.js';
import { type Client, repliesOf } from '../connection/client.js';
import { type Ask, walk } from '../connection/scan.js';
import type { CrawlAccess } from '../crawl-access.js';
import { allKeys, type InternalWord, internalKey } from '../keys.js';
import { checkPieces } from './dupefilter-pieces.js';
import { checkCookies } from './verify-cookies.js';
import { checkDomains } from './verify-domains.js';
import { checkLeases } from './verify-leases.js';
import { checkRequests } from './verify-requests.js';

/** Sorted sets that are ordered by bytes. An entry with a score other than 0 would be in the wrong place. */
const unscored = ['queue', 'ready', 'suspects'] as const satisfies InternalWord[];
const STEP = 500;

/** @returns one sentence for each breach. */
export async function verifyInvariants(crawl: CrawlAccess): Promise<string[]> {
  const { keys } = crawl.options;
  const ask: Ask = (question) => crawl.connection.patiently(question);
  const domains = await checkDomains(crawl.call);
  const breaches = [
    ...(await ask((client) => checkScores(client, keys))),
    ...(await checkRequests(crawl)),
    ...(await checkLeases(ask, keys, domains.busy)),
    ...(await ask((client) => checkAccepted(client, keys))),
    ...domains.breaches,
    ...(await ask((client) => checkExpiry(client, keys))),
    ...(await checkRobots(ask, keys)),
    ...(await ask((client) => checkPieces(client, keys))),
    ...(await checkCookies(ask, keys)),
  ];
  // A step may show an entry that another has shown.
  return [...new Set(breaches)];
}

async function checkScores(client: Client, keys: FrontierKeys): Promise<string[]> {
  const breaches: string[] = [];
  for (const word of unscored) {
    const key = internalKey(keys, word);
    const transaction = client.multi().zcount(key, '-inf', '(0').zcount(key, '(0', '+inf');
    const [below, above] = (await repliesOf(transaction)) as [number, number];
    const count = below + above;
    if (count > 0) breaches.push(`I7: ${count} entries of ${key} have a score, and are out of order`);
  }
  return breaches;
}

/** I4: accepted = pending + delayed + leased + done + failed + removed + lost. */
async function checkAccepted(client: Client, keys: FrontierKeys): Promise<string[]> {
  const transaction = client
    .multi()
    .zcard(internalKey(keys, 'queue'))
    .zcard(internalKey(keys, 'suspects'))
    .zcard(internalKey(keys, 'delayed'))
    .hlen(internalKey(keys, 'leases'))
    .zcard(internalKey(keys, 'failed'))
    .hmget(internalKey(keys, 'meta'), 'accepted', 'done', 'removed', 'lost', 'repairing');
  const [queued, suspects, delayed, leased, failed, meta] = (await repliesOf(transaction)) as [
    ...[queued: number, suspects: number, delayed: number, leased: number, failed: number],
    meta: (string | null)[],
  ];
  const [accepted = 0, done = 0, removed = 0, lost = 0] = meta.map((text) => Number(text ?? 0));
  const parts = { pending: queued + suspects, delayed, leased, done, failed, removed, lost };
  const sum = Object.values(parts).reduce((total, count) => total + count, 0);
  const spoken = Object.entries(parts).map(([name, count]) => `${count} ${name}`);
  return [
    ...(accepted === sum ? [] : [`I4: ${accepted} accepted, but ${spoken.join(' + ')} = ${sum}`]),
    ...(meta[4] ? ['a repair broke off: repair again'] : []),
  ];
}

/** Each known robots.txt has an instant from which on it is deleted. */
async function checkRobots(ask: Ask, keys: FrontierKeys): Promise<string[]> {
  const [robots, kept] = [internalKey(keys, 'robots'), internalKey(keys, 'robots-kept')];
  const sizes = await ask((client) => repliesOf(client.multi().hlen(robots).zcard(kept)));
  let isSound = sizes[0] === sizes[1];
  for await (const page of walk(ask, (client, cursor) => client.zscan(kept, cursor, 'COUNT', STEP))) {
    const origins = page.filter((_, n) => n % 2 === 0);
    const found = await ask((client) => {
      const transaction = client.multi();
      for (const origin of origins) transaction.hexists(robots, origin).zscore(kept, origin);
      return repliesOf(transaction);
    });
    isSound &&= origins.every((_, n) => found[2 * n] === 1 || found[2 * n + 1] === null);
  }
  return isSound ? [] : ['the robots.txt of some origins is never deleted'];
}

/** I8: no key of the frontier has a time to live. */
async function checkExpiry(client: Client, keys: FrontierKeys): Promise<string[]> {
  const breaches: string[] = [];
  for (const name of allKeys(keys)) {
    if ((await client.pttl(name)) >= 0)
      breaches.push(`I8: ${name} has a time to live: it would vanish by itself`);
  }
  return breaches;
}
