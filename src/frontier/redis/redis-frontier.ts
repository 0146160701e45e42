/**
 * The frontier in Redis: every verb is one call of one script (`lua/`), sent again with the same number when its
 * reply is lost, so that it happens once. Ids travel as 20 raw bytes and are hex on this side.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { IncarnationDeadError, RefusedError } from '../../errors.js';
import { countersInBounds, delayInBounds } from '../bounds.js';
import type {
  Control,
  ConvertedSeed,
  Effects,
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
  NodeInfo,
  Outcome,
  Part,
  PartCounts,
  PushAnswer,
  PushKind,
  RawSeed,
  SettleAnswer,
  Snapshot,
} from '../frontier.js';
import { MAX_SETTLE_REQUESTS, PUSH_CHUNK } from '../frontier.js';
import type { OpenOptions, RedisAddress } from '../open.js';
import { type Argument, domainName, packBatch, packPriority } from './batch.js';
import { RedisConnection, type Reply } from './connection.js';
import { internalKey, scriptKeys } from './keys.js';
import { refuseUnsafeStore } from './preflight.js';
import { RedisFailed } from './redis-failed.js';
import { RedisFeeds } from './redis-feeds.js';
import { countParts, inspectRequest, takeSnapshot } from './redis-reading.js';
import { verifyInvariants } from './redis-verify.js';
import type { Verb } from './scripts.js';

/** Leases moved by one step of recovery: a script of some hundred microseconds. */
const RECOVERY_STEP = 100;

/** Verbs whose answer the store keeps until it is known to have arrived, and those that tell it so. */
const answering: ReadonlySet<Verb> = new Set(['join', 'leave', 'push', 'lease', 'settle', 'intake']);
const confirming: ReadonlySet<Verb> = new Set(['push', 'lease', 'settle', 'intake', 'reconcile', 'recover']);

export class RedisFrontier implements Frontier {
  readonly engine = 'redis';
  readonly failed: RedisFailed;
  readonly feeds: RedisFeeds;
  readonly #connection: RedisConnection;
  readonly #options: OpenOptions;
  readonly #keys: readonly string[];
  /** Who calls: an incarnation once joined, before that a random name. */
  #caller = `client-${randomBytes(8).toString('hex')}`;
  #incarnation: string | null = null;
  #joinOptions: JoinOptions | null = null;
  /** Tells the crawl we joined from one of the same name after a reset; kept while a dead incarnation joins anew. */
  #crawl = '';
  #lastCall = 0;
  /** Numbers of calls whose answers have arrived, to be told to the store with the next call. */
  #arrived: string[] = [];
  #dataId: string | null = null;
  #isDataSuspect = false;

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
    this.#keys = scriptKeys(options.keys);
    this.failed = new RedisFailed(connection, options.keys, (verb, args) => this.#call(verb, args));
    this.feeds = new RedisFeeds(connection, options.keys, (verb, args) => this.#call(verb, args));
    connection.client.on('close', () => {
      this.#isDataSuspect = true;
    });
  }

  async join(node: NodeInfo, options: JoinOptions): Promise<Joined> {
    if (this.#incarnation !== null) await this.#abandon(this.#incarnation);
    this.#isDataSuspect = false;
    this.#dataId = await this.#dataIdWhenThere();
    const incarnation = `${node.id}:${randomBytes(6).toString('hex')}`;
    const { tunables } = options;
    this.#caller = incarnation;
    this.#arrived = [];
    const info = { ...node, startedAt: Date.now(), pagesPerSecond: 0 };
    const [status, found, pending, delayed, leased, seen, startPushed, justClosed, changed, nodes, crawl] =
      (await this.#call('join', [
        incarnation,
        JSON.stringify(info),
        JSON.stringify(options.shape),
        options.shape.queueClass,
        newEpoch(),
        `${new Date().toISOString()}-${randomBytes(3).toString('hex')}`,
        options.budgets.maxPages,
        options.hasStart ? 1 : 0,
        tunables.delayMs,
        tunables.randomizeDelay ? 1 : 0,
        tunables.concurrencyPerDomain,
        tunables.nodeTimeoutMs,
        tunables.failedLimit,
        this.#crawl,
      ])) as Reply[];
    if (text(status) === 'shape') throw otherShape(text(found), options);
    if (text(justClosed) !== '') this.#caller = `client-${randomBytes(8).toString('hex')}`;
    else {
      this.#incarnation = incarnation;
      this.#joinOptions = options;
      this.#crawl = text(crawl);
    }
    return {
      incarnation,
      found: {
        pending: int(pending),
        delayed: int(delayed),
        leased: int(leased),
        seen: int(seen),
        nodes: int(nodes),
      },
      startPushed: int(startPushed) === 1,
      justClosed: text(justClosed) || null,
      notices: text(changed) === '' ? [] : text(changed).split(',').map(tunableNotice),
    };
  }

