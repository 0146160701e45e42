/**
 * The frontier in SQLite, for the processes of one machine: every verb is one function over one transaction
 * (`base/commit-batch.ts` commits those of a loop turn together). Here each verb of the interface is given its function.
 */
import { FrontierGoneError, IncarnationDeadError } from '../../errors.js';
import type { FeedWriter } from '../../feed-outbox.js';
import { loadedOnUse } from '../backup/loaded-on-use.js';
import { careVerbs } from '../care/care-verbs.js';
import type { Frontier, Shape } from '../frontier.js';
import type { OpenOptions } from '../open-options.js';
import { recoverBy } from '../recovery.js';
import { readEvents, readHistory } from '../telemetry/stored-telemetry.js';
import { CommitBatch, type VerbOptions } from './base/commit-batch.js';
import type { Transaction } from './base/transaction.js';
import { cookiesSince } from './cookies/read-cookies.js';
import { acceptLosses, clear } from './crawl/clear.js';
import { closeRun, control, forget } from './crawl/control.js';
import { countParts, takeSnapshot } from './crawl/snapshot.js';
import { sweepSome } from './crawl/sweep.js';
import { defer, takeInstant, throttle } from './domains/timer-verbs.js';
import { readValidators } from './dupefilters/validators.js';
import { listFailed, listIgnored, purgeFailed } from './failed/failed-list.js';
import { peekItems } from './feeds/items.js';
import {
  checkpointFeed,
  countWaiting,
  noteFeedChange,
  openFeed,
  readFeed,
  releaseFeed,
  takeItems,
} from './feeds/outbox.js';
import { type Database, openDatabase } from './file/database.js';
import { lease } from './leases/lease.js';
import { settle } from './leases/settle.js';
import { join } from './nodes/join.js';
import { leave } from './nodes/leave.js';
import type { JoinedNode } from './nodes/node-row.js';
import { reconcile } from './nodes/reconcile.js';
import { heartbeat, recoverStep } from './nodes/recover.js';
import { refuseOtherDupefilter, refuseOtherFormat } from './nodes/shared-settings.js';
import { bytesOf } from './queue/requests.js';
import { accept, acceptStart, retryFailed } from './requests/acceptance.js';
import { claimIdle, endIdle } from './requests/ask-idle.js';
import { crawlState } from './requests/completion.js';
import { robots, storeRobots } from './robots/robots.js';
import { appendSeeds, badSeeds, intake, peekSeeds } from './seeds/seeds.js';
import { claimStart } from './seeds/starts.js';
import { crawlFacts, inspectDomain, knownDomains } from './telemetry/facts.js';
import { record, report } from './telemetry/reports.js';
import { textOf } from './telemetry/texts.js';

/** How long a verb of a node waits for a lock; its engine says so, and asks again. */
const NODE_PATIENCE_MS = 1_000;

/** Of verbs that begin a crawl: they make the file if there is none. */
const creating = { creates: true };

/** Open the frontier of one crawl in a folder. @throws RefusedError where the folder or its store must not be used. */
export async function openEmbedded(options: OpenOptions, dir: string): Promise<Frontier> {
  const database = openDatabase(dir);
  const batch = new CommitBatch(database, options.keys);
  try {
    await batch.mendOpened();
    if (options.acceptForeignKeys !== true) await batch.read(refuseOtherFormat);
  } catch (error) {
    await batch.close();
    await database.close();
    throw error;
  }
  return frontierOf(new Client(batch, options), batch, database, options);
}

