/**
 * The verbs of one partition that a crawl of one does not need: it follows partition 0, is granted pages, and takes what
 * other partitions send it. `frontier/partitions/` makes one frontier of several.
 */
import type {
  CookieChange,
  FrontierRequest,
  Joined,
  JoinOptions,
  LeaseAnswer,
  Left,
  NodeInfo,
  PushAnswer,
  PushKind,
} from '../../frontier.js';
import { sweep } from '../clear.js';
import type { Calls } from '../connection/calls.js';
import { placeOf } from '../connection/errors.js';
import { int, json, text } from '../connection/reply.js';
import { changeArguments } from '../cookies/cookie-reply.js';
import type { CrawlAccess } from '../crawl-access.js';
import { startField } from '../join.js';
import { internalKey } from '../keys.js';
import { readFeeds } from '../redis-feeds.js';
import type { RedisNode } from '../redis-node.js';
import { columnsOf } from '../request-columns.js';
import type { PartState } from './part-state.js';
import { partitionText } from './partition-text.js';

/** The answer to a lease in a partition. */
export interface PartLeases extends LeaseAnswer {
  readonly part: PartState;
}

/** Crawl and run of partition 0. */
export interface Leading {
  readonly crawl: string;
  readonly run: string;
}

/** A part of the start requests, of which one partition gets its own. */
export interface StartShare {
  readonly key: string;
  readonly from: number;
  /** How many the part has in all partitions; the total, where it is known. */
  readonly span: number;
  readonly total: number | null;
  /** The place of each request in the part, from 1. */
  readonly offsets: readonly number[];
  /** Parts without a request of this partition are left out. */
  readonly skips: boolean;
}

export interface PartPush extends PushAnswer {
  /** The epoch under which they were judged. */
  readonly epoch: string;
  readonly allSeen: boolean;
}

/** The links that a page has in one partition. @see RedisPartition.pushLinks */
export interface PageLinks {
  readonly requests: readonly FrontierRequest[];
  /** Version of the cookies that they depend on. */
  readonly jarsAt?: number | undefined;
}

/** Requests of a seed on their way to their partition. */
export interface Transfer {
  readonly to: number;
  /** The number of the first one, among all that were sent to that partition. */
  readonly from: number;
  readonly requests: readonly FrontierRequest[];
}

/** What tells whether a partition belongs to the crawl of partition 0, and has worked for it. */
export interface PartitionRecord {
  readonly crawl: string;
  /** The crawl of partition 0; '' in partition 0 itself. */
  readonly of: string;
  /** Pages done, or begun in this run. */
  readonly pages: number;
}

export class RedisPartition {
  readonly #crawl: CrawlAccess;
  readonly #node: RedisNode;
  readonly #calls: Calls;

  constructor(crawl: CrawlAccess) {
    this.#crawl = crawl;
    this.#node = crawl.node;
    this.#calls = crawl.calls;
  }

  /** The id of the crawl that this client has joined; '' before. */
  get crawlId(): string {
    return this.#node.crawl;
  }

  /** The server, for messages. */
  get place(): string {
    const { store } = this.#crawl.options;
    return store.engine === 'redis' ? placeOf(store.address) : '';
  }

  /** Null where nothing is stored. */
  async record(): Promise<PartitionRecord | null> {
    const meta = internalKey(this.#crawl.options.keys, 'meta');
    const [crawl, of, done, begun] = await this.#crawl.connection.patiently((client) =>
      client.hmget(meta, 'crawl', 'of', 'done', 'run_pages'),
    );
    if (crawl == null) return null;
    return { crawl, of: of ?? '', pages: Number(done ?? 0) + Number(begun ?? 0) };
  }

