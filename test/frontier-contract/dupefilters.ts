/** What every dupefilter owes, and what each of them is chosen for. */
import { describe, expect, it } from 'vitest';
import { RefusedError } from '../../src/errors.js';
import { classOf, type Dupefilter, expiresAt } from '../../src/frontier/dupefilter-classes.js';
import { allParts, type Frontier, PUSH_CHUNK } from '../../src/frontier/frontier.js';
import { everyDupefilter } from '../helpers/frontier/every-dupefilter.js';
import { bringsBackTheLiving, comesBack, leavesNothing, movesTo, readAll } from './backups-dupefilters.js';
import { bloom } from './dupefilters-bloom.js';
import { state } from './dupefilters-state.js';
import { timed } from './dupefilters-timed.js';
import { vanishedFingerprints } from './vanished-fingerprints.js';
import { Crawl, commit, done, effects, request, take, takeOne, until, type World } from './world.js';

const all: readonly Dupefilter[] = [...everyDupefilter, { class: 'TimedRFPDupeFilter', expireMs: 0 }];

export type InCrawl = (body: (crawl: Crawl) => Promise<void>) => () => Promise<void>;

export function dupefilters(openWorld: () => Promise<World>): void {
  const crawlWith =
    (dupefilter: Dupefilter, persist = true): InCrawl =>
    (body) =>
    async () => {
      const crawl = new Crawl(await openWorld(), { dupefilter, persist });
      try {
        await body(crawl);
      } finally {
        await crawl.end();
      }
    };
  for (const dupefilter of all) {
    describe(`the ${JSON.stringify(dupefilter)}`, () => {
      every(crawlWith(dupefilter), dupefilter);
      it(
        'is cleared with a crawl that does not persist, by the last node after true completion',
        crawlWith(dupefilter, false)(clearsWithTheCrawl),
      );
      it('is emptied by a run that begins from nothing', crawlWith(dupefilter)(isFlushed));
      it('is agreed by the first push or node: another one is refused, both are named', () =>
        isAgreed(openWorld, dupefilter));
      it('may be followed by one of another class when it is emptied, whatever waits in the queue', () =>
        isFollowed(openWorld, dupefilter));
      it(
        'is agreed anew by the first page that a live node commits after it was emptied, not by one that is refused',
        crawlWith(dupefilter)(isAgreedAnew),
      );
      it('says of each fingerprint when it expires, as its class is described', () =>
        crawlWith(dupefilter)((crawl) => expiresAsDescribed(crawl, dupefilter))());
      it('has a link new again whose request somebody deleted, where it can forget', () =>
        crawlWith(dupefilter)((crawl) => isNewAfterLoss(crawl, dupefilter))());
      vanishedFingerprints(crawlWith(dupefilter), dupefilter);
      it('comes back from a backup, with what it knew of each fingerprint', crawlWith(dupefilter)(comesBack));
      it(
        'of a class that this crawlnode does not know is refused, both by name, until it is cleared',
        crawlWith(dupefilter)((crawl) => isUnknown(crawl, dupefilter)),
      );
      it('takes of a backup what has not expired since', crawlWith(dupefilter)(bringsBackTheLiving));
      if (classOf(dupefilter).canForget) {
        it('has no part in a backup once all of it is forgotten', crawlWith(dupefilter)(leavesNothing));
      }
      if (classOf(dupefilter).isExact) {
        it('gives its fingerprints to every other class by a backup', () =>
          movesTo(openWorld, dupefilter, all));
      }
    });
  }
  timed(crawlWith);
  state(crawlWith);
  bloom(crawlWith);
}

const made = (count: number, word = 'page') =>
  Array.from({ length: count }, (_, n) => request(`${word}-${n}`));

async function isUnknown(crawl: Crawl, { class: name }: Dupefilter): Promise<void> {
  const frontier = await crawl.outsider();
  await frontier.push(made(3), 'links');
  await crawl.world.hand!.renameDupefilter('FutureDupeFilter');
  const refused = async (act: Promise<unknown>) => {
    const error: unknown = await act.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RefusedError);
    expect(String(error)).toContain('FutureDupeFilter');
    expect(String(error)).toContain(name);
  };
  await refused(frontier.push(made(1), 'links'));
  await refused(crawl.node());
  await refused(frontier.inspect(request('page-1')));
  await refused(readAll(frontier));
  await frontier.clear(['dupefilter'], { force: true });
  expect(await frontier.push(made(1, 'new'), 'links')).toMatchObject({ accepted: 1 });
}

