/**
 * The frontier in SQLite, for the processes of one machine: every verb is one function over one transaction
 * (`commit-batch.ts` commits those of a loop turn together). This class only knows who we are and hands the verbs on.
 */
import { FrontierGoneError, IncarnationDeadError } from '../../errors.js';
import type { Backups } from '../backup-entry.js';
import type {
  Control,
  ConvertedSeed,
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
  Shape,
  Snapshot,
  StartPart,
} from '../frontier.js';
import type { OpenOptions } from '../open.js';
import { RecoveredNodes } from '../recovered-nodes.js';
import { readCrawl } from './backup/read-crawl.js';
import { applyEntry, beginRestore, endRestore } from './backup/restore.js';
import { examineStore } from './care/examine.js';
import { beginRepair, endRepair, type ReadRecord, repairStep, replaceLostCounters } from './care/repair.js';
import { verify } from './care/verify.js';
import { clear } from './clear/clear.js';
import { sweepSome } from './clear/sweep.js';
import { CommitBatch } from './commit-batch.js';
import { type Database, openDatabase } from './database.js';
import { checkpointFeed, openFeed, readFeed, releaseFeed, takeItems } from './feeds/outbox.js';
import { refuseOtherDupefilter, refuseOtherFormat } from './nodes/agreement.js';
import { closeRun, control, forget } from './nodes/control.js';
import { join } from './nodes/join.js';
import { leave } from './nodes/leave.js';
import { incarnationNumber } from './nodes/node-row.js';
import { reconcile } from './nodes/reconcile.js';
import { heartbeat, recoverStep } from './nodes/recover.js';
import { accept, acceptStart, retryFailed } from './queue/accept.js';
import { listFailed, purgeFailed } from './queue/failures.js';
import { lease } from './queue/lease.js';
import { settle } from './queue/settle.js';
import { throttle } from './queue/throttle.js';
import { inspectRequest } from './read/inspect.js';
import { countParts, takeSnapshot } from './read/snapshot.js';
import { appendSeeds, badSeeds, intake, peekSeeds } from './seeds/seeds.js';
import type { Transaction } from './transaction.js';

/** How long a verb of a node waits for a lock; its engine says so, and asks again. */
const NODE_PATIENCE_MS = 1_000;

/** Of verbs that begin a crawl: they make the file if there is none. */
const creating = { creates: true };

/** Who this client is once it has joined. */
interface Self {
  readonly number: number;
  /** Tells the crawl joined from one of the same name after a reset. */
  readonly crawl: string;
  readonly options: JoinOptions;
}

export class EmbeddedFrontier implements Frontier {
  readonly engine = 'embedded';
  readonly failed: FailedList;
  readonly feeds: Feeds;
  readonly backups: Backups;
  readonly #database: Database;
  readonly #batch: CommitBatch;
  readonly #options: OpenOptions;
  #self: Self | null = null;

  static async open(options: OpenOptions, dir: string): Promise<EmbeddedFrontier> {
    const frontier = new EmbeddedFrontier(openDatabase(dir), options);
    try {
      if (options.acceptForeignKeys !== true) await frontier.#batch.read(refuseOtherFormat);
      return frontier;
    } catch (error) {
      await frontier.close();
      throw error;
    }
  }

  private constructor(database: Database, options: OpenOptions) {
    this.#database = database;
    this.#options = options;
    const batch = new CommitBatch(database, options.keys);
    this.#batch = batch;
    this.failed = {
      list: (cursor, max) => batch.read((tx) => listFailed(tx, cursor, max)),
      retry: (requests) => batch.write((tx) => retryFailed(tx, requests)),
      purge: (ids) => batch.write((tx) => purgeFailed(tx, ids)),
    };
    this.feeds = {
      open: (writer, how) => batch.write((tx) => openFeed(tx, writer, how), creating),
      read: (feed, sequence, max) => batch.read((tx) => readFeed(tx, feed, sequence, max)),
      checkpoint: (writer, checkpoint, after) =>
        batch.write((tx) => checkpointFeed(tx, writer, checkpoint, after)),
      take: (writer, max) => batch.write((tx) => takeItems(tx, writer, max)),
      release: (writer, how) => batch.write((tx) => releaseFeed(tx, writer, how?.exported === true)),
    };
    this.backups = {
      read: (parts) => readCrawl(batch, parts),
      begin: (ticket) => batch.write((tx) => beginRestore(tx, ticket, this.#shape()), creating),
      apply: (id, number, entry) => batch.write((tx) => applyEntry(tx, id, number, entry)),
      end: (id) => batch.write((tx) => endRestore(tx, id)),
    };
  }

  async join(node: NodeInfo, options: JoinOptions): Promise<Joined> {
    const former = this.#self;
    const { joined, self } = await this.#batch.write((tx) => {
      if (former !== null) {
        this.#refuseOtherCrawl(tx);
        leave(tx, former.number, 'rejoined', { persist: true, isRejoin: true });
      }
      const { number, joined } = join(tx, node, options, former === null);
      return { joined, self: number === 0 ? null : { number, crawl: tx.crawl.crawl_id, options } };
    }, creating);
    this.#self = self;
    return joined;
  }