  async leave(reason: string): Promise<{ last: boolean; cleared: boolean }> {
    const incarnation = this.#joined();
    const [last, cleared] = (await this.#call('leave', [
      incarnation,
      reason,
      this.#joinOptions?.shape.persist === false ? 0 : 1,
      0,
      this.#crawl,
    ])) as Reply[];
    this.#incarnation = null;
    this.#crawl = '';
    // The store kept the answer of this very call under our name; nobody will ask for it again.
    await this.#forgetAnswers();
    return { last: int(last) === 1, cleared: int(cleared) === 1 };
  }

  async heartbeat(incarnation: string, report: HeartbeatReport): Promise<HeartbeatAnswer> {
    return text(
      await this.#call('heartbeat', [incarnation, report.pagesPerSecond.toFixed(2)]),
    ) as HeartbeatAnswer;
  }

  async reconcile(
    held: readonly Pick<Lease, 'id' | 'token'>[],
    graceMs: number,
  ): Promise<{ lost: string[]; returned: number }> {
    this.#joined();
    const ids = Buffer.from(held.map(({ id }) => id).join(''), 'hex');
    const tokens = held.map(({ token }) => token);
    const [returned, ...lost] = (await this.#call('reconcile', [
      graceMs,
      ids,
      this.#crawl,
      ...tokens,
    ])) as Reply[];
    return { returned: int(returned), lost: lost.map(hex) };
  }

  async recover(): Promise<number> {
    let total = 0;
    for (;;) {
      const [moved, deadLeft] = (await this.#call('recover', [RECOVERY_STEP])) as Reply[];
      total += int(moved);
      if (int(moved) === 0 || int(deadLeft) === 0) return total;
    }
  }

  async push(requests: readonly FrontierRequest[], kind: PushKind): Promise<PushAnswer> {
    const { head, records } = packBatch(requests);
    const answer = (await this.#call('push', [
      kind,
      this.#shape().queueClass,
      this.#epochForNew(),
      requests.length,
      ...head,
      ...records,
    ])) as Reply[];
    return { accepted: int(answer[0]), duplicates: int(answer[1]) };
  }

  async lease(max: number, holding: number): Promise<LeaseAnswer> {
    this.#joined();
    if (this.#isDataSuspect) await this.#refuseOtherHistory();
    const reply = (await this.#call('lease', [
      max,
      holding,
      Math.random().toFixed(6),
      this.#crawl,
    ])) as Reply[];
    const [waitMs, control, finished, acceptedInRun, closing, seedsWaiting, idleMs] = reply;
    const leases: Lease[] = [];
    for (let i = 7; i < reply.length; i += 6) {
      leases.push({
        id: hex(reply[i]),
        token: text(reply[i + 1]),
        domain: text(reply[i + 2]),
        delayMs: int(reply[i + 3]),
        crashes: int(reply[i + 4]),
        record: text(reply[i + 5]),
      });
    }
    return {
      leases,
      waitMs: int(waitMs),
      crawl: {
        control: text(control) as Control,
        finished: int(finished) === 1,
        acceptedInRun: int(acceptedInRun),
        closing: text(closing) || null,
        seedsWaiting: int(seedsWaiting),
        idleMs: int(idleMs),
      },
    };
  }

  async settle(lease: Lease, outcome: Outcome, effects: Effects): Promise<SettleAnswer> {
    const { head, records } = packBatch(effects.requests);
    const stats = countersInBounds(effects.stats);
    const feeds = this.#joinOptions?.feeds ?? [];
    const feedItems = feeds.length === 0 ? [] : effects.feedItems;
    const args: Argument[] = [
      Buffer.from(lease.id, 'hex'),
      lease.token,
      outcome.kind,
      ...outcomeArguments(outcome, this.#caller),
      '',
      feeds.map((feed) => `${feed}\0`).join(''),
      stats.length,
      effects.items.length,
      feedItems.length,
      effects.requests.length,
      ...head,
    ];
    for (const [name, value] of stats) args.push(name, value);
    for (const item of effects.items) args.push(item);
    for (const item of feedItems) args.push(item);
    for (const record of records) args.push(record);
    // The token numbers the call, so that even a settle repeated by the engine is known as the same one.
    const [status, accepted, duplicates] = (await this.#call('settle', args, `s${lease.token}`)) as Reply[];
    if (text(status) !== 'committed') return { committed: false };
    return { committed: true, accepted: int(accepted), duplicates: int(duplicates) };
  }

  async peekSeeds(max: number): Promise<RawSeed[]> {
    const seeds: RawSeed[] = [];
    for (const key of this.#options.keys.startUrls) {
      if (seeds.length >= max) break;
      const values = await this.#connection.patiently((client) => {
        const room = max - seeds.length;
        if (this.#options.startUrlsType === 'set')
          return client.srandmemberBuffer(key, room) as Promise<Buffer[]>;
        if (this.#options.startUrlsType === 'zset') return client.zrevrangeBuffer(key, 0, room - 1);
        return client.lrangeBuffer(key, 0, room - 1);
      });
      seeds.push(...values.map((value) => ({ key, value })));
    }
    return seeds;
  }

  async intake(batch: readonly ConvertedSeed[]): Promise<IntakeAnswer> {
    const total = { accepted: 0, duplicates: 0, bad: 0 };
    for (const [index, key] of this.#options.keys.startUrls.entries()) {
      const ofKey = batch.filter(({ seed }) => seed.key === key);
      for (const seeds of inBounds(
        await Promise.all(ofKey.map((converted) => this.#pushExcess(converted))),
      )) {
        const args: Argument[] = [
          this.#options.seedsFiltered ? 'seeds-filtered' : 'seeds',
          this.#options.startUrlsType,
          seeds.length,
          index + 1,
          this.#shape().queueClass,
          this.#epochForNew(),
        ];
        for (const converted of seeds) args.push(...seedArguments(converted));
        const [accepted, duplicates, bad] = (await this.#call('intake', args)) as Reply[];
        total.accepted += int(accepted);
        total.duplicates += int(duplicates);
        total.bad += int(bad);
      }
    }
    return total;
  }

  async appendSeeds(values: readonly string[]): Promise<number> {
    const [key] = this.#options.keys.startUrls;
    if (key === undefined || values.length === 0) return 0;
    const { startUrlsType } = this.#options;
    await this.#connection.patiently(async (client) => {
      if (startUrlsType === 'set') return client.sadd(key, ...values);
      if (startUrlsType === 'zset') return client.zadd(key, ...values.flatMap((value) => [0, value]));
      return client.rpush(key, ...values);
    });
    return values.length;
  }

  async throttle(
    domain: string,
    change: { delayMs?: number; forMs?: number; source: string },
  ): Promise<void> {
    await this.#call('throttle', [
      domainName(domain),
      change.source,
      change.delayMs ?? '',
      change.forMs ?? '',
    ]);
  }

  async control(state: Control): Promise<void> {
    await this.#call('control', [state, '']);
  }

  async closeRun(reason: string): Promise<void> {
    await this.#call('control', ['', reason]);
  }

  snapshot(): Promise<Snapshot> {
    return this.#connection.patiently((client) => takeSnapshot(client, this.#options.keys));
  }

  inspect(request: FrontierRequest): Promise<Inspection> {
    return this.#connection.patiently((client) => inspectRequest(client, this.#options.keys, request));
  }

  async forget(fingerprint: string): Promise<boolean> {
    return int(await this.#call('forget', [fingerprint])) === 1;
  }

  count(): Promise<PartCounts> {
    return this.#connection.patiently((client) => countParts(client, this.#options.keys));
  }

  async clear(parts: readonly Part[], options: { force: boolean }): Promise<void> {
    const [status, live] = (await this.#call('clear', [options.force ? 1 : 0, ...parts])) as Reply[];
    if (text(status) !== 'live') return;
    throw new RefusedError(
      `${int(live)} node${int(live) === 1 ? ' is' : 's are'} working on this crawl: stop them first (or use --force, which makes them stop with an error)`,
      { code: 'live_nodes' },
    );
  }

  verify(): Promise<string[]> {
    return this.#connection.patiently((client) => verifyInvariants(client, this.#options.keys));
  }

  async close(): Promise<void> {
    await this.#forgetAnswers();
    this.#connection.close();
  }

  /** One call of a script with its number; `number` is given where the engine may repeat the verb itself. */
  async #call(verb: Verb, args: readonly Argument[], number?: string): Promise<Reply> {
    this.#lastCall += 1;
    const callNumber = number ?? String(this.#lastCall);
    const arrived = confirming.has(verb) ? this.#arrived.splice(0) : [];
    const caller = this.#caller;
    try {
      const reply = await this.#connection.run(verb, this.#keys, [
        caller,
        callNumber,
        arrived.join(','),
        ...args,
      ]);
      if (caller === this.#caller && answering.has(verb)) this.#arrived.push(callNumber);
      return reply;
    } catch (error) {
      if (caller === this.#caller) this.#arrived.push(...arrived);
      throw error;
    }
  }

  /** Requests of one seed beyond the bound of a script are pushed before it, as those of a page are. */
  async #pushExcess(converted: ConvertedSeed): Promise<ConvertedSeed> {
    if (!('requests' in converted)) return converted;
    let { requests } = converted;
    while (requests.length > MAX_SETTLE_REQUESTS) {
      await this.push(
        requests.slice(0, PUSH_CHUNK),
        this.#options.seedsFiltered ? 'seeds-filtered' : 'seeds',
      );
      requests = requests.slice(PUSH_CHUNK);
    }
    return { ...converted, requests };
  }

  /** For a meta that is not there yet; a node that has joined makes none: it would hide that the crawl is gone. */
  #epochForNew(): string {
    return this.#incarnation === null ? newEpoch() : '';
  }

  #shape() {
    return this.#joinOptions?.shape ?? this.#options.shape;
  }

  #joined(): string {
    if (this.#incarnation === null) throw new IncarnationDeadError('this client has not joined the crawl');
    return this.#incarnation;
  }

  /** Give up an incarnation whose place is taken by a new one of the same process. */
  async #abandon(incarnation: string): Promise<void> {
    this.#incarnation = null;
    await this.#call('leave', [incarnation, 'rejoined', 1, 1, this.#crawl]);
    await this.#forgetAnswers();
  }

  /** What the store keeps of our last calls nobody will ask for again. It is tidying: failing at it harms nothing. */
  async #forgetAnswers(): Promise<void> {
    const fields = this.#arrived.splice(0).map((callNumber) => `${this.#caller}:${callNumber}`);
    if (fields.length === 0) return;
    await this.#connection.client
      .hdel(internalKey(this.#options.keys, 'answers'), ...fields)
      .catch(() => undefined);
  }

  /** An answer that fails leaves the question open. */
  async #dataIdWhenThere(): Promise<string | null> {
    try {
      return await this.#connection.patiently(() => this.#connection.dataId());
    } catch (error) {
      this.#isDataSuspect = true;
      throw error;
    }
  }

  /** After a broken connection: another run_id or replication id means the store may have rolled back. */
  async #refuseOtherHistory(): Promise<void> {
    this.#isDataSuspect = false;
    const dataId = await this.#dataIdWhenThere();
    if (dataId === null || this.#dataId === null || dataId === this.#dataId) return;
    this.#dataId = dataId;
    throw new IncarnationDeadError(
      'the Redis server restarted or was replaced, so its data may be older than ours',
    );
  }
}

