/**
 * The frontier in Redis: every verb is one call of one function (`lua/`), sent again with the same number when its
 * reply is lost, so that it happens once. Ids travel as 20 raw bytes and are hex on this side.
 */
import { IncarnationDeadError } from '../../errors.js';
import type { Backups } from '../backup-entry.js';
import { dataFormats } from '../data-format.js';
import type {
  Control,
  ConvertedSeed,
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
  StartPart,
} from '../frontier.js';
import { nodesAtWork } from '../nodes-at-work.js';
import type { OpenOptions, RedisAddress } from '../open.js';
import { cannotForget } from '../shape.js';
import { redisBackups } from './backup/backups.js';
import { type Call, Calls } from './calls.js';
import { examineRedis } from './care/examine/examine.js';
import { foundFormat, refuseOtherFormat, refuseUnsafeStore } from './care/preflight.js';
import { repairRedis } from './care/repair.js';
import { verifyInvariants } from './care/verify.js';
import { RedisConnection } from './connection.js';
import { DataHistory } from './data-history.js';
import { joinArguments, newEpoch, newIncarnation, readJoined } from './joining.js';
import { givenBy, readLeases } from './leases.js';
import type { Arguments } from './lua-message.js';
import { needlessPasswordNotice } from './needless-password.js';
import { RedisFailed } from './redis-failed.js';
import { RedisFeeds } from './redis-feeds.js';
import { countParts, inspectRequest, takeSnapshot } from './redis-reading.js';
import { RedisSeeds } from './redis-seeds.js';
import { hex, int, list, named, type Reply, text } from './reply.js';
import { columnsOf, domainName, markOf } from './requests.js';
import { literally, scanKeys } from './scan-keys.js';
import { readPushed, settleMessage } from './settle-message.js';
import { Turns } from './turns.js';

/** Leases moved by one step of recovery: a script of some hundred microseconds. */
const RECOVERY_STEP = 100;

/** Keys unlinked by one step of sweeping: some 2 ms. */
const SWEEP_STEP = 2_000;

export class RedisFrontier implements Frontier {
  readonly engine = 'redis';
  readonly failed: RedisFailed;
  readonly feeds: RedisFeeds;
  readonly backups: Backups;
  readonly #connection: RedisConnection;
  readonly #options: OpenOptions;
  readonly #calls: Calls;
  readonly #history: DataHistory;
  readonly #seeds: RedisSeeds;
  readonly #turns: Turns;
  #incarnation: string | null = null;
  #joinOptions: JoinOptions | null = null;
  /** Tells the crawl we joined from one of the same name after a reset; kept while a dead incarnation joins anew. */
  #crawl = '';

