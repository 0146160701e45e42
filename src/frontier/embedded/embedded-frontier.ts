/**
 * The frontier in LMDB, for the processes of one machine: every verb is one function over one transaction (`turn.ts`
 * commits those of a loop turn together). This class only knows who we are and hands the verbs on.
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
import { accept, acceptStart, retryFailed } from './accept.js';
import { refuseOtherDupefilter, refuseOtherFormat } from './agreement.js';
import { readCrawl } from './backup.js';
import { clear } from './clear.js';
import { examineStore } from './examine.js';
import { listFailed, purgeFailed } from './failures.js';
import { incarnationNumber } from './incarnation-entry.js';
import { closeRun, control, forget, throttle } from './knobs.js';
import { lease } from './lease.js';
import { heartbeat, join, leave, recoverStep } from './membership.js';
import { checkpointFeed, openFeed, readFeed, releaseFeed, takeItems } from './outbox.js';
import { countParts, inspectRequest, takeSnapshot } from './reading.js';
import { beginRepair, endRepair, repairStep } from './repair.js';
import { applyEntry, beginRestore, endRestore } from './restore.js';
import { appendSeeds, badSeeds, intake, peekSeeds } from './seeds.js';
import { reconcile, settle } from './settle.js';
import { spacesOf } from './spaces.js';
import { type OpenStore, openStore } from './store.js';
import { sweepSome } from './sweep.js';
import type { Transaction } from './transaction.js';
import { Turn } from './turn.js';
import { verify } from './verify.js';

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
  readonly #store: OpenStore;
  readonly #turn: Turn;
  readonly #options: OpenOptions;
  #self: Self | null = null;

  static async open(options: OpenOptions, dir: string): Promise<EmbeddedFrontier> {
    const frontier = new EmbeddedFrontier(openStore(dir), options);
    try {
      if (options.acceptForeignKeys !== true) await frontier.#turn.read(refuseOtherFormat);
      return frontier;
    } catch (error) {
      await frontier.close();
      throw error;
    }
  }

  private constructor(store: OpenStore, options: OpenOptions) {
    this.#store = store;
    this.#options = options;
    const turn = new Turn(store, spacesOf(options.keys));
    this.#turn = turn;
    this.failed = {
      list: (cursor, max) => turn.read((tx) => listFailed(tx, cursor, max)),
      retry: (requests) => turn.write((tx) => retryFailed(tx, requests)),
      purge: (ids) => turn.write((tx) => purgeFailed(tx, ids)),
    };
    this.feeds = {
      open: (writer, how) => turn.write((tx) => openFeed(tx, writer, how)),
      read: (feed, sequence, max) => turn.read((tx) => readFeed(tx, feed, sequence, max)),
      checkpoint: (writer, checkpoint, after) =>
        turn.write((tx) => checkpointFeed(tx, writer, checkpoint, after)),
      take: (writer, max) => turn.write((tx) => takeItems(tx, writer, max)),
      release: (writer, how) => turn.write((tx) => releaseFeed(tx, writer, how?.exported === true)),
    };
    this.backups = {
      read: (parts) => readCrawl(turn, parts),
      begin: (ticket) =>
        turn.write((tx) => beginRestore(tx, ticket, this.#self?.options.shape ?? options.shape)),
      apply: (id, number, entry) => turn.write((tx) => applyEntry(tx, id, number, entry)),
      end: (id) => turn.write((tx) => endRestore(tx, id)),
    };
  }

  async join(node: NodeInfo, options: JoinOptions): Promise<Joined> {
    const former = this.#self;
    const { joined, self } = await this.#turn.write((tx) => {
      if (former !== null) {
        this.#refuseOtherCrawl(tx);
        leave(tx, former.number, 'rejoined', { persist: true, isRejoin: true });
      }
      const { number, joined } = join(tx, node, options, former === null);
      return { joined, self: number === 0 ? null : { number, crawl: tx.meta().crawl, options } };
    });
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
    return this.#turn.write((tx) => heartbeat(tx, incarnationNumber(incarnation), report));
  }

  reconcile(
    held: readonly Pick<Lease, 'id' | 'token'>[],
    graceMs: number,
  ): Promise<{ lost: string[]; returned: number }> {
    return this.#joined((tx, { number }) => reconcile(tx, number, held, graceMs));
  }

  async recover(): Promise<number> {
    let total = 0;
    for (;;) {
      const { moved, isDone } = await this.#turn.write(recoverStep);
      total += moved;
      if (isDone) return total;
    }
  }

  push(
    requests: readonly FrontierRequest[],
    kind: PushKind,
    part: StartPart = { from: 0, total: requests.length },
  ): Promise<PushAnswer> {
    return this.#turn.write((tx) => {
      this.#enter(tx);
      return kind === 'start' ? acceptStart(tx, requests, part) : accept(tx, requests, kind);
    });
  }

  lease(max: number, holding: number): Promise<LeaseAnswer> {
    return this.#joined((tx, { number, options }) => lease(tx, number, max, holding, options.hasStart));
  }

  settle(held: Lease, outcome: Outcome, effects: Effects): Promise<SettleAnswer> {
    return this.#joined((tx, { number }) => settle(tx, number, held, outcome, effects));
  }

  peekSeeds(max: number): Promise<RawSeed[]> {
    return this.#turn.read((tx) => peekSeeds(tx, max));
  }

  async intake(batch: readonly ConvertedSeed[]): Promise<IntakeAnswer> {
    if (batch.length === 0) return { accepted: 0, duplicates: 0, bad: 0 };
    return this.#turn.write((tx) => {
      this.#enter(tx);
      return intake(tx, batch, this.#options.seedsFiltered ? 'seeds-filtered' : 'seeds');
    });
  }

  badSeeds(from: number, max: number): Promise<string[]> {
    return this.#turn.read((tx) => badSeeds(tx, from, max));
  }

  appendSeeds(values: readonly string[]): Promise<number> {
    return this.#turn.write((tx) => appendSeeds(tx, values, this.#options.startUrlsType !== 'list'));
  }

  throttle(domain: string, change: Parameters<Frontier['throttle']>[1]): Promise<void> {
    return this.#turn.write((tx) => throttle(tx, domain, change));
  }

  control(state: Control): Promise<void> {
    return this.#turn.write((tx) => control(tx, state));
  }

  closeRun(reason: string): Promise<void> {
    return this.#turn.write((tx) => closeRun(tx, reason));
  }

  snapshot(): Promise<Snapshot> {
    return this.#turn.read((tx) => {
      refuseOtherFormat(tx);
      return takeSnapshot(tx);
    });
  }

  inspect(request: FrontierRequest): Promise<Inspection> {
    return this.#turn.read((tx) => inspectRequest(tx, request));
  }

  forget(fingerprint: string): Promise<boolean> {
    return this.#turn.write((tx) => forget(tx, fingerprint, this.#shape().dupefilter));
  }

  count(): Promise<PartCounts> {
    return this.#turn.read(countParts);
  }

  async clear(parts: readonly Part[], { force }: { force: boolean }): Promise<void> {
    await this.#turn.write((tx) => clear(tx, new Set(parts), force));
    await this.#sweep();
  }

  examine(): Promise<Finding[]> {
    return this.#turn.read((tx) => examineStore(tx, this.#store));
  }

  async repair(_read: unknown, { force }: { force: boolean }): Promise<Repaired> {
    // An entry here says by itself where it belongs.
    await this.#turn.write((tx) => beginRepair(tx, this.#options.shape, force));
    let after: Buffer | null = null;
    do {
      const from: Buffer | null = after;
      after = await this.#turn.write((tx) => repairStep(tx, from));
    } while (after !== null);
    const repaired = await this.#turn.write(endRepair);
    await this.#sweep();
    return repaired;
  }

  verify(): Promise<string[]> {
    return this.#turn.read(verify);
  }

  async close(): Promise<void> {
    this.#turn.close();
    await this.#store.close();
  }

  /** What this client's settings say all clients must share. */
  #shape(): Shape {
    return this.#self?.options.shape ?? this.#options.shape;
  }

  /** Take part in the crawl, which begins with this if there is none. @throws RefusedError on another dupefilter. */
  #enter(tx: Transaction): void {
    const shape = this.#shape();
    this.#refuseOtherCrawl(tx);
    refuseOtherDupefilter(tx, shape.dupefilter);
    tx.create(shape);
  }

  /** Delete what was cleared, a short transaction at a time. */
  async #sweep(): Promise<void> {
    while (!(await this.#turn.write(sweepSome)));
  }

  /** A verb of a node: it needs to have joined, and the crawl it joined. */
  #joined<T>(verb: (tx: Transaction, self: Self) => T): Promise<T> {
    const self = this.#self;
    if (self === null) {
      return Promise.reject(new IncarnationDeadError('this client has not joined the crawl'));
    }
    return this.#turn.write((tx) => {
      this.#refuseOtherCrawl(tx);
      return verb(tx, self);
    });
  }

  /** @throws FrontierGoneError when the crawl joined was reset meanwhile. */
  #refuseOtherCrawl(tx: Transaction): void {
    if (this.#self === null || tx.meta().crawl === this.#self.crawl) return;
    throw new FrontierGoneError('this crawl was reset under a live node');
  }
}
