/**
 * One frontier over several partitions, each a crawl in Redis of its own (SCHEDULER_PARTITIONS). A domain is in one
 * partition, so order, politeness and deduplication of a domain are decided in one step there. What concerns several
 * partitions is done in an order that bears being cut off anywhere:
 *
 * - A page's requests and cookies for other partitions are committed before its settle. They are idempotent.
 * - Partition 0 is joined first and left last. It decides when a run begins and when the crawl is cleared, has the
 *   start_urls keys, the start requests, the cookies, the writers of feeds and the page budget.
 * - The crawl is complete when two passes over all partitions find everything empty and the same (`completion.ts`).
 */
import { IncarnationDeadError } from '../../errors.js';
import type { Frontier, LeaseAnswer } from '../frontier.js';
import { RecoveredNodes } from '../recovered-nodes.js';
import { serverOf } from '../redis/partitions/partition-access.js';
import type { RedisFrontier } from '../redis/redis-frontier.js';
import { mergeBreaches, mergeFindings, mergeHeartbeats, mergeValidators } from './answers/merge-answers.js';
import { mergeSnapshots } from './answers/merge-snapshots.js';
import { summed } from './answers/summed.js';
import { lostFinding } from './checks/lost-partitions.js';
import { judgeState } from './members/completion.js';
import { Membership, notYet } from './members/membership.js';
import { splitChanges } from './pages/custom-stats.js';
import { ofPartition } from './pages/lease-token.js';
import { PartitionEpochs } from './pages/partition-epochs.js';
import { PartitionedLeases } from './pages/partitioned-leases.js';
import { PartitionedPushes } from './pages/partitioned-pushes.js';
import { partitionOf } from './partition-of.js';
import { partitionedBackups } from './partitioned-backups.js';
import { partitionedFailed } from './partitioned-failed.js';
import { partitionedFeeds } from './partitioned-feeds.js';
import { SeedTransfers } from './seed-transfers.js';