  async leave(reason: string, heardWithinMs?: number): Promise<Left> {
    const answer = await this.#joined((tx, { number, options }) =>
      leave(tx, number, reason, { persist: options.shape.persist, isRejoin: false, heardWithinMs }),
    );
    if (answer.awaits !== undefined) return answer;
    this.#self = null;
    if (answer.cleared) await this.#sweep();
    return answer;
  }

  heartbeat(incarnation: string, report: HeartbeatReport): Promise<HeartbeatAnswer> {
    // From a thread, which must never be in a call for long: the next beat comes soon.
    const patienceMs = 0;
    return this.#batch.write((tx) => heartbeat(tx, incarnationNumber(incarnation), report), { patienceMs });
  }

  reconcile(
    held: readonly Pick<Lease, 'id' | 'token'>[],
    graceMs: number,
  ): Promise<{ lost: string[]; returned: number }> {
    return this.#joined((tx, { number }) => reconcile(tx, number, held, graceMs));
  }

  async recover(onDead?: (node: string, requests: number) => void): Promise<number> {
    const recovered = new RecoveredNodes();
    for (;;) {
      const { handled, isDone } = await this.#batch.write(recoverStep);
      for (const { number, id, requests } of handled) recovered.add(number, id, requests);
      if (isDone) return recovered.report(onDead);
    }
  }

  push(
    requests: readonly FrontierRequest[],
    kind: PushKind,
    part: StartPart = { from: 0, total: requests.length },
  ): Promise<PushAnswer> {
    return this.#batch.write((tx) => {
      this.#enter(tx);
      const { allSeen: _, ...answer } =
        kind === 'start' ? acceptStart(tx, requests, part) : accept(tx, requests, kind);
      return answer;
    }, creating);
  }

  lease(max: number, holding: number): Promise<LeaseAnswer> {
    return this.#joined((tx, { number, options }) => lease(tx, number, max, holding, options.hasStart));
  }

  settle(held: Lease, outcome: Outcome, effects: Effects): Promise<SettleAnswer> {
    return this.#joined((tx, { number }) => settle(tx, number, held, outcome, effects));
  }

  peekSeeds(max: number): Promise<RawSeed[]> {
    return this.#batch.read((tx) => peekSeeds(tx, max));
  }

  async intake(batch: readonly ConvertedSeed[]): Promise<IntakeAnswer> {
    if (batch.length === 0) return { accepted: 0, duplicates: 0, bad: 0 };
    return this.#batch.write((tx) => {
      this.#enter(tx);
      return intake(tx, batch, this.#options.seedsFiltered ? 'seeds-filtered' : 'seeds');
    }, creating);
  }

  badSeeds(from: number, max: number): Promise<string[]> {
    return this.#batch.read((tx) => badSeeds(tx, from, max));
  }

  appendSeeds(values: readonly string[]): Promise<number> {
    return this.#batch.write(
      (tx) => appendSeeds(tx, values, this.#options.startUrlsType !== 'list'),
      creating,
    );
  }

  throttle(domain: string, change: Parameters<Frontier['throttle']>[1]): Promise<void> {
    return this.#batch.write((tx) => throttle(tx, domain, change));
  }

  control(state: Control): Promise<void> {
    return this.#batch.write((tx) => control(tx, state));
  }

  closeRun(reason: string): Promise<void> {
    return this.#batch.write((tx) => closeRun(tx, reason));
  }

  snapshot(): Promise<Snapshot> {
    return this.#batch.read(takeSnapshot);
  }

  inspect(request: FrontierRequest): Promise<Inspection> {
    return this.#batch.read((tx) => inspectRequest(tx, request));
  }

  forget(fingerprint: string): Promise<boolean> {
    return this.#batch.write((tx) => forget(tx, fingerprint, this.#shape().dupefilter));
  }

  count(): Promise<PartCounts> {
    return this.#batch.read(countParts);
  }

  async clear(parts: readonly Part[], { force }: { force: boolean }): Promise<void> {
    await this.#batch.write((tx) => clear(tx, new Set(parts), force));
    await this.#sweep();
  }

  examine(): Promise<Finding[]> {
    return this.#batch.read((tx) => examineStore(tx, this.#database));
  }

  async repair(read: ReadRecord, { force }: { force: boolean }): Promise<Repaired> {
    await this.#batch.write(replaceLostCounters);
    await this.#batch.write((tx) => beginRepair(tx, this.#options.shape, force));
    for (let after: Uint8Array | null = new Uint8Array(); after !== null; ) {
      const from: Uint8Array = after;
      after = await this.#batch.write((tx) => repairStep(tx, from, read));
    }
    const repaired = await this.#batch.write(endRepair);
    await this.#sweep();
    return repaired;
  }

  verify(): Promise<string[]> {
    return verify(this.#batch, this.#database);
  }

  async close(): Promise<void> {
    await this.#batch.close();
    await this.#database.close();
  }

  /** What this client's settings say all clients must share. */
  #shape(): Shape {
    return this.#self?.options.shape ?? this.#options.shape;
  }

  /** Take part in the crawl, which begins with this if there is none. @throws RefusedError on another dupefilter. */
  #enter(tx: Transaction): void {
    const shape = this.#shape();
    refuseOtherFormat(tx);
    this.#refuseOtherCrawl(tx);
    refuseOtherDupefilter(tx, shape.dupefilter);
    tx.create(shape);
  }

  /** Delete what was cleared, a short transaction at a time. */
  async #sweep(): Promise<void> {
    while (!(await this.#batch.write(sweepSome)));
  }

  /** A verb of a node: it needs to have joined, and the crawl it joined. */
  #joined<T>(verb: (tx: Transaction, self: Self) => T): Promise<T> {
    const self = this.#self;
    if (self === null) {
      return Promise.reject(new IncarnationDeadError('this client has not joined the crawl'));
    }
    return this.#batch.write(
      (tx) => {
        this.#refuseOtherCrawl(tx);
        return verb(tx, self);
      },
      { patienceMs: NODE_PATIENCE_MS },
    );
  }

  /** @throws FrontierGoneError when the crawl joined was reset meanwhile. */
  #refuseOtherCrawl(tx: Transaction): void {
    if (this.#self === null || tx.crawl.crawl_id === this.#self.crawl) return;
    throw new FrontierGoneError('this crawl was reset under a live node');
  }
}
