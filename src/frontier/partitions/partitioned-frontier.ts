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
import type { Backups } from '../backup/entry.js';
import type {
  Control,
  ConvertedSeed,
  CookieNews,
  Effects,
  FailedList,
  Feeds,
  Finding,
  Frontier,
  FrontierRequest,
  HeartbeatAnswer,
  HeartbeatReport,
  Inspection,
  IntakeAnswer,
  Joined,
  JoinOptions,
  Lease,
  LeaseAnswer,
  Left,
  NodeInfo,
  Outcome,
  Part,
  PartCounts,
  PushAnswer,
  PushKind,
  RawSeed,
  Repaired,
  SettleAnswer,
  Snapshot,
  StartClaim,
  StartPart,
  StatChange,
} from '../frontier.js';
import { RecoveredNodes } from '../recovered-nodes.js';
import type { RedisFrontier } from '../redis/redis-frontier.js';
import type { RobotsAnswer } from '../robots/robots-state.js';
import {
  mergeBreaches,
  mergeCounts,
  mergeFindings,
  mergeHeartbeats,
  mergeRepaired,
  mergeValidators,
} from './answers/merge-answers.js';
import { mergeSnapshots } from './answers/merge-snapshots.js';
import { lostFinding } from './checks/lost-partitions.js';
import { Completion } from './members/completion.js';
import { Membership, notYet } from './members/membership.js';
import { splitChanges } from './pages/custom-stats.js';
import { ofPartition } from './pages/lease-token.js';
import { PageGrants } from './pages/page-grants.js';
import { PartitionEpochs } from './pages/partition-epochs.js';
import { PartitionedLeases } from './pages/partitioned-leases.js';
import { PartitionedPushes } from './pages/partitioned-pushes.js';
import { partitionOf } from './partition-of.js';
import { PartitionedBackups } from './partitioned-backups.js';
import { PartitionedFailed } from './partitioned-failed.js';
import { PartitionedFeeds } from './partitioned-feeds.js';
import { SeedTransfers } from './seed-transfers.js';

export class PartitionedFrontier implements Frontier {
  readonly engine = 'redis';
  readonly failed: FailedList;
  readonly feeds: Feeds;
  readonly backups: Backups;
  readonly #parts: readonly RedisFrontier[];
  readonly #first: RedisFrontier;
  readonly #disconnect: () => void;
  readonly #epochs: PartitionEpochs;
  readonly #leases: PartitionedLeases;
  readonly #pushes: PartitionedPushes;
  readonly #seeds: SeedTransfers;
  readonly #completion: Completion;
  readonly #members: Membership;

  /**
   * @param parts one for each partition, in order. @param disconnect closes their connections.
   */
  constructor(parts: readonly RedisFrontier[], disconnect: () => void) {
    this.#parts = parts;
    this.#first = parts[0]!;
    this.#disconnect = disconnect;
    this.#epochs = new PartitionEpochs(parts.length);
    this.#leases = new PartitionedLeases(parts, new PageGrants(parts), this.#epochs);
    this.#pushes = new PartitionedPushes(parts, this.#leases);
    this.#seeds = new SeedTransfers(parts);
    this.#completion = new Completion(parts, this.#leases);
    this.#members = new Membership(parts, this.#leases, this.#seeds, this.#completion);
    this.failed = new PartitionedFailed(parts.map(({ failed }) => failed));
    this.feeds = new PartitionedFeeds(parts);
    this.backups = new PartitionedBackups(parts);
  }

  join(node: NodeInfo, options: JoinOptions): Promise<Joined> {
    return this.#members.join(node, options);
  }

  leave(reason: string, heardWithinMs?: number): Promise<Left> {
    return this.#members.leave(reason, heardWithinMs);
  }

  async heartbeat(incarnation: string, report: HeartbeatReport): Promise<HeartbeatAnswer> {
    return mergeHeartbeats(await this.#all((part) => part.heartbeat(incarnation, report)));
  }

  async reconcile(
    held: readonly Pick<Lease, 'id' | 'token'>[],
    graceMs: number,
  ): Promise<{ lost: string[]; returned: number }> {
    const own = held.map(ofPartition);
    const answers = await Promise.all(
      this.#parts.map((part, index) =>
        part.reconcile(
          own.filter(({ partition }) => partition === index).map(({ lease }) => lease),
          graceMs,
        ),
      ),
    );
    return {
      lost: answers.flatMap(({ lost }) => lost),
      returned: answers.reduce((sum, { returned }) => sum + returned, 0),
    };
  }

