/**
 * The frontier in Redis: every verb is one call of one script (`lua/`), sent again with the same number when its
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
import { type Argument, packBatch, withoutNul } from './batch.js';
import type { Call } from './calls.js';
import { Calls } from './calls.js';
import { RedisConnection } from './connection.js';
import { DataHistory } from './data-history.js';
import { examineRedis } from './examine/examine.js';
import { joinArguments, newEpoch, newIncarnation, readJoined } from './joining.js';
import { givenBy, readLeases } from './leases.js';
import { needlessPasswordNotice } from './needless-password.js';
import { foundFormat, refuseOtherFormat, refuseUnsafeStore } from './preflight.js';
import { RedisBackup } from './redis-backup.js';
import { RedisFailed } from './redis-failed.js';
import { RedisFeeds } from './redis-feeds.js';
import { countParts, inspectRequest, takeSnapshot } from './redis-reading.js';
import { repairRedis } from './redis-repair.js';
import { RedisRestore } from './redis-restore.js';
import { RedisSeeds } from './redis-seeds.js';
import { verifyInvariants } from './redis-verify.js';
import { hex, int, type Reply, text } from './reply.js';
import { literally, scanKeys } from './scan-keys.js';
import type { Verb } from './scripts.js';
import { packSettle } from './settle-arguments.js';
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
    this.failed = new RedisFailed(connection, options.keys, call);
    this.feeds = new RedisFeeds(connection, options.keys, call);
    const backup = new RedisBackup(connection, options, this.failed, call);
    const restore = new RedisRestore(options, { call, forNewMeta: () => this.#forNewMeta() });
    this.backups = {
      read: (parts) => backup.read(parts),
      begin: (ticket) => restore.begin(ticket),
      apply: (id, number, entry) => restore.apply(id, number, entry),
      end: (id) => restore.end(id),
    };
    this.#seeds = new RedisSeeds(connection, options, {
      call,
      forNewMeta: () => this.#forNewMeta(),
    });
  }

  async join(node: NodeInfo, options: JoinOptions): Promise<Joined> {
    if (this.#incarnation !== null) await this.#abandon(this.#incarnation);
    await this.#history.accept();
    const incarnation = newIncarnation(node);
    this.#calls.become(incarnation);
    this.#calls.dupefilter = options.shape.dupefilter;
    const reply = await this.#run('join', joinArguments(incarnation, node, options, this.#crawl));
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
    const [last, cleared, forMs, ...silent] = (await this.#run('leave', [
      incarnation,
      reason,
      this.#joinOptions?.shape.persist === false ? 0 : 1,
      0,
      this.#crawl,
      heardWithinMs === undefined ? '' : Math.round(heardWithinMs),
    ])) as Reply[];
    if (forMs !== undefined) {
      return { last: false, cleared: false, awaits: { incarnations: silent.map(text), forMs: int(forMs) } };
    }
    this.#incarnation = null;
    this.#crawl = '';
    // The store kept the answer of this very call under our name; nobody will ask for it again.
    await this.#calls.forgetAnswers();
    if (int(cleared) === 1) await this.#sweep();
    return { last: int(last) === 1, cleared: int(cleared) === 1 };
  }

  async heartbeat(incarnation: string, report: HeartbeatReport): Promise<HeartbeatAnswer> {
    return text(
      await this.#run('heartbeat', [incarnation, report.pagesPerSecond.toFixed(2)]),
    ) as HeartbeatAnswer;
  }

  async reconcile(
    held: readonly Pick<Lease, 'id' | 'token'>[],
    graceMs: number,
  ): Promise<{ lost: string[]; returned: number }> {
    this.#joined();
    const ids = Buffer.from(held.map(({ id }) => id).join(''), 'hex');
    const calls = held.map(givenBy);
    const [returned, ...lost] = (await this.#run('reconcile', [
      graceMs,
      ids,
      this.#crawl,
      ...calls,
    ])) as Reply[];
    return { returned: int(returned), lost: lost.map(hex) };
  }

  async recover(): Promise<number> {
    let total = 0;
    for (;;) {
      const [moved, deadLeft] = (await this.#run('recover', [RECOVERY_STEP])) as Reply[];
      total += int(moved);
      if (int(moved) === 0 || int(deadLeft) === 0) return total;
    }
  }

  async push(
    requests: readonly FrontierRequest[],
    kind: PushKind,
    { from, total }: StartPart = { from: 0, total: requests.length },
  ): Promise<PushAnswer> {
    const answer = (await this.#run('push', [
      kind,
      ...this.#forNewMeta(),
      requests.length,
      ...(kind === 'start' ? [from, total] : ['', '']),
      packBatch(requests),
    ])) as Reply[];
    return pushAnswer(answer);
  }

  async lease(max: number, holding: number): Promise<LeaseAnswer> {
    this.#joined();
    await this.#history.refuseOther();
    const reply = await this.#turns.lease([max, holding, Math.random().toFixed(6), this.#crawl]);
    const [waitMs, control, finished, acceptedInRun, closing, seedsWaiting, idleMs, full] = reply.slice(6);
    return {
      leases: readLeases(reply),
      waitMs: int(waitMs),
      crawl: {
        control: text(control) as Control,
        finished: int(finished) === 1,
        acceptedInRun: int(acceptedInRun),
        closing: text(closing) || null,
        seedsWaiting: int(seedsWaiting),
        idleMs: int(idleMs),
        full: int(full) === 1,
      },
    };
  }

  async settle(lease: Lease, outcome: Outcome, effects: Effects): Promise<SettleAnswer> {
    const hasFeeds = (this.#joinOptions?.feeds ?? []).length > 0;
    const packed = packSettle(lease, outcome, effects, hasFeeds, this.#calls.caller);
    const [status, accepted, duplicates, dropped, unseen, epoch] = (await this.#turns.settle(packed)).split(
      ' ',
    );
    if (status === 'resend') return { committed: false, resend: true };
    if (status === 'closed') return { committed: false, closed: true };
    if (status !== 'committed') return { committed: false };
    const counts = pushAnswer([accepted, duplicates, dropped]);
    return { committed: true, ...counts, epoch: epoch ?? '', allSeen: unseen === '0' };
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
    await this.#run('throttle', [
      withoutNul(domain),
      change.source,
      change.delayMs ?? '',
      change.forMs ?? '',
    ]);
  }

  async control(state: Control): Promise<void> {
    await this.#run('control', [state, '']);
  }

  async closeRun(reason: string): Promise<void> {
    await this.#run('control', ['', reason]);
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
    return int(await this.#run('forget', [Buffer.from(fingerprint, 'hex'), fingerprint])) === 1;
  }

  count(): Promise<PartCounts> {
    return this.#connection.patiently((client) => countParts(client, this.#options.keys));
  }

  async clear(parts: readonly Part[], options: { force: boolean }): Promise<void> {
    const { keys } = this.#options;
    const format = await this.#connection.patiently((client) => foundFormat(client, keys));
    const [status, live] = (await this.#run('clear', [options.force ? 1 : 0, ...parts])) as Reply[];
    if (text(status) !== 'live') {
      // Another format may have internal keys that we do not know by name.
      if (format === null || format === String(dataFormats.redis) || !parts.includes('queue'))
        return this.#sweep();
      for await (const names of scanKeys(this.#connection.client, `${literally(keys.requests)}:~*`)) {
        if (names.length > 0) await this.#connection.patiently((client) => client.unlink(...names));
      }
      return;
    }
    throw nodesAtWork(int(live), 'clear');
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

  /** A node that has joined makes no meta (an empty epoch): it would hide that the crawl is gone. */
  #forNewMeta(): [queueClass: string, epoch: string] {
    const { queueClass } = this.#joinOptions?.shape ?? this.#options.shape;
    return [queueClass, this.#incarnation === null ? newEpoch() : ''];
  }

  /** Remove what a cleared dupefilter of many keys left, a step at a time, so that the store serves others between. */
  async #sweep(): Promise<void> {
    while (int(await this.#run('sweep', [SWEEP_STEP])) > 0);
  }

  #joined(): string {
    if (this.#incarnation === null) throw new IncarnationDeadError('this client has not joined the crawl');
    return this.#incarnation;
  }

  /** Settles that wait go first. */
  #run(verb: Verb, args: readonly Argument[]): Promise<Reply> {
    this.#turns.flush();
    return this.#calls.run(verb, args);
  }

  /** Give up an incarnation whose place is taken by a new one of the same process. */
  async #abandon(incarnation: string): Promise<void> {
    this.#incarnation = null;
    await this.#run('leave', [incarnation, 'rejoined', 1, 1, this.#crawl, '']);
    await this.#calls.forgetAnswers();
  }
}

function pushAnswer(numbers: readonly unknown[]): PushAnswer {
  const [accepted = 0, duplicates = 0, dropped = 0] = numbers.map(Number);
  return dropped === 0 ? { accepted, duplicates } : { accepted, duplicates, dropped };
}