  static async open(options: OpenOptions, address: RedisAddress): Promise<RedisFrontier> {
    const connection = await RedisConnection.open(address, options.connectTimeoutMs);
    try {
      await refuseUnsafeStore(connection, options);
      return new RedisFrontier(connection, options);
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  private constructor(connection: RedisConnection, options: OpenOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#calls = new Calls(connection, options.keys, options.shape.dupefilter);
    this.#history = new DataHistory(connection);
    this.#turns = new Turns(this.#calls, () => this.#joinOptions?.feeds ?? []);
    const call: Call = (verb, args) => this.#run(verb, args);
    const dupefilter = () => this.#calls.dupefilter;
    this.failed = new RedisFailed(connection, options.keys, call, dupefilter);
    this.feeds = new RedisFeeds(connection, options.keys, call);
    const forNewMeta = () => this.#forNewMeta();
    this.backups = redisBackups({ connection, options, failed: this.failed, call, forNewMeta });
    this.#seeds = new RedisSeeds(connection, options, { call, forNewMeta, dupefilter });
  }

  async join(node: NodeInfo, options: JoinOptions): Promise<Joined> {
    if (this.#incarnation !== null) await this.#abandon(this.#incarnation);
    await this.#history.accept();
    const incarnation = newIncarnation(node);
    this.#calls.become(incarnation);
    this.#calls.dupefilter = options.shape.dupefilter;
    const reply = await this.#run('join', joinArguments(node, options, this.#crawl));
    const password = needlessPasswordNotice(this.#connection.client);
    const { joined, crawl } = readJoined(reply, incarnation, options.shape, password);
    if (joined.justClosed !== null) {
      this.#calls.become(null);
      return joined;
    }
    this.#incarnation = incarnation;
    this.#joinOptions = options;
    this.#crawl = crawl;
    await this.#sweep();
    return joined;
  }

  async leave(reason: string, heardWithinMs?: number): Promise<Left> {
    const incarnation = this.#joined();
    const answer = named(
      await this.#run('leave', {
        ...{ incarnation, reason, crawl: this.#crawl },
        persist: this.#joinOptions?.shape.persist !== false,
        heardWithinMs: heardWithinMs === undefined ? undefined : Math.round(heardWithinMs),
      }),
    );
    if (answer.forMs != null) {
      const awaits = { incarnations: list(answer.silent).map(text), forMs: int(answer.forMs) };
      return { last: false, cleared: false, awaits };
    }
    this.#incarnation = null;
    this.#crawl = '';
    // The store kept the answer of this very call under our name; nobody will ask for it again.
    await this.#calls.forgetAnswers();
    const left = { last: int(answer.last) === 1, cleared: int(answer.cleared) === 1 };
    if (left.cleared) await this.#sweep();
    return left;
  }

  async heartbeat(incarnation: string, { pagesPerSecond }: HeartbeatReport): Promise<HeartbeatAnswer> {
    const rounded = Math.round(pagesPerSecond * 100) / 100;
    return text(await this.#run('heartbeat', { incarnation, pagesPerSecond: rounded })) as HeartbeatAnswer;
  }

  async reconcile(
    held: readonly Pick<Lease, 'id' | 'token'>[],
    graceMs: number,
  ): Promise<{ lost: string[]; returned: number }> {
    this.#joined();
    const answer = named(
      await this.#run('reconcile', {
        ...{ graceMs, crawl: this.#crawl, calls: held.map(givenBy) },
        ids: held.map(({ id }) => Buffer.from(id, 'hex')),
      }),
    );
    return { returned: int(answer.returned), lost: list(answer.lost).map(hex) };
  }

  async recover(): Promise<number> {
    let total = 0;
    for (;;) {
      const { moved, dead } = named(await this.#run('recover', { most: RECOVERY_STEP }));
      total += int(moved);
      if (int(moved) === 0 || int(dead) === 0) return total;
    }
  }

  async push(
    requests: readonly FrontierRequest[],
    kind: PushKind,
    { from, total }: StartPart = { from: 0, total: requests.length },
  ): Promise<PushAnswer> {
    const answer = await this.#run('push', {
      ...{ kind, from, total, ...this.#forNewMeta() },
      requests: columnsOf(requests, this.#calls.dupefilter),
    });
    return readPushed(named(answer));
  }

  async lease(max: number, holding: number): Promise<LeaseAnswer> {
    this.#joined();
    await this.#history.refuseOther();
    return readLeases(await this.#turns.lease({ max, holding, random: Math.random(), crawl: this.#crawl }));
  }

  async settle(lease: Lease, outcome: Outcome, effects: Effects): Promise<SettleAnswer> {
    const hasFeeds = (this.#joinOptions?.feeds ?? []).length > 0;
    const { caller: node, dupefilter } = this.#calls;
    return this.#turns.settle(settleMessage(lease, outcome, effects, { hasFeeds, node, dupefilter }));
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

  inspect(request: FrontierRequest): Promise<Inspection> {
    return inspectRequest(this.#connection, this.#options.keys, this.#calls.dupefilter, request);
  }

  async forget(fingerprint: string): Promise<boolean> {
    if (this.#calls.dupefilter.class === 'BloomDupeFilter') throw cannotForget();
    return int(await this.#run('forget', { mark: markOf(fingerprint, this.#calls.dupefilter) })) === 1;
  }

  count(): Promise<PartCounts> {
    return this.#connection.patiently((client) => countParts(client, this.#options.keys));
  }

  async clear(parts: readonly Part[], options: { force: boolean }): Promise<void> {
    const { keys } = this.#options;
    const format = await this.#connection.patiently((client) => foundFormat(client, keys));
    const { live } = named(await this.#run('clear', { force: options.force, parts }));
    if (live != null) throw nodesAtWork(int(live), 'clear');
    // Another format may have internal keys that we do not know by name.
    const isOurs = format === null || format === String(dataFormats.redis);
    if (isOurs || !parts.includes('queue')) return this.#sweep();
    for await (const names of scanKeys(this.#connection.client, `${literally(keys.requests)}:~*`)) {
      if (names.length > 0) await this.#connection.patiently((client) => client.unlink(...names));
    }
  }

  examine(): Promise<Finding[]> {
    return this.#connection.patiently((client) => examineRedis(client, this.#options));
  }

  repair(read: Parameters<Frontier['repair']>[0], { force }: { force: boolean }): Promise<Repaired> {
    const call: Call = (verb, args) => this.#calls.run(verb, args);
    return repairRedis(this.#connection, this.#options, call, read, force);
  }

  verify(): Promise<string[]> {
    return this.#connection.patiently((client) => verifyInvariants(client, this.#options.keys));
  }

  async close(): Promise<void> {
    this.#turns.flush();
    await this.#calls.forgetAnswers();
    this.#connection.close();
  }

  /** A node that has joined makes no meta (no epoch): it would hide that the crawl is gone. */
  #forNewMeta(): { queueClass: string; epoch: string | undefined } {
    const { queueClass } = this.#joinOptions?.shape ?? this.#options.shape;
    return { queueClass, epoch: this.#incarnation === null ? newEpoch() : undefined };
  }

  /** Remove what a cleared dupefilter of many keys left, a step at a time, so that the store serves others between. */
  async #sweep(): Promise<void> {
    while (int(await this.#run('sweep', { most: SWEEP_STEP })) > 0);
  }

  #joined(): string {
    if (this.#incarnation === null) throw new IncarnationDeadError('this client has not joined the crawl');
    return this.#incarnation;
  }

  /** Settles that wait go first. */
  #run(verb: string, args: Arguments): Promise<Reply> {
    this.#turns.flush();
    return this.#calls.run(verb, args);
  }

  /** Give up an incarnation whose place is taken by a new one of the same process. */
  async #abandon(incarnation: string): Promise<void> {
    this.#incarnation = null;
    await this.#run('leave', {
      incarnation,
      reason: 'rejoined',
      persist: true,
      rejoins: true,
      crawl: this.#crawl,
    });
    await this.#calls.forgetAnswers();
  }
}
