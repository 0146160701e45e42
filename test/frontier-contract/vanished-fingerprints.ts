/** Somebody empties the dupefilter without the frontier: every node hears of it before it drops a link as seen. */
import { expect, it } from 'vitest';
import { classOf, type Dupefilter } from '../../src/frontier/dupefilter-classes.js';
import type { Frontier } from '../../src/frontier/frontier.js';
import { readAll } from './backups-dupefilters.js';
import type { InCrawl } from './dupefilters.js';
import { type Crawl, commit, done, effects, request, take, takeOne } from './world.js';

const names = ['a', 'b', 'c'];
const links = names.map((name) => request(name));

/** Three pages that are done. @returns the epoch of the last */
async function crawled(frontier: Frontier): Promise<string> {
  await frontier.push(links, 'links');
  let epoch = '';
  for (const lease of await take(frontier, links.length)) ({ epoch } = await commit(frontier, lease));
  return epoch;
}

const goneOf = async (frontier: Frontier) => (await frontier.snapshot()).seenGone;

export function vanishedFingerprints(inCrawl: InCrawl, dupefilter: Dupefilter): void {
  it(
    'says that its fingerprints vanished to a node with nothing to do, and has links new again',
    inCrawl(whenIdle),
  );
  it('says so with each heartbeat of a node that is at work', inCrawl(whenBusy));
  it('says so before a seed is accepted, so that the links of its page are followed', inCrawl(beforeSeeds));
  it('says so to the next node, which crawls the start requests again', inCrawl(betweenRuns));
  it('counts what vanished until it is emptied by a reset, also when the queue is', inCrawl(untilReset));
  it(
    'takes no change by a verb for a loss',
    inCrawl((crawl) => noLoss(crawl, dupefilter)),
  );
  it('has the start requests crawled again when it was emptied by a reset', inCrawl(resetAlone));
}

async function whenIdle(crawl: Crawl): Promise<void> {
  const { frontier } = await crawl.node();
  const epoch = await crawled(frontier);
  expect((await frontier.lease(1, 0)).crawl).toMatchObject({ seenGone: 0, seenExpires: false });
  await crawl.world.hand!.deleteSeen();
  expect((await frontier.lease(1, 0)).crawl).toMatchObject({ seenGone: 3 });
  await frontier.push([request('page')], 'links');
  const lease = await takeOne(frontier);
  const withheld = { count: 3, epoch };
  expect(await frontier.settle(lease, done, effects({ withheld }))).toEqual({
    committed: false,
    resend: true,
  });
  expect(await commit(frontier, lease, done, { requests: links })).toMatchObject({ accepted: 3 });
  // What was recorded since is no loss.
  expect((await frontier.lease(0, 0)).crawl).toMatchObject({ seenGone: 3 });
  expect(await frontier.snapshot()).toMatchObject({ seen: 4, pending: 3, seenGone: 3 });
}

async function whenBusy(crawl: Crawl): Promise<void> {
  const { frontier } = await crawl.node();
  const epoch = await crawled(frontier);
  await frontier.push([request('one'), request('two')], 'links');
  const [one, two] = await take(frontier, 2);
  await crawl.world.hand!.deleteSeen();
  await frontier.reconcile([one!, two!], 60_000);
  expect(await goneOf(frontier)).toBe(5);
  const withheld = { count: 3, epoch };
  expect(await frontier.settle(one!, done, effects({ withheld }))).toEqual({
    committed: false,
    resend: true,
  });
  await commit(frontier, one!, done, { requests: links });
  await frontier.reconcile([two!], 60_000);
  await commit(frontier, two!);
  expect(await frontier.snapshot()).toMatchObject({ seenGone: 5, pending: 3, done: 5 });
}

async function beforeSeeds(crawl: Crawl): Promise<void> {
  const { frontier } = await crawl.node();
  const epoch = await crawled(frontier);
  await crawl.world.hand!.deleteSeen();
  await (await crawl.outsider()).push([request('a')], 'seeds');
  const lease = await takeOne(frontier);
  const withheld = { count: 2, epoch };
  expect(await frontier.settle(lease, done, effects({ withheld }))).toEqual({
    committed: false,
    resend: true,
  });
  expect(await commit(frontier, lease, done, { requests: links })).toMatchObject({
    accepted: 2,
    duplicates: 1,
  });
}