function frontierOf(client: Client, batch: CommitBatch, database: Database, options: OpenOptions): Frontier {
  const write =
    <Args extends unknown[], T>(verb: (tx: Transaction, ...args: Args) => T, how?: VerbOptions) =>
    (...args: Args): Promise<T> =>
      batch.write((tx) => verb(tx, ...args), how);
  const read =
    <Args extends unknown[], T>(verb: (tx: Transaction, ...args: Args) => T) =>
    (...args: Args): Promise<T> =>
      batch.read((tx) => verb(tx, ...args));
  const asNode =
    <Args extends unknown[], T>(verb: (tx: Transaction, self: JoinedNode, ...args: Args) => T) =>
    (...args: Args): Promise<T> =>
      client.asNode((tx, self) => verb(tx, self, ...args));
  const texts = read((tx: Transaction, names: readonly string[]) => names.map((name) => textOf(tx, name)));

  return {
    engine: 'embedded',

    join: (node, options) => client.join(node, options),
    leave: (reason, heardWithinMs) => client.leave(reason, heardWithinMs),
    // From a thread, which must never be in a call for long: the next beat comes soon.
    heartbeat: write(heartbeat, { patienceMs: 0 }),
    reconcile: asNode(reconcile),
    recover: recoverBy(() => batch.write(recoverStep)),

    push: (requests, kind, part = { from: 0, total: requests.length }) =>
      client.enter((tx) => {
        const isEarly = 'page' in part;
        if (!isEarly && (kind === 'start' || kind === 'start-generated')) {
          return acceptStart(tx, requests, kind, part);
        }
        const page = isEarly ? { id: bytesOf(part.page), isEarly } : undefined;
        const { allSeen: _, ...answer } = accept(tx, requests, kind, page);
        return answer;
      }),
    claimStart: asNode(claimStart),
    claimIdle: asNode(claimIdle),
    endIdle: asNode(endIdle),
    lease: asNode(lease),
    cookies: read(cookiesSince),
    validators: read(readValidators),
    settle: asNode(settle),
    defer: asNode(defer),

    peekSeeds: read(peekSeeds),
    intake: async (seeds) => {
      if (seeds.length === 0) return { accepted: 0, duplicates: 0, bad: 0 };
      return client.enter((tx) => intake(tx, seeds, options.seedsFiltered ? 'seeds-judged' : 'seeds'));
    },
    badSeeds: read(badSeeds),
    appendSeeds: (values) =>
      batch.write((tx) => appendSeeds(tx, values, ['set', 'zset'].includes(options.startUrlsType)), creating),

    throttle: write(throttle),
    takeInstant: write(takeInstant),
    robots: asNode(robots),
    storeRobots: asNode(storeRobots),
    addStats: write((tx, changes) => {
      if (tx.hasCrawl) tx.counters.change(changes);
    }),
    control: write(control),
    closeRun: write(closeRun),
    snapshot: read(takeSnapshot),
    telemetry: {
      report: write(report, { patienceMs: NODE_PATIENCE_MS }),
      facts: read(crawlFacts),
      record: write(record, { patienceMs: NODE_PATIENCE_MS }),
      history: (...span) => readHistory(texts, ...span),
      events: (after) => readEvents(texts, after),
      domains: read(knownDomains),
      domain: read(inspectDomain),
    },
    failed: {
      list: read(listFailed),
      ignored: read(listIgnored),
      retry: write(retryFailed),
      purge: write(purgeFailed),
    },
    feeds: {
      open: write(openFeed, creating),
      read: read(readFeed),
      waiting: read(countWaiting),
      checkpoint: write(checkpointFeed),
      noteChange: write(noteFeedChange),
      take: write(takeItems),
      peek: read(peekItems),
      release: write((tx: Transaction, writer: FeedWriter, how?: { readonly exported?: boolean }) =>
        releaseFeed(tx, writer, how, !tx.hasCrawl || crawlState(tx, tx.crawl.has_start === 1, []).finished),
      ),
    },
    backups: loadedOnUse(async () => {
      const { embeddedBackups } = await import('./backup/backups.js');
      return embeddedBackups(batch, client.shape);
    }),
    inspect: async (request) => {
      const { inspectRequest } = await import('./crawl/inspect.js');
      return batch.read((tx) => inspectRequest(tx, request));
    },
    forget: (fingerprint) => batch.write((tx) => forget(tx, fingerprint, client.shape.dupefilter)),
    count: read(countParts),
    clear: async (parts, { force }) => {
      await batch.write((tx) => clear(tx, new Set(parts), force));
      await sweep(batch);
    },
    acceptLosses: async () => {
      const lost = await batch.write((tx) => acceptLosses(tx, options.shape.persist));
      await sweep(batch);
      return lost;
    },
    examine: async () => {
      const { examineStore } = await import('./file/examine.js');
      return batch.read((tx) => examineStore(tx, database));
    },
    ...careVerbs(async () => {
      const { embeddedCare } = await import('./care/embedded-care.js');
      return embeddedCare(batch, database, options.shape);
    }),
    close: async () => {
      await batch.close();
      await database.close();
    },
  };
}