async function isFlushed(crawl: Crawl): Promise<void> {
  const one = await crawl.node();
  await one.frontier.push(made(700), 'links');
  await one.frontier.leave('shutdown');
  const { frontier, joined } = await crawl.node({ flushOnStart: true });
  expect(joined.found).toMatchObject({ pending: 0, seen: 0 });
  expect(await frontier.push(made(700), 'links')).toEqual({ accepted: 700, duplicates: 0 });
  expect(await frontier.push(made(700), 'links')).toEqual({ accepted: 0, duplicates: 700 });
}

/** Push links in batches of the size that pages come in. */
export async function pushAll(frontier: Frontier, count: number, word = 'page') {
  const total = { accepted: 0, duplicates: 0 };
  const links = made(count, word);
  for (let at = 0; at < count; at += PUSH_CHUNK) {
    const answer = await frontier.push(links.slice(at, at + PUSH_CHUNK), 'links');
    total.accepted += answer.accepted;
    total.duplicates += answer.duplicates;
  }
  return total;
}

function every(inCrawl: InCrawl, dupefilter: Dupefilter): void {
  it(
    'accepts what is new once, and refuses its links for good, also when it is done',
    inCrawl(async (crawl) => {
      const { frontier } = await crawl.node();
      const batch = [request('a'), request('b'), request('a')];
      expect(await frontier.push(batch, 'links')).toEqual({ accepted: 2, duplicates: 1 });
      await commit(frontier, await takeOne(frontier), undefined, { requests: [request('a'), request('c')] });
      expect(await frontier.push(batch, 'links')).toEqual({ accepted: 0, duplicates: 3 });
      expect(await frontier.snapshot()).toMatchObject({ accepted: 3, seen: 3 });
      expect(await frontier.inspect(request('a'))).toMatchObject({ state: 'seen', seen: true });
      expect(await frontier.inspect(request('z'))).toMatchObject({ state: 'unknown', seen: false });
    }),
  );

  it(
    'takes a seed whatever it has seen, and counts it once; filtered seeds it judges',
    inCrawl(async (crawl) => {
      const { frontier } = await crawl.node();
      await frontier.push([request('a')], 'seeds');
      await commit(frontier, await takeOne(frontier));
      expect(await frontier.push([request('a')], 'seeds-judged')).toEqual({ accepted: 0, duplicates: 1 });
      expect(await frontier.push([request('a')], 'seeds')).toEqual({ accepted: 1, duplicates: 0 });
      expect(await frontier.snapshot()).toMatchObject({ accepted: 2, seen: 1 });
    }),
  );

  it(
    'is neither asked nor told of a request with dontFilter',
    inCrawl(async (crawl) => {
      const frontier = await crawl.outsider();
      const one = request('a', { dontFilter: true, ordinal: 1 });
      expect(await frontier.push([one], 'links')).toEqual({ accepted: 1, duplicates: 0 });
      expect((await frontier.snapshot()).seen).toBe(0);
      expect(await frontier.push([request('a')], 'links')).toEqual({ accepted: 1, duplicates: 0 });
      const two = request('a', { dontFilter: true, ordinal: 2 });
      expect(await frontier.push([two], 'links')).toEqual({ accepted: 1, duplicates: 0 });
      expect((await frontier.snapshot()).seen).toBe(1);
    }),
  );

  it(
    'remembers thousands, over nodes that come and go, and says how many and at what size',
    inCrawl(async (crawl) => {
      const { frontier } = await crawl.node();
      expect(await pushAll(frontier, 3_000)).toEqual({ accepted: 3_000, duplicates: 0 });
      const before = await frontier.snapshot();
      expect(before.seen).toBe(3_000);
      expect(before.bytes.dupefilter).toBeGreaterThan(1_000);
      await frontier.leave('shutdown');
      const next = await crawl.node();
      expect(next.joined.found.seen).toBe(3_000);
      expect(await pushAll(next.frontier, 3_000)).toEqual({ accepted: 0, duplicates: 3_000 });
      expect(await next.frontier.count()).toMatchObject({ dupefilter: 3_000 });
    }),
  );

  it(
    'is emptied alone, and begins anew with nothing of the old',
    inCrawl(async (crawl) => {
      const frontier = await crawl.outsider();
      await pushAll(frontier, 1_500, 'old');
      await frontier.clear(['dupefilter'], { force: false });
      expect(await frontier.snapshot()).toMatchObject({ seen: 0, pending: 1_500, bytes: { dupefilter: 0 } });
      expect(await pushAll(frontier, 1_500, 'new')).toEqual({ accepted: 1_500, duplicates: 0 });
      expect(await frontier.inspect(request('old-1'))).toMatchObject({ state: 'pending', seen: false });
      expect(await frontier.snapshot()).toMatchObject({ seen: 1_500, pending: 3_000 });
    }),
  );

  it(
    'stays when the queue is cleared, and goes with all of the crawl',
    inCrawl(async (crawl) => {
      const frontier = await crawl.outsider();
      await pushAll(frontier, 1_500);
      await frontier.clear(['queue'], { force: false });
      expect(await frontier.snapshot()).toMatchObject({ seen: 1_500, pending: 0 });
      expect(await pushAll(frontier, 1_500)).toEqual({ accepted: 0, duplicates: 1_500 });
      await frontier.clear(allParts, { force: false });
      expect(await frontier.snapshot()).toMatchObject({ seen: 0, bytes: { dupefilter: 0 } });
      expect(await frontier.count()).toMatchObject({ dupefilter: 0 });
      expect(await pushAll(frontier, 1_500)).toEqual({ accepted: 1_500, duplicates: 0 });
    }),
  );

  if (!classOf(dupefilter).canForget) {
    it('refuses to forget, before anything is written', inCrawl(cannotForget));
    return;
  }
  it(
    'forgets one fingerprint and no other',
    inCrawl(async (crawl) => {
      const { frontier } = await crawl.node();
      await frontier.push([request('a'), request('b')], 'links');
      for (let n = 0; n < 2; n += 1) await commit(frontier, await takeOne(frontier));
      expect(await frontier.forget(request('a').fingerprint)).toBe(true);
      expect(await frontier.forget(request('a').fingerprint)).toBe(false);
      expect(await frontier.inspect(request('a'))).toMatchObject({
        state: 'unknown',
        seen: false,
        life: null,
      });
      expect((await frontier.snapshot()).seen).toBe(1);
      expect(await frontier.push([request('a'), request('b')], 'links')).toEqual({
        accepted: 1,
        duplicates: 1,
      });
    }),
  );
}