  /** Join as the incarnation that the node is in all partitions. @param follows partition 0, from all others. */
  async join(node: NodeInfo, options: JoinOptions, incarnation: string, follows?: Leading): Promise<Joined> {
    const partition = partitionText(this.#crawl.options.partition) ?? '';
    const as = { incarnation, partition, ...(follows && { follows: { ...follows } }) };
    const joined = await this.#node.join(node, options, as);
    if (joined.justClosed === null) await sweep(this.#crawl.call);
    return joined;
  }

  async leave(
    reason: string,
    how: { readonly persist: boolean; readonly asksWithinMs?: number },
  ): Promise<Left> {
    const { persist, asksWithinMs } = how;
    if (asksWithinMs !== undefined) return this.#node.leave(reason, asksWithinMs, { persist, asks: true });
    const left = await this.#node.leave(reason, undefined, { persist });
    if (left.cleared) await sweep(this.#crawl.call);
    return left;
  }

  async push(requests: readonly FrontierRequest[], kind: PushKind, share?: StartShare): Promise<PartPush> {
    const { key, total, ...place } = share ?? { key: '', total: null };
    return json<PartPush>(
      await this.#crawl.call('push', {
        ...{ kind, ...place, total: total ?? undefined, start: startField(key) },
        ...this.#crawl.forNewMeta(),
        requests: columnsOf(requests, this.#crawl.dupefilter()),
      }),
    );
  }

  /**
   * Push the links of pages of other partitions, in one call. Settles that wait here are not sent before: they are of other pages.
   * @returns an answer for each page, and as `PartState` how many such links were accepted so far.
   */
  async pushLinks(
    pages: readonly PageLinks[],
  ): Promise<Pick<PartState, 'crawlId' | 'fromOthers'> & { readonly answers: PartPush[] }> {
    const dupefilter = this.#crawl.dupefilter();
    const versions = pages.map(({ jarsAt }) => jarsAt).filter((version) => version !== undefined);
    return json(
      await this.#calls.run('push_links', {
        pages: pages.map(({ requests }) => columnsOf(requests, dupefilter)),
        jarsAt: versions.length === 0 ? undefined : Math.max(...versions),
      }),
    );
  }

