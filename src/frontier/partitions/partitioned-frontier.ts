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
import { randomBytes } from 'node:crypto';
import { IncarnationDeadError, RefusedError } from '../../errors.js';
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
import { lostFinding, refuseLost } from './checks/lost-partitions.js';
import { Completion } from './completion.js';
import { splitChanges } from './custom-stats.js';
import { ofPartition } from './lease-token.js';
import { mergeSnapshots } from './merge-snapshots.js';
import { PageGrants } from './page-grants.js';
import { PartitionEpochs } from './partition-epochs.js';
import { partitionOf } from './partition-of.js';
import { PartitionedBackups } from './partitioned-backups.js';
import { PartitionedFailed } from './partitioned-failed.js';
import { PartitionedFeeds } from './partitioned-feeds.js';
import { PartitionedLeases } from './partitioned-leases.js';
import { PartitionedPushes } from './partitioned-pushes.js';
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
  #persist = true;
  /** Partitions that a leave has yet to deregister from. */
  #joined: Set<number> = new Set();

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
    this.failed = new PartitionedFailed(parts.map(({ failed }) => failed));
    this.feeds = new PartitionedFeeds(parts);
    this.backups = new PartitionedBackups(parts);
  }

  async join(node: NodeInfo, options: JoinOptions): Promise<Joined> {
    if (options.hasIdle)
      throw notYet('hooks for an idle crawl (idle() of a spider, spiderIdle of an extension)');
    // A node that joins again is told so by its partitions.
    if (!options.flushOnStart && this.#first.partition.crawlId === '') await refuseLost(this.#parts);
    const incarnation = `${node.id}:${randomBytes(6).toString('hex')}`;
    const joined = await this.#first.partition.join(node, options, incarnation);
    if (joined.justClosed !== null) return joined;
    this.#joined.add(0);
    try {
      this.#persist = options.shape.persist;
      this.#leases.begin(joined.run);
      // The budgets of the run, which may be those of another node.
      const { part } = await this.#first.leasePart(0, 0);
      const budgets = { ...part.budgets, maxRunMs: 0 };
      const follows = { crawl: this.#first.partition.crawlId, run: joined.run };
      const others = await Promise.all(
        this.#parts.slice(1).map(async ({ partition }, n) => {
          const own = { ...options, budgets, hasStart: false };
          const found = await partition.join(node, own, incarnation, follows);
          this.#joined.add(n + 1);
          return found;
        }),
      );
      await this.#leases.look(0);
      if (part.transfers > 0) await this.#seeds.deliver();
      const all = [joined, ...others];
      return {
        ...joined,
        found: sumFound(all),
        notices: [...new Set(all.flatMap(({ notices }) => notices))],
      };
    } catch (error) {
      await this.#leaveAll('error', true).catch(() => undefined);
      throw error;
    }
  }

  async leave(reason: string, heardWithinMs?: number): Promise<Left> {
    const mayClear = reason === 'finished' && !this.#persist;
    const isComplete = mayClear && (await this.#completion.isComplete());
    if (isComplete && heardWithinMs !== undefined) {
      const asked = await this.#first.partition.leave(reason, {
        persist: false,
        asksWithinMs: heardWithinMs,
      });
      if (asked.awaits !== undefined) return asked;
    }
    return this.#leaveAll(reason, !isComplete);
  }

  /** Partition 0 is left last: while a node is registered there, no other begins a run or clears the crawl. */
  async #leaveAll(reason: string, persist: boolean): Promise<Left> {
    const others = [...this.#joined].filter((index) => index > 0);
    await Promise.all(
      others.map(async (index) => {
        await this.#parts[index]!.partition.leave(reason, { persist: true });
        this.#joined.delete(index);
      }),
    );
    const of = this.#first.partition.crawlId;
    const left = await this.#first.partition.leave(reason, { persist });
    this.#joined.delete(0);
    if (left.cleared)
      await Promise.all(this.#parts.slice(1).map(({ partition }) => partition.clearComplete(of)));
    return left;
  }

  async heartbeat(incarnation: string, report: HeartbeatReport): Promise<HeartbeatAnswer> {
    const answers = await Promise.all(this.#parts.map((part) => part.heartbeat(incarnation, report)));
    if (answers.includes('gone')) return 'gone';
    return answers.includes('dead') ? 'dead' : 'alive';
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
    const answer = await this.#leases.lease(max, holding, cookies);
    if ((this.#leases.stateOf(0)?.transfers ?? 0) > 0) await this.#seeds.deliver();
    const crawl = await this.#completion.judge(answer.crawl, answer.leases.length > 0, holding);
    return { ...answer, crawl };
  }

  async settle(lease: Lease, outcome: Outcome, effects: Effects): Promise<SettleAnswer> {
    return this.#pushes.settle(lease, outcome, effects, this.#epochs);
  }

  cookies(since: number, readAnewAt?: number): Promise<CookieNews | null> {
    return this.#first.cookies(since, readAnewAt);
  }

  /** A fingerprint does not tell its partition. */
  async validators(fingerprints: readonly string[]): Promise<(string | null)[]> {
    const found = await Promise.all(this.#parts.map((part) => part.validators(fingerprints)));
    return fingerprints.map(
      (_, n) => found.map((texts) => texts[n] ?? null).find((text) => text !== null) ?? null,
    );
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
    await Promise.all(this.#parts.map((part) => part.control(state)));
  }

  async closeRun(reason: string): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.closeRun(reason)));
  }

  async snapshot(): Promise<Snapshot> {
    return mergeSnapshots(await Promise.all(this.#parts.map((part) => part.snapshot())));
  }

  /** A request whose domain is not known for sure may be in another partition. */
  async inspect(request: FrontierRequest): Promise<Inspection> {
    const own = await this.#of(request.domain).inspect(request);
    if (own.state !== 'unknown') return own;
    const all = await Promise.all(this.#parts.map((part) => part.inspect(request)));
    return all.find(({ state }) => state !== 'unknown') ?? own;
  }

  /** The same fingerprint may be that of requests in several domains. */
  async forget(fingerprint: string): Promise<boolean> {
    const were = await Promise.all(this.#parts.map((part) => part.forget(fingerprint)));
    if (!were.includes(true)) return false;
    await Promise.all(
      this.#parts.map(({ partition }, index) => (were[index] ? undefined : partition.raiseEpoch())),
    );
    return true;
  }

  async count(): Promise<PartCounts> {
    const counts = await Promise.all(this.#parts.map((part) => part.count()));
    const [first] = counts as [PartCounts];
    const sum = (part: Part) => counts.reduce((total, found) => total + found[part], 0);
    const names = Object.keys(first) as Part[];
    return Object.fromEntries(names.map((part) => [part, sum(part)])) as Record<Part, number>;
  }

  /** Partition 0 first: it refuses while nodes live. */
  async clear(parts: readonly Part[], options: { readonly force: boolean }): Promise<void> {
    await this.#first.clear(parts, options);
    for (const part of this.#parts.slice(1)) await part.clear(parts, options);
  }

  async examine(): Promise<readonly Finding[]> {
    const found = await this.#each((part) => part.examine());
    const all = found.flatMap((findings, index) =>
      findings.map((finding) =>
        finding.about === 'store'
          ? finding
          : { ...finding, message: `partition ${index}: ${finding.message}` },
      ),
    );
    const lost = await lostFinding(this.#parts);
    if (lost !== null) all.push(lost);
    const texts = new Set<string>();
    return all.filter(({ check, message }) => {
      const text = `${check} ${message}`;
      return texts.has(text) ? false : texts.add(text);
    });
  }

  async repair(...[read, options]: Parameters<Frontier['repair']>): Promise<Repaired> {
    const total = { pending: 0, delayed: 0, failed: 0 };
    for (const part of this.#parts) {
      const { pending, delayed, failed } = await part.repair(read, options);
      total.pending += pending;
      total.delayed += delayed;
      total.failed += failed;
    }
    return total;
  }

  async verify(): Promise<readonly string[]> {
    const breaches = await this.#each((part) => part.verify());
    return breaches.flatMap((found, index) => found.map((breach) => `partition ${index}: ${breach}`));
  }

  async close(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.close()));
    this.#disconnect();
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
    if (this.#joined.size === 0) throw new IncarnationDeadError('this client has not joined the crawl');
  }
}

function sumFound(all: readonly Joined[]): Joined['found'] {
  const sum = (of: (found: Joined['found']) => number) =>
    all.reduce((total, { found }) => total + of(found), 0);
  return {
    pending: sum(({ pending }) => pending),
    delayed: sum(({ delayed }) => delayed),
    leased: sum(({ leased }) => leased),
    seen: sum(({ seen }) => seen),
    lost: sum(({ lost }) => lost),
    nodes: all[0]?.found.nodes ?? 0,
  };
}

function notYet(what: string): RefusedError {
  return new RefusedError(
    `${what} cannot be used with SCHEDULER_PARTITIONS yet: crawl with SCHEDULER_PARTITIONS: 1`,
    {
      code: 'partitions',
    },
  );
}