async function cannotForget(crawl: Crawl): Promise<void> {
  const { frontier } = await crawl.node();
  await frontier.push([request('a')], 'links');
  await expect(frontier.forget(request('a').fingerprint)).rejects.toMatchObject({ code: 'cannot_forget' });
  expect(await frontier.push([request('a')], 'links')).toEqual({ accepted: 0, duplicates: 1 });
}

/** The epoch of each answer, so that a node finds out that its cache of seen links is void. */
async function isNewAfterLoss(crawl: Crawl, dupefilter: Dupefilter): Promise<void> {
  const { frontier } = await crawl.node();
  await frontier.push([request('gone'), request('good')], 'links');
  const { epoch } = await commit(frontier, await takeOne(frontier));
  const isSeen = async () => (await frontier.inspect(request('good'))).seen;
  await crawl.world.hand!.deleteRecord(request('good'));
  await until(
    () => frontier.lease(1, 0),
    ({ crawl: { lost } }) => lost === 1,
  );
  expect(await isSeen()).toBe(!classOf(dupefilter).canForget);
  const accepted = classOf(dupefilter).canForget ? 1 : 0;
  await frontier.push([request('carrier')], 'links');
  const answer = await commit(frontier, await takeOne(frontier), done, { requests: [request('good')] });
  expect(answer.epoch !== epoch).toBe(accepted === 1);
  expect(await frontier.snapshot()).toMatchObject({ pending: accepted, lost: 1 });
}

/** The instants that the store computes on its clock are those of the class' description. */
async function expiresAsDescribed(crawl: Crawl, dupefilter: Dupefilter): Promise<void> {
  const frontier = await crawl.outsider();
  const beforeMs = Date.now();
  await frontier.push([request('a')], 'links');
  const afterMs = Date.now();
  const entries = await readAll(frontier, ['dupefilter']);
  const [until] = entries.flatMap((entry) => (entry.kind === 'seen' ? (entry.untilMs ?? [null]) : []));
  const earliest = expiresAt(dupefilter, beforeMs);
  if (earliest === null) expect(until ?? null).toBeNull();
  else {
    expect(until).toBeGreaterThanOrEqual(earliest);
    expect(until).toBeLessThanOrEqual(expiresAt(dupefilter, afterMs)!);
  }
}