  /** Count as lost what this partition had accepted for pages of others and has not any more. @returns how many are lost. */
  async noteRollback(known: Pick<PartState, 'crawlId' | 'fromOthers'>): Promise<number> {
    const { crawlId: crawl, fromOthers } = known;
    return int(await this.#calls.run('note_rollback', { crawl, fromOthers }));
  }

  /** Agree on the number of partitions before a first request. @returns the id of the crawl. */
  async found(): Promise<string> {
    return text(await this.#crawl.call('found_crawl', { ...this.#crawl.forNewMeta() }));
  }

  /** In partition 0: whether all start requests under these arguments were pushed. */
  async isStartPushed(key: string): Promise<boolean> {
    const meta = internalKey(this.#crawl.options.keys, 'meta');
    return (
      (await this.#crawl.connection.patiently((client) => client.hget(meta, startField(key)))) === 'pushed'
    );
  }

  /** In partition 0: grant pages of the run to a partition. @param returned what each is known to have given back. */
  async grantPages(
    run: string,
    to: number,
    wanted: number,
    returned: readonly number[],
  ): Promise<{ granted: number; block: number }> {
    const args = { run, to, wanted, count: returned.length, returned: [...returned] };
    return json(await this.#crawl.call('grant_pages', args));
  }

  /** @returns how many pages this partition has given back in all. */
  async takePages(
    run: string,
    change: { readonly granted?: number; readonly givesBack?: true },
  ): Promise<number> {
    return int(await this.#crawl.call('take_pages', { run, ...change }));
  }

  /** In partition 0: commit changes of cookies. @returns the version of the cookies. */
  async mergeCookies(cookies: readonly CookieChange[]): Promise<number> {
    const { maxCookieJars: maxJars } = this.#node.options ?? {};
    return int(await this.#crawl.call('merge_cookies', { cookies: cookies.map(changeArguments), maxJars }));
  }

  /** @param limit of the budget that is used up. */
  async closeRun(reason: string, limit: number): Promise<void> {
    await this.#crawl.call('control', { closing: reason, limit });
  }

  async raiseEpoch(): Promise<void> {
    await this.#crawl.call('raise_epoch', {});
  }

  /** Clear this partition if it is complete, after partition 0 was cleared. @param of the crawl that partition 0 had. */
  async clearComplete(of: string): Promise<void> {
    await this.#crawl.call('clear_complete', { of });
    await sweep(this.#crawl.call);
  }

  /** In partition 0: what waits for other partitions, in order for each. */
  async transfers(): Promise<Transfer[]> {
    const stored = await this.#crawl.connection.patiently((client) =>
      client.hgetall(internalKey(this.#crawl.options.keys, 'transfers')),
    );
    return Object.entries(stored)
      .map(([field, payload]): Transfer => {
        const [to = 0, from = 0] = field.split(':').map(Number);
        return { to, from, requests: JSON.parse(payload) as FrontierRequest[] };
      })
      .sort((a, b) => a.to - b.to || a.from - b.from);
  }

  /** @param of the crawl of partition 0. @returns null when an earlier transfer must arrive first. */
  async receive({ from, requests }: Transfer, of: string, isFirst: boolean): Promise<PushAnswer | null> {
    const kind = this.#crawl.options.seedsFiltered ? 'seeds-filtered' : 'seeds';
    return json(
      await this.#crawl.call('receive_transfer', {
        ...{ kind, of, from, isFirst, ...this.#crawl.forNewMeta() },
        requests: columnsOf(requests, this.#crawl.dupefilter()),
      }),
    );
  }

  /** In partition 0: what has arrived is deleted. */
  async forgetTransfer({ to, from }: Transfer): Promise<void> {
    const key = internalKey(this.#crawl.options.keys, 'transfers');
    await this.#crawl.connection.patiently((client) => client.hdel(key, `${to}:${from}`));
  }

  /** How far a feed is here: `sequence` is with partition 0, up to `last` waits. `crawl`: id of the stored crawl, '' for none. */
  async feedHeads(feed: string): Promise<{ crawl: string; sequence: number; last: number }> {
    const { keys } = this.#crawl.options;
    return this.#crawl.connection.patiently(async (client) => {
      const [record = null, tail = null] = await client.hmget(
        internalKey(keys, 'feeds'),
        feed,
        `${feed}:tail`,
      );
      if (tail === null) return { crawl: '', sequence: 0, last: 0 };
      const crawl = (await client.hget(internalKey(keys, 'meta'), 'crawl')) ?? '';
      const [found] = readFeeds({ ...(record !== null && { [feed]: record }), [`${feed}:tail`]: tail });
      return { crawl, sequence: found?.record.sequence ?? 0, last: found?.last ?? 0 };
    });
  }

  async feedItems(feed: string, after: number, count: number): Promise<string[]> {
    const fields = Array.from({ length: count }, (_, i) => `${feed}:${after + 1 + i}`);
    const items = await this.#crawl.connection.patiently((client) =>
      client.hmget(internalKey(this.#crawl.options.keys, 'outbox'), ...fields),
    );
    const hole = items.indexOf(null);
    return (hole < 0 ? items : items.slice(0, hole)) as string[];
  }

  /** In partition 0: append items of another one. @returns how far its items are here; -1 when another writer has the feed. */
  async moveIn(
    feed: string,
    owner: string,
    { from, crawl, after }: { readonly from: number; readonly crawl: string; readonly after: number },
    items: readonly string[],
  ): Promise<number> {
    const args = { feed, owner, from: String(from), crawl, after, items: [...items] };
    return int(await this.#crawl.call('feed_move_in', args));
  }

  /** Delete items that partition 0 has. */
  async moved(feed: string, sequence: number): Promise<void> {
    await this.#crawl.call('feed_moved', { feed, sequence });
  }

  /** Move items of the items list into the outbox of a feed, whose writer partition 0 knows. */
  async takeItems(feed: string, max: number): Promise<number> {
    return int(await this.#crawl.call('feed_take', { feed, most: max }));
  }
}