/** @param parts one for each partition, in order. @param disconnect closes their connections. */
export function partitionedFrontier(parts: readonly RedisFrontier[], disconnect: () => void): Frontier {
  const first = parts[0]!;
  const epochs = new PartitionEpochs(parts.length);
  const leases = new PartitionedLeases(parts, epochs);
  const pushes = new PartitionedPushes(parts, leases, epochs);
  const seeds = new SeedTransfers(parts);
  const members = new Membership(parts, leases, seeds);

  const all = <T>(ask: (part: RedisFrontier) => Promise<T>): Promise<T[]> => Promise.all(parts.map(ask));
  const of = (domain: string): RedisFrontier => parts[partitionOf(domain, parts.length)]!;

  return {
    engine: 'redis',
    failed: partitionedFailed(parts.map(({ failed }) => failed)),
    feeds: partitionedFeeds(parts),
    backups: partitionedBackups(parts),

    join: (node, options) => members.join(node, options),
    leave: (reason, heardWithinMs) => members.leave(reason, heardWithinMs),
    heartbeat: async (incarnation, rate) =>
      mergeHeartbeats(await all((part) => part.heartbeat(incarnation, rate))),
    async reconcile(held, graceMs) {
      const own = held.map(ofPartition);
      const heldIn = (index: number) =>
        own.filter(({ partition }) => partition === index).map(({ lease }) => lease);
      const answers = await Promise.all(parts.map((part, index) => part.reconcile(heldIn(index), graceMs)));
      return { ...summed(answers), lost: answers.flatMap(({ lost }) => lost) };
    },
    async recover(onDead, onFailed) {
      const recovered = new RecoveredNodes();
      // Partition 0 first: who is dead there is dead in the others too.
      for (const part of parts) await part.recoverInto(recovered, onFailed);
      return recovered.report(onDead);
    },

    push: (requests, kind, part) => pushes.push(requests, kind, part),
    claimStart: () => first.claimStart(),
    async claimIdle() {
      throw notYet('hooks for an idle crawl');
    },
    async endIdle() {
      throw notYet('hooks for an idle crawl');
    },
    async lease(max, holding, cookies) {
      if (!members.isJoined) throw new IncarnationDeadError('this client has not joined the crawl');
      const answer = await leaseAfterSettles(leases, pushes, max, holding, cookies);
      if ((leases.states[0]?.transfers ?? 0) > 0) await seeds.deliver();
      const crawl = await judgeState(leases, answer.crawl, answer.leases.length > 0, holding);
      return { ...answer, crawl };
    },
    settle: (lease, outcome, effects) => pushes.settle(lease, outcome, effects),
    cookies: (since, readAnewAt) => first.cookies(since, readAnewAt),
    /** A fingerprint does not tell its partition. */
    validators: async (fingerprints) =>
      mergeValidators(fingerprints, await all((part) => part.validators(fingerprints))),
    async defer(lease) {
      const { partition, lease: own } = ofPartition(lease);
      return parts[partition]?.defer(own) ?? null;
    },

    peekSeeds: (max) => first.peekSeeds(max),
    async intake(batch) {
      const answer = await seeds.intake(batch);
      for (const partition of parts.keys()) leases.wake(partition);
      return answer;
    },
    badSeeds: (from, max) => first.badSeeds(from, max),
    appendSeeds: (values) => first.appendSeeds(values),

    throttle: (domain, change) => of(domain).throttle(domain, change),
    takeInstant: (domain, withinMs) => of(domain).takeInstant(domain, withinMs),
    robots: (origin, domain, isFetching) => of(domain).robots(origin, domain, isFetching),
    storeRobots: (claim, result, stats) => of(claim.domain).storeRobots(claim, result, stats),
    async addStats(changes) {
      const { set, counted } = splitChanges(changes);
      await first.addStats([...set, ...counted]);
    },
    async control(state) {
      await all((part) => part.control(state));
    },
    async closeRun(reason) {
      await all((part) => part.closeRun(reason));
    },
    snapshot: async () => mergeSnapshots(await all((part) => part.snapshot())),
    /** A request whose domain is not known for sure may be in another partition. */
    async inspect(request) {
      const own = await of(request.domain).inspect(request);
      if (own.state !== 'unknown') return own;
      const found = await all((part) => part.inspect(request));
      return found.find(({ state }) => state !== 'unknown') ?? own;
    },
    /** The same fingerprint may be that of requests in several domains. */
    forget: async (fingerprint) => (await all((part) => part.forget(fingerprint))).includes(true),
    count: async () => summed(await all((part) => part.count())),
    /** Partition 0 first: it refuses while nodes live. */
    async clear(cleared, options) {
      for (const part of parts) await part.clear(cleared, options);
    },
    async examine() {
      const found = await each(parts, (part) => part.examine());
      const servers = parts.map(({ partition }) => serverOf(partition));
      const lost = await lostFinding(parts);
      return [...mergeFindings(found, servers), ...(lost === null ? [] : [lost])];
    },
    repair: async (read, options) => summed(await each(parts, (part) => part.repair(read, options))),
    verify: async () => mergeBreaches(await each(parts, (part) => part.verify())),
    async close() {
      await all((part) => part.close());
      disconnect();
    },
  };
}

/**
 * A page's settle is issued after its links in other partitions have arrived. Until then it keeps its suspect, its place in its
 * domain and its links in its own partition from a lease. Where there is nothing else to lease, that lease waits for it.
 */
async function leaseAfterSettles(
  leases: PartitionedLeases,
  pushes: PartitionedPushes,
  ...[max, holding, cookies]: Parameters<Frontier['lease']>
): Promise<LeaseAnswer> {
  const { areSettlesWaiting } = pushes;
  const answer = await leases.lease(max, holding, cookies);
  if (max === 0 || answer.leases.length > 0 || !areSettlesWaiting) return answer;
  await pushes.settlesIssued();
  return leases.lease(max, holding, cookies);
}

/** One after the other: these read with MULTI, and partitions share connections. */
async function each<T>(
  parts: readonly RedisFrontier[],
  read: (part: RedisFrontier) => Promise<T>,
): Promise<T[]> {
  const answers: T[] = [];
  for (const part of parts) answers.push(await read(part));
  return answers;
}