async function clearsWithTheCrawl(crawl: Crawl): Promise<void> {
  const [one, two] = [await crawl.node(), await crawl.node()];
  await one.frontier.push([request('a')], 'start');
  await commit(one.frontier, await takeOne(one.frontier));
  expect(await one.frontier.leave('finished')).toEqual({ last: false, cleared: false });
  expect((await two.frontier.snapshot()).seen).toBe(1);
  expect(await two.frontier.leave('finished')).toEqual({ last: true, cleared: true });
  expect(await two.frontier.snapshot()).toMatchObject({ seen: 0, bytes: { dupefilter: 0 } });
}

const otherThan = (dupefilter: Dupefilter): Dupefilter =>
  dupefilter.class === 'BloomDupeFilter'
    ? { ...dupefilter, capacity: 601 }
    : (all.find(({ class: name }) => name !== dupefilter.class) ?? dupefilter);

async function isFollowed(openWorld: () => Promise<World>, dupefilter: Dupefilter): Promise<void> {
  const crawl = new Crawl(await openWorld(), { dupefilter });
  try {
    const { frontier } = await crawl.node();
    await frontier.push([request('a')], 'links');
    await frontier.leave('shutdown');
    await frontier.clear(['dupefilter'], { force: false });
    const next = await crawl.node({ shape: { dupefilter: otherThan(dupefilter) } });
    expect(await next.frontier.push([request('a'), request('b')], 'links')).toMatchObject({
      accepted: 1,
      duplicates: 1,
    });
    expect(await next.frontier.snapshot()).toMatchObject({ seen: 1, pending: 2 });
  } finally {
    await crawl.end();
  }
}

async function isAgreedAnew(crawl: Crawl): Promise<void> {
  const { frontier } = await crawl.node();
  const shape = async () => (await frontier.snapshot()).shape;
  const agreed = await shape();
  expect(agreed).not.toBeNull();
  await frontier.push(made(2), 'links');
  const [lease, other] = await take(frontier, 2);
  await frontier.clear(['dupefilter'], { force: true });
  await frontier.settle({ ...other!, token: '0' }, done, effects({ requests: made(1, 'link') }));
  expect(await shape()).toBeNull();
  await commit(frontier, lease!);
  expect(await shape()).toEqual(agreed);
}

async function isAgreed(openWorld: () => Promise<World>, dupefilter: Dupefilter): Promise<void> {
  const other = otherThan(dupefilter);
  const crawl = new Crawl(await openWorld(), { dupefilter });
  const both = new RegExp(`${dupefilter.class}.*${other.class}`);
  const refusal = { name: 'RefusedError', code: 'shape', message: expect.stringMatching(both) };
  try {
    const frontier = await crawl.outsider();
    await frontier.push([request('a')], 'seeds');
    const stranger = async () => crawl.world.client({ dupefilter: other });
    await expect(stranger().then((client) => client.push([request('b')], 'seeds'))).rejects.toMatchObject(
      refusal,
    );
    await expect(crawl.node({ shape: { dupefilter: other } })).rejects.toMatchObject(refusal);
    const node = await crawl.node();
    await expect(stranger().then((client) => client.forget(request('a').fingerprint))).rejects.toMatchObject(
      !classOf(other).canForget ? { code: 'cannot_forget' } : refusal,
    );
    await expect(crawl.node({ shape: { dupefilter: other } })).rejects.toMatchObject(refusal);
    await expect(stranger().then((client) => client.push([request('b')], 'links'))).rejects.toMatchObject(
      refusal,
    );
    // What only looks may come with other settings: a machine without the spider's own ones.
    expect(await (await stranger()).snapshot()).toMatchObject({ seen: 1, pending: 1 });
    expect(await (await stranger()).inspect(request('a'))).toMatchObject({ seen: true });
    await node.frontier.leave('shutdown');
    await (await stranger()).clear(allParts, { force: false });
    expect(await (await stranger()).push([request('b')], 'seeds')).toEqual({ accepted: 1, duplicates: 0 });
  } finally {
    await crawl.end();
  }
}
