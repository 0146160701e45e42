/**
 * The frontier in Redis: every verb is one call of one function (`lua/`), sent again with the same number when its
 * reply is lost, so that it happens once. Ids travel as 20 raw bytes and are hex on this side.
 */
import type { Backups } from '../backup/entry.js';
import { loadedOnUse } from '../backup/loaded-on-use.js';
import type {
  Control,
  ConvertedSeed,
  CookieNews,
  Effects,
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
import type { OpenOptions, RedisAddress } from '../open-options.js';
import { RecoveredNodes } from '../recovered-nodes.js';
import { cannotForget } from '../refusals.js';
import type { RobotsAnswer } from '../robots/robots-state.js';
import { startKey } from '../shared-settings/run-arguments.js';
import { clearParts, sweep } from './clear.js';
import { type Call, Calls } from './connection/calls.js';
import { RedisConnection } from './connection/connection.js';
import { OtherServer } from './connection/errors.js';
import { EvictionWatch } from './connection/eviction-watch.js';
import type { Arguments } from './connection/lua-message.js';
import { hex, int, list, type NamedReply, named, type Reply, text } from './connection/reply.js';
import { readCookieNews } from './cookies/cookie-reply.js';
import type { CrawlAccess, NewMeta } from './crawl-access.js';
import { refuseOtherFormat, refuseUnsafeStore } from './doctor/preflight.js';
import { newEpoch, startField } from './join.js';
import { LeaseCalls } from './leases/lease-calls.js';
import { leaseCallOf, readLeases } from './leases/lease-reply.js';
import { type Judged, readJudged, readPushed, settleMessage } from './leases/settle-message.js';
import { type PartLeases, readPartState } from './partitions/part-state.js';
import type { PartitionAccess, StartShare } from './partitions/partition-access.js';
import { countParts, takeSnapshot } from './read/snapshot.js';
import { RedisFailed } from './redis-failed.js';
import { RedisFeeds } from './redis-feeds.js';
import { type JoinAs, type LeaveHow, RedisNode } from './redis-node.js';
import { RedisRobots } from './redis-robots.js';
import { RedisSeeds } from './redis-seeds.js';
import { columnsOf, domainName, markOf } from './request-columns.js';
import { statArguments } from './stored-stats.js';

/** Leases moved by one step of recovery: some hundred microseconds. */
const RECOVERY_STEP = 100;

export class RedisFrontier implements Frontier {
  readonly engine = 'redis';
  readonly failed: RedisFailed;
  readonly feeds: RedisFeeds;
  readonly backups: Backups;
  /** For `frontier/partitions/`; unused in a crawl of one. */
  readonly partition: PartitionAccess;
  readonly #connection: RedisConnection;
  readonly #isShared: boolean;
  readonly #options: OpenOptions;
  readonly #calls: Calls;
  readonly #crawl: CrawlAccess;
  readonly #node: RedisNode;
  readonly #seeds: RedisSeeds;
  readonly #robots: RedisRobots;
  readonly #leaseCalls: LeaseCalls;
  readonly #eviction: EvictionWatch | null;

  static async open(options: OpenOptions, address: RedisAddress): Promise<RedisFrontier> {
    const connection = await RedisConnection.open(address, options.connectTimeoutMs, options.waitReplicas);
    try {
      await refuseUnsafeStore(connection, options);
      return new RedisFrontier(connection, options);
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /** A frontier on a connection that it shares with others, and does not close. @throws as `open`. */
  static async on(connection: RedisConnection, options: OpenOptions): Promise<RedisFrontier> {
    await refuseUnsafeStore(connection, options);
    return new RedisFrontier(connection, options, true);
  }

  private constructor(connection: RedisConnection, options: OpenOptions, isShared = false) {
    this.#isShared = isShared;
    this.#connection = connection;
    this.#options = options;
    this.#calls = new Calls(connection, options.keys, options.shape.dupefilter);
    const call: Call = (verb, args) => this.#run(verb, args);
    this.#eviction = options.allowEviction ? null : EvictionWatch.of(connection);
    this.#node = new RedisNode(connection, options, this.#calls, call);
    this.#leaseCalls = new LeaseCalls(this.#calls, () => this.#node.options?.feeds ?? []);
    this.#crawl = {
      ...{ connection, options, call },
      forNewMeta: () => this.#forNewMeta(),
      dupefilter: () => this.#calls.dupefilter,
    };
    this.failed = new RedisFailed(this.#crawl);
    this.feeds = new RedisFeeds(this.#crawl);
    this.backups = loadedOnUse(async () => {
      const { redisBackups } = await import('./backup/backups.js');
      return redisBackups(this.#crawl, this.failed);
    });
    this.#seeds = new RedisSeeds(this.#crawl);
    this.partition = { crawl: this.#crawl, node: this.#node, calls: this.#calls };
    this.#robots = new RedisRobots(call, () => this.#node.crawl);
  }

  /** @param as of a partition. */
  async join(node: NodeInfo, options: JoinOptions, as?: JoinAs): Promise<Joined> {
    const joined = await this.#node.join(node, options, as);
    if (joined.justClosed === null) await sweep(this.#crawl.call);
    return joined;
  }

  /** @param how of a partition. */
  async leave(reason: string, heardWithinMs?: number, how?: LeaveHow): Promise<Left> {
    const left = await this.#node.leave(reason, heardWithinMs, how);
    if (left.cleared) await sweep(this.#crawl.call);
    return left;
  }

  async heartbeat(incarnation: string, { pagesPerSecond }: HeartbeatReport): Promise<HeartbeatAnswer> {
    const rounded = Math.round(pagesPerSecond * 100) / 100;
    return text(await this.#run('heartbeat', { incarnation, pagesPerSecond: rounded })) as HeartbeatAnswer;
  }

  reconcile(
    held: readonly Pick<Lease, 'id' | 'token'>[],
    graceMs: number,
  ): Promise<{ lost: string[]; returned: number }> {
    return this.#node.reconcile(held, graceMs);
  }

  async recover(...[onDead, onFailed]: Parameters<Frontier['recover']>): Promise<number> {
    const recovered = new RecoveredNodes();
    await this.recoverInto(recovered, onFailed);
    return recovered.report(onDead);
  }

  /** As `recover`, of a partition: incarnations that were handled in another one are dead here too. */
  async recoverInto(recovered: RecoveredNodes, onFailed: Parameters<Frontier['recover']>[1]): Promise<void> {
    const dead = recovered.incarnations as string[];
    for (;;) {
      const answer = named(await this.#run('recover', { most: RECOVERY_STEP, dead }));
      const counts = list(answer.counts).map(int);
      for (const [n, incarnation] of list(answer.incarnations).map(text).entries()) {
        recovered.add(incarnation, text(list(answer.nodes)[n]), counts[n] ?? 0);
      }
      for (const [n, id] of list(answer.failed).map(hex).entries()) {
        const record = text(list(answer.records)[n]) || null;
        onFailed?.({ id, record, crashes: int(list(answer.crashes)[n]) });
      }
      if (int(answer.moved) === 0 || int(answer.dead) === 0) return;
    }
  }

  async push(requests: readonly FrontierRequest[], kind: PushKind, part?: StartPart): Promise<PushAnswer> {
    return readPushed(await this.#push(requests, kind, part));
  }

  /** As `push`, of a partition. */
  async pushPart(requests: readonly FrontierRequest[], kind: PushKind, share?: StartShare): Promise<Judged> {
    return readJudged(await this.#push(requests, kind, share));
  }

  async #push(
    requests: readonly FrontierRequest[],
    kind: PushKind,
    { key = '', total, ...place }: StartPart | StartShare = { from: 0, total: requests.length },
  ): Promise<NamedReply> {
    const args = { kind, ...place, total: total ?? undefined, start: startField(key), ...this.#forNewMeta() };
    return named(await this.#run('push', { ...args, requests: columnsOf(requests, this.#calls.dupefilter) }));
  }

  async claimStart(): Promise<StartClaim> {
    await this.#node.live();
    const start = startField(startKey(this.#node.options?.args ?? {}));
    return text(await this.#run('claim_start', { start, crawl: this.#node.crawl })) as StartClaim;
  }

  async claimIdle(againAfterMs: number | null): Promise<boolean> {
    await this.#node.live();
    const args = { crawl: this.#node.crawl, againAfterMs: againAfterMs ?? undefined };
    return int(await this.#run('ask_idle', args)) === 1;
  }

  async endIdle(): Promise<void> {
    await this.#node.live();
    await this.#run('ask_idle', { crawl: this.#node.crawl, ended: true });
  }

  async lease(max: number, holding: number, cookies?: number): Promise<LeaseAnswer> {
    return readLeases(await this.#lease({ max, holding, cookies }));
  }

  /** As `lease`, of a partition: with its state. */
  async leasePart(max: number, holding: number, cookies?: number): Promise<PartLeases> {
    const reply = await this.#lease({ max, holding, cookies, part: 1 });
    return { ...readLeases(reply), part: readPartState(reply) };
  }

  async #lease(args: Arguments): Promise<Reply> {
    await this.#node.live();
    this.#eviction?.refuse();
    const { crawl, server } = this.#node;
    try {
      return await this.#leaseCalls.lease({ ...args, random: Math.random(), crawl, server });
    } catch (error) {
      if (!(error instanceof OtherServer)) throw error;
      this.#node.suspectServer();
      return this.#lease(args);
    }
  }

  /** @param jarsAt of a partition: version of the cookies that the requests depend on. */
  async settle(lease: Lease, outcome: Outcome, effects: Effects, jarsAt?: number): Promise<SettleAnswer> {
    const { feeds = [], maxCookieJars } = this.#node.options ?? {};
    const { caller: node, dupefilter } = this.#calls;
    const sender = { hasFeeds: feeds.length > 0, maxCookieJars, node, dupefilter, jarsAt };
    return this.#leaseCalls.settle(settleMessage(lease, outcome, effects, sender));
  }

  async cookies(since: number, readAnewAt?: number): Promise<CookieNews | null> {
    return readCookieNews(await this.#run('cookies', { known: since, anewAt: readAnewAt }));
  }

  /** Not in order with settles: a page is leased after the settle of its last download. */
  async validators(fingerprints: readonly string[]): Promise<(string | null)[]> {
    if (fingerprints.length === 0) return [];
    const raw = fingerprints.map((fingerprint) => Buffer.from(fingerprint, 'hex'));
    const found = list(await this.#calls.run('validators', { fingerprints: raw }));
    return found.map((value) => text(value) || null);
  }

  async defer(lease: Lease): Promise<number | null> {
    await this.#node.live();
    const args = { id: Buffer.from(lease.id, 'hex'), number: leaseCallOf(lease), random: Math.random() };
    const waitMs = int(await this.#run('defer', { ...args, crawl: this.#node.crawl }));
    return waitMs < 0 ? null : waitMs;
  }

  peekSeeds(max: number): Promise<RawSeed[]> {
    return this.#seeds.peek(max);
  }

  intake(batch: readonly ConvertedSeed[]): Promise<IntakeAnswer> {
    return this.#seeds.intake(batch);
  }

  badSeeds(from: number, max: number): Promise<string[]> {
    return this.#seeds.bad(from, max);
  }

  appendSeeds(values: readonly string[]): Promise<number> {
    return this.#seeds.append(values);
  }

  async throttle(
    domain: string,
    change: { delayMs?: number; forMs?: number; source: string },
  ): Promise<void> {
    await this.#run('throttle', { domain: domainName(domain), ...change });
  }

  takeInstant(domain: string, withinMs: number): Promise<number | null> {
    return this.#robots.takeInstant(domain, withinMs);
  }

  async robots(...request: Parameters<Frontier['robots']>): Promise<RobotsAnswer> {
    await this.#node.live();
    return this.#robots.ask(...request);
  }

  async storeRobots(...[claim, result, stats]: Parameters<Frontier['storeRobots']>): Promise<boolean> {
    this.#node.joined();
    return this.#robots.store(claim, result, stats);
  }

  async addStats(changes: readonly StatChange[]): Promise<void> {
    await this.#run('add_stats', { changes: statArguments(changes) });
  }

  async control(state: Control): Promise<void> {
    await this.#run('control', { control: state });
  }

  async closeRun(reason: string): Promise<void> {
    await this.#run('control', { closing: reason });
  }

  snapshot(): Promise<Snapshot> {
    const { keys, acceptForeignKeys } = this.#options;
    return this.#connection.patiently(async (client) => {
      if (acceptForeignKeys === true) await refuseOtherFormat(client, keys);
      return takeSnapshot(client, keys);
    });
  }

  async inspect(request: FrontierRequest): Promise<Inspection> {
    const { inspectRequest } = await import('./read/inspect.js');
    return inspectRequest(this.#crawl, request);
  }

  async forget(fingerprint: string): Promise<boolean> {
    if (this.#calls.dupefilter.class === 'BloomDupeFilter') throw cannotForget();
    return int(await this.#run('forget', { mark: markOf(fingerprint, this.#calls.dupefilter) })) === 1;
  }

  count(): Promise<PartCounts> {
    return this.#connection.patiently((client) => countParts(client, this.#options.keys));
  }

  clear(parts: readonly Part[], { force }: { force: boolean }): Promise<void> {
    return clearParts(this.#crawl, parts, force);
  }

  async examine(): Promise<Finding[]> {
    const { examineRedis } = await import('./doctor/examine/examine.js');
    return this.#connection.patiently((client) => examineRedis(client, this.#options));
  }

  async repair(read: Parameters<Frontier['repair']>[0], { force }: { force: boolean }): Promise<Repaired> {
    const { repairRedis } = await import('./doctor/repair.js');
    return repairRedis(this.#crawl, read, force);
  }

  async verify(): Promise<string[]> {
    const { verifyInvariants } = await import('./doctor/verify.js');
    return verifyInvariants(this.#crawl);
  }

  async close(): Promise<void> {
    this.#leaseCalls.flush();
    await this.#calls.forgetAnswers();
    if (!this.#isShared) this.#connection.close();
  }

  /** A node that has joined makes no meta (no epoch): it would hide that the crawl is gone. */
  #forNewMeta(): NewMeta {
    const { queueClass } = this.#node.options?.shape ?? this.#options.shape;
    const epoch = this.#node.isJoined ? undefined : newEpoch();
    return { queueClass, epoch, partition: this.#options.partition };
  }

  /** Settles that wait go first. */
  #run(verb: string, args: Arguments): Promise<Reply> {
    this.#leaseCalls.flush();
    return this.#calls.run(verb, args);
  }
}