function newEpoch(): string {
  return String(randomInt(2 ** 47));
}

function outcomeArguments(outcome: Outcome, node: string): Argument[] {
  switch (outcome.kind) {
    case 'done':
      return ['', '', ''];
    case 'retry':
      return [delayInBounds(outcome.afterMs), packPriority(outcome.priority), outcome.record];
    case 'failed': {
      const { reason, status, attempts, detail } = outcome;
      return ['', '', JSON.stringify({ reason, status, attempts, detail, node })];
    }
    case 'released':
      return [outcome.unstarted ? 1 : 0, '', ''];
  }
}

/** Cut a batch of seeds into calls of bounded work. */
function* inBounds(seeds: readonly ConvertedSeed[]): Iterable<ConvertedSeed[]> {
  let part: ConvertedSeed[] = [];
  let size = 0;
  for (const converted of seeds) {
    const more = 'requests' in converted ? converted.requests.length : 0;
    if (part.length > 0 && size + more > MAX_SETTLE_REQUESTS) {
      yield part;
      part = [];
      size = 0;
    }
    part.push(converted);
    size += more;
  }
  if (part.length > 0) yield part;
}

function seedArguments(converted: ConvertedSeed): Argument[] {
  const { value } = converted.seed;
  if ('bad' in converted) {
    return [
      value,
      -1,
      JSON.stringify({ seed: value.toString(), reason: converted.bad, at: new Date().toISOString() }),
    ];
  }
  if (converted.requests.length === 0) return [value, 0, ''];
  const { head, records } = packBatch(converted.requests);
  return [value, converted.requests.length, '', ...head, ...records];
}