  async recover(...[onDead, onFailed]: Parameters<Frontier['recover']>): Promise<number> {
    const recovered = new RecoveredNodes();
    // Partition 0 first: who is dead there is dead in the others too.
    for (const part of this.#parts) await part.recoverInto(recovered, onFailed);
    return recovered.report(onDead);
  }

  push(requests: readonly FrontierRequest[], kind: PushKind, part?: StartPart): Promise<PushAnswer> {
    return this.#pushes.push(requests, kind, part);
  }

  claimStart(): Promise<StartClaim> {
    return this.#first.claimStart();
  }

  async claimIdle(): Promise<boolean> {
    throw notYet('hooks for an idle crawl');
  }

  async endIdle(): Promise<void> {
    throw notYet('hooks for an idle crawl');
  }

  async lease(max: number, holding: number, cookies?: number): Promise<LeaseAnswer> {
    this.#requireJoined();
    const answer = await this.#leaseAfterSettles(max, holding, cookies);
    if ((this.#leases.stateOf(0)?.transfers ?? 0) > 0) await this.#seeds.deliver();
    const crawl = await this.#completion.judge(answer.crawl, answer.leases.length > 0, holding);
    return { ...answer, crawl };
  }

  /**
   * A page's settle is issued after its links in other partitions have arrived. Until then it keeps its suspect, its place in its
   * domain and its links in its own partition from a lease. Where there is nothing else to lease, that lease waits for it.
   */
  async #leaseAfterSettles(max: number, holding: number, cookies?: number): Promise<LeaseAnswer> {
    const { areSettlesWaiting } = this.#pushes;
    const answer = await this.#leases.lease(max, holding, cookies);
    if (max === 0 || answer.leases.length > 0 || !areSettlesWaiting) return answer;
    await this.#pushes.settlesIssued();
    return this.#leases.lease(max, holding, cookies);
  }

  async settle(lease: Lease, outcome: Outcome, effects: Effects): Promise<SettleAnswer> {
    return this.#pushes.settle(lease, outcome, effects, this.#epochs);
  }

  cookies(since: number, readAnewAt?: number): Promise<CookieNews | null> {
    return this.#first.cookies(since, readAnewAt);
  }

  /** A fingerprint does not tell its partition. */
  async validators(fingerprints: readonly string[]): Promise<(string | null)[]> {
    return mergeValidators(fingerprints, await this.#all((part) => part.validators(fingerprints)));
  }

  async defer(lease: Lease): Promise<number | null> {
    const { partition, lease: own } = ofPartition(lease);
    return this.#parts[partition]?.defer(own) ?? null;
  }

  peekSeeds(max: number): Promise<readonly RawSeed[]> {
    return this.#first.peekSeeds(max);
  }

  async intake(batch: readonly ConvertedSeed[]): Promise<IntakeAnswer> {
    const answer = await this.#seeds.intake(batch);
    for (const partition of this.#parts.keys()) this.#leases.wake(partition);
    return answer;
  }

  badSeeds(from: number, max: number): Promise<readonly string[]> {
    return this.#first.badSeeds(from, max);
  }

  appendSeeds(values: readonly string[]): Promise<number> {
    return this.#first.appendSeeds(values);
  }

  throttle(...[domain, change]: Parameters<Frontier['throttle']>): Promise<void> {
    return this.#of(domain).throttle(domain, change);
  }

  takeInstant(domain: string, withinMs: number): Promise<number | null> {
    return this.#of(domain).takeInstant(domain, withinMs);
  }

  robots(...[origin, domain, isFetching]: Parameters<Frontier['robots']>): Promise<RobotsAnswer> {
    return this.#of(domain).robots(origin, domain, isFetching);
  }

  storeRobots(...[claim, result, stats]: Parameters<Frontier['storeRobots']>): Promise<boolean> {
    return this.#of(claim.domain).storeRobots(claim, result, stats);
  }

  async addStats(changes: readonly StatChange[]): Promise<void> {
    const { set, counted } = splitChanges(changes);
    await this.#first.addStats([...set, ...counted]);
  }

  async control(state: Control): Promise<void> {
    await this.#all((part) => part.control(state));
  }

  async closeRun(reason: string): Promise<void> {
    await this.#all((part) => part.closeRun(reason));
  }

  async snapshot(): Promise<Snapshot> {
    return mergeSnapshots(await this.#all((part) => part.snapshot()));
  }

  /** A request whose domain is not known for sure may be in another partition. */
  async inspect(request: FrontierRequest): Promise<Inspection> {
    const own = await this.#of(request.domain).inspect(request);
    if (own.state !== 'unknown') return own;
    const all = await this.#all((part) => part.inspect(request));
    return all.find(({ state }) => state !== 'unknown') ?? own;
  }

  /** The same fingerprint may be that of requests in several domains. */
  async forget(fingerprint: string): Promise<boolean> {
    const were = await this.#all((part) => part.forget(fingerprint));
    if (!were.includes(true)) return false;
    await Promise.all(
      this.#parts.map(({ partition }, index) => (were[index] ? undefined : partition.raiseEpoch())),
    );
    return true;
  }

  async count(): Promise<PartCounts> {
    return mergeCounts(await this.#all((part) => part.count()));
  }

  /** Partition 0 first: it refuses while nodes live. */
  async clear(parts: readonly Part[], options: { readonly force: boolean }): Promise<void> {
    await this.#first.clear(parts, options);
    for (const part of this.#parts.slice(1)) await part.clear(parts, options);
  }

  async examine(): Promise<readonly Finding[]> {
    const found = mergeFindings(
      await this.#each((part) => part.examine()),
      this.#parts.map(({ partition }) => partition.place),
    );
    const lost = await lostFinding(this.#parts);
    return lost === null ? found : [...found, lost];
  }

  async repair(...[read, options]: Parameters<Frontier['repair']>): Promise<Repaired> {
    return mergeRepaired(await this.#each((part) => part.repair(read, options)));
  }

  async verify(): Promise<readonly string[]> {
    return mergeBreaches(await this.#each((part) => part.verify()));
  }

  async close(): Promise<void> {
    await this.#all((part) => part.close());
    this.#disconnect();
  }

  #all<T>(ask: (part: RedisFrontier) => Promise<T>): Promise<T[]> {
    return Promise.all(this.#parts.map(ask));
  }

  /** One after the other: these read with MULTI, and partitions share connections. */
  async #each<T>(read: (part: RedisFrontier) => Promise<T>): Promise<T[]> {
    const answers: T[] = [];
    for (const part of this.#parts) answers.push(await read(part));
    return answers;
  }

  #of(domain: string): RedisFrontier {
    return this.#parts[partitionOf(domain, this.#parts.length)]!;
  }

  #requireJoined(): void {
    if (!this.#members.isJoined) throw new IncarnationDeadError('this client has not joined the crawl');
  }
}