/** A client of a crawl, which may join it as a node. */
class Client {
  readonly #batch: CommitBatch;
  readonly #options: OpenOptions;
  #self: JoinedNode | null = null;
  /** The highest number of a token that a commit of this node has seen. */
  #newestToken = 0;

  constructor(batch: CommitBatch, options: OpenOptions) {
    this.#batch = batch;
    this.#options = options;
  }

  /** What this client's settings say all clients must share. */
  get shape(): Shape {
    return this.#self?.options.shape ?? this.#options.shape;
  }

  async join(...[node, options]: Parameters<Frontier['join']>): ReturnType<Frontier['join']> {
    const former = this.#self;
    const { joined, self } = await this.#batch.write((tx) => {
      if (former !== null) {
        this.#refuseOtherCrawl(tx);
        leave(tx, former, 'rejoined', { isRejoin: true });
        // The other nodes know links that the store has no more.
        if (tx.tally.tokens < this.#newestToken) tx.crawl.epoch += 1;
      }
      const { number, joined } = join(tx, node, options, former === null);
      return { joined, self: number === 0 ? null : { number, crawl: tx.crawl.crawl_id, options } };
    }, creating);
    this.#newestToken = 0;
    this.#self = self;
    return joined;
  }

  async leave(...[reason, heardWithinMs]: Parameters<Frontier['leave']>): ReturnType<Frontier['leave']> {
    const answer = await this.asNode((tx, self) =>
      leave(tx, self, reason, { isRejoin: false, heardWithinMs }),
    );
    if (answer.awaits !== undefined) return answer;
    this.#self = null;
    if (answer.cleared) await sweep(this.#batch);
    return answer;
  }

  /** Run a verb that begins the crawl if there is none. @throws RefusedError on another dupefilter. */
  enter<T>(verb: (tx: Transaction) => T): Promise<T> {
    return this.#batch.write((tx) => {
      refuseOtherFormat(tx);
      this.#refuseOtherCrawl(tx);
      refuseOtherDupefilter(tx, this.shape.dupefilter);
      tx.create(this.shape);
      return verb(tx);
    }, creating);
  }

  /** Run a verb of a node: it needs to have joined, and the crawl it joined. */
  async asNode<T>(verb: (tx: Transaction, self: JoinedNode) => T): Promise<T> {
    const self = this.#self;
    if (self === null) throw new IncarnationDeadError('this client has not joined the crawl');
    let token = 0;
    const answer = await this.#batch.write(
      (tx) => {
        this.#refuseOtherCrawl(tx);
        this.#refuseOlder(tx);
        const result = verb(tx, self);
        token = tx.hasCrawl ? tx.tally.tokens : 0;
        return result;
      },
      { patienceMs: NODE_PATIENCE_MS },
    );
    if (token > this.#newestToken) this.#newestToken = token;
    return answer;
  }

  /** @throws IncarnationDeadError when somebody has put an older copy of the store in place of it. */
  #refuseOlder(tx: Transaction): void {
    if (tx.tally.tokens >= this.#newestToken) return;
    throw new IncarnationDeadError('an older copy of the store was put in its place', {
      code: 'store_replaced',
    });
  }

  /** @throws FrontierGoneError when the crawl joined was reset meanwhile. */
  #refuseOtherCrawl(tx: Transaction): void {
    if (this.#self === null || tx.crawl.crawl_id === this.#self.crawl) return;
    throw new FrontierGoneError('this crawl was reset under a live node');
  }
}

/** Delete what was cleared, a short transaction at a time. */
async function sweep(batch: CommitBatch): Promise<void> {
  while (!(await batch.write(sweepSome)));
}