function otherShape(found: string, options: JoinOptions): RefusedError {
  const theirs = JSON.parse(found) as Record<string, unknown>;
  const ours = options.shape as unknown as Record<string, unknown>;
  const differences = Object.keys(theirs)
    .filter((name) => theirs[name] !== ours[name])
    .map((name) => `${name} is ${String(theirs[name])} there and ${String(ours[name])} here`);
  return new RefusedError(
    `this crawl was started with another shape: ${differences.join('; ')}. Use the same settings, another --job, or reset the crawl`,
    { code: 'shape' },
  );
}

const tunableNames: Readonly<Record<string, string>> = {
  delay: 'DOWNLOAD_DELAY (ms)',
  randomize: 'RANDOMIZE_DOWNLOAD_DELAY',
  limit: 'CONCURRENT_REQUESTS_PER_DOMAIN',
  node_timeout: 'NODE_TIMEOUT (ms)',
  failed_limit: 'FAILED_LIMIT',
};

function tunableNotice(change: string): string {
  const [name = '', before, after] = change.split('=');
  return `${tunableNames[name] ?? name} was ${before} and is ${after} now, for all nodes`;
}

const text = (reply: Reply | undefined): string => (reply == null ? '' : reply.toString());
const int = (reply: Reply | undefined): number => Number(reply ?? 0);
const hex = (reply: Reply | undefined): string => (reply as Buffer).toString('hex');