/** What a first node pushes once a job. */
async function startWith(crawl: Crawl): Promise<Frontier> {
  const { frontier, joined } = await crawl.node({ hasStart: true });
  expect(joined.startPushed).toBe(false);
  await frontier.push([request('start')], 'start');
  await commit(frontier, await takeOne(frontier), done, { requests: links });
  for (const lease of await take(frontier, 3)) await commit(frontier, lease);
  await frontier.leave('finished');
  return frontier;
}

async function betweenRuns(crawl: Crawl): Promise<void> {
  await startWith(crawl);
  const idle = await crawl.node({ hasStart: true });
  expect(idle.joined).toMatchObject({ startPushed: true, found: { seenGone: 0 } });
  await idle.frontier.leave('finished');
  await crawl.world.hand!.deleteSeen();
  const { frontier, joined } = await crawl.node({ hasStart: true });
  expect(joined).toMatchObject({ startPushed: false, found: { seenGone: 4, seen: 0 } });
  expect(await frontier.push([request('start')], 'start')).toMatchObject({ accepted: 1 });
  expect(await commit(frontier, await takeOne(frontier), done, { requests: links })).toMatchObject({
    accepted: 3,
  });
  // A second node of the run has nothing to push.
  expect((await crawl.node({ hasStart: true })).joined.startPushed).toBe(true);
}

async function resetAlone(crawl: Crawl): Promise<void> {
  await startWith(crawl);
  await (await crawl.outsider()).clear(['dupefilter'], { force: false });
  const { frontier, joined } = await crawl.node({ hasStart: true });
  expect(joined).toMatchObject({ startPushed: false, found: { seenGone: 0, seen: 0 } });
  expect(await frontier.push([request('start')], 'start')).toMatchObject({ accepted: 1 });
  expect(await commit(frontier, await takeOne(frontier), done, { requests: links })).toMatchObject({
    accepted: 3,
  });
  await frontier.leave('shutdown');
  expect((await crawl.node({ hasStart: true })).joined.startPushed).toBe(true);
}

async function untilReset(crawl: Crawl): Promise<void> {
  const { frontier } = await crawl.node();
  await crawled(frontier);
  await crawl.world.hand!.deleteSeen();
  await frontier.lease(1, 0);
  await frontier.push([request('d')], 'links');
  await frontier.leave('shutdown');
  await frontier.clear(['queue'], { force: false });
  expect(await frontier.snapshot()).toMatchObject({ seenGone: 3, seen: 1 });
  await frontier.clear(['dupefilter'], { force: false });
  expect(await frontier.snapshot()).toMatchObject({ seenGone: 0, seen: 0 });
}

async function noLoss(crawl: Crawl, dupefilter: Dupefilter): Promise<void> {
  const { frontier } = await crawl.node();
  const look = async () => {
    await frontier.reconcile([], 60_000);
    return (await frontier.lease(0, 0)).crawl.seenGone;
  };
  await crawled(frontier);
  // A seed that was seen is recorded once.
  await frontier.push([request('a')], 'seeds');
  await commit(frontier, await takeOne(frontier));
  expect(await look()).toBe(0);
  if (classOf(dupefilter).canForget) {
    expect(await frontier.forget(request('b').fingerprint)).toBe(true);
    expect(await frontier.forget(request('b').fingerprint)).toBe(false);
    expect(await look()).toBe(0);
  }
  const entries = await readAll(frontier, ['dupefilter']);
  await frontier.leave('shutdown');
  await frontier.clear(['dupefilter'], { force: false });
  await frontier.backups.begin({ id: 'backup', parts: ['dupefilter'], exclusive: [], force: false });
  for (const [n, entry] of entries.entries()) await frontier.backups.apply('backup', n + 1, entry);
  await frontier.backups.end('backup');
  const next = await crawl.node();
  expect(next.joined.found).toMatchObject({ seenGone: 0, seen: classOf(dupefilter).canForget ? 2 : 3 });
  await next.frontier.reconcile([], 60_000);
  expect(await goneOf(next.frontier)).toBe(0);
  await crawl.world.hand!.deleteSeen();
  await next.frontier.reconcile([], 60_000);
  expect(await goneOf(next.frontier)).toBe(classOf(dupefilter).canForget ? 2 : 3);
}
