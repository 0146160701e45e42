/**
 * Every error that crawlnode throws on purpose. A message says what happened, to what, and what to do. `code` is stable,
 * and `cause` holds the original error. Only `cli/main.ts` prints errors and chooses the exit code.
 */
import type { ErrorCode } from './error-codes.js';

/** The root of crawlnode's own errors: an expected failure, shown as a message and never as a stack trace. */
export class CrawlnodeError extends Error {
  /** Stable, machine-readable name of what went wrong; `error-codes.ts` lists them all. */
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** The command line, a setting or an argument is wrong (exit 2). */
export class UsageError extends CrawlnodeError {
  constructor(message: string, options?: { code?: ErrorCode; cause?: unknown }) {
    super(options?.code ?? 'usage', message, options);
  }
}

/** A setting is unknown or has a value it cannot take (exit 2). */
export class SettingsError extends UsageError {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, { ...options, code: 'settings' });
  }
}

/** Spider code cannot be found or does not load (exit 2). */
export class SpiderLoadError extends UsageError {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, { ...options, code: 'spider' });
  }
}

/**
 * The frontier refuses the operation: live nodes, a different shape or data format, a foreign key, or an eviction policy
 * (exit 3).
 */
export class RefusedError extends CrawlnodeError {
  constructor(message: string, options?: { code?: ErrorCode; cause?: unknown }) {
    super(options?.code ?? 'refused', message, options);
  }
}

/** Another process writes the file of a feed (exit 3). */
export class FeedHeldError extends RefusedError {
  /** The other process, for messages. */
  readonly holder: string;
  /** Whether it only writes the items that a dead node left, so that the file is free again soon; null where that is not known. */
  readonly isBrief: boolean | null;

  constructor(message: string, { holder, isBrief }: Pick<FeedHeldError, 'holder' | 'isBrief'>) {
    super(message, { code: 'feed_held' });
    this.holder = holder;
    this.isBrief = isBrief;
  }
}

/** The store cannot be reached or rejects the credentials (exit 4 at start). The call is safe to repeat. */
export class FrontierUnavailableError extends CrawlnodeError {
  constructor(message: string, options?: { code?: ErrorCode; cause?: unknown }) {
    super(options?.code ?? 'frontier_unavailable', message, options);
  }
}

/** A node has waited for the store for as long as it may (exit 4, or 1 for a full disk). `code` is that of the store's error. */
export class WaitedTooLongError extends CrawlnodeError {
  get exitCode(): 1 | 4 {
    return this.code === 'disk_full' ? 1 : 4;
  }
}

/** The records of the frontier were deleted while a node was running, by a flush or reset of the store (exit 1). */
export class FrontierGoneError extends CrawlnodeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('frontier_gone', message, options);
  }
}

/** The file of the embedded frontier is damaged (exit 1). It cannot be used until it is repaired. */
export class DamagedStoreError extends CrawlnodeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('damaged_store', message, options);
  }
}

/** Whether nothing can be read of the store: it does not answer, was deleted, or is damaged. */
export function isStoreAway(error: unknown): boolean {
  const classes = [FrontierUnavailableError, FrontierGoneError, DamagedStoreError];
  return classes.some((each) => error instanceof each);
}

/**
 * This incarnation of the node has ended: its tokens are stale, and the node must join again. Either the store has
 * declared it dead (`incarnation_dead`), or the store is not the one it joined (`store_replaced`).
 */
export class IncarnationDeadError extends CrawlnodeError {
  constructor(message: string, options?: { code?: ErrorCode; cause?: unknown }) {
    super(options?.code ?? 'incarnation_dead', message, options);
  }
}

/**
 * Whether an error concerns the node as a whole, not only the current page or seed. The node's main loop handles such
 * an error by itself.
 */
export function concernsNode(error: unknown): boolean {
  return (
    error instanceof FrontierUnavailableError ||
    error instanceof WaitedTooLongError ||
    error instanceof FrontierGoneError ||
    error instanceof IncarnationDeadError
  );
}

/** A request, item or seed holds something that cannot be stored or sent; the message names the field. */
export class InvalidRequestError extends CrawlnodeError {
  constructor(message: string, options?: { code?: ErrorCode; cause?: unknown }) {
    super(options?.code ?? 'invalid_request', message, options);
  }
}

/**
 * Thrown by an item pipeline to drop an item. The item is counted as dropped, and the page still succeeds.
 * Source: `scrapy.exceptions.DropItem`.
 */
export class DropItem extends CrawlnodeError {
  /** @param reason for the log. */
  constructor(reason = 'dropped by a pipeline') {
    super('drop_item', reason);
  }
}

/**
 * Thrown by middleware to drop a page: its callback is not called, its errback is, and the request is done and counted.
 * Source: `scrapy.exceptions.IgnoreRequest`.
 */
export class IgnoreRequest extends CrawlnodeError {
  /** @param reason for the log and the errback. */
  constructor(reason = 'dropped by a middleware') {
    super('ignore_request', reason);
  }
}

/** Longer reasons are cut. */
const MAX_REASON_CHARS = 200;

/**
 * Thrown by a callback, an item pipeline, middleware or an extension to close the crawl on all nodes. What its page gave
 * before is committed; pages in work are finished, and pending requests stay for the next run.
 * Source: `scrapy.exceptions.CloseSpider`.
 */
export class CloseSpider extends CrawlnodeError {
  /** The closing reason of the run, in `stats` and the summary. */
  readonly reason: string;

  /** @param reason the closing reason of the run; longer ones than 200 characters are cut. */
  constructor(reason = 'cancelled') {
    const plain =
      String(reason)
        .replace(/\p{Cc}+/gu, ' ')
        .trim()
        .slice(0, MAX_REASON_CHARS) || 'cancelled';
    super('close_spider', `the crawl is to be closed: ${plain}`);
    this.reason = plain;
  }
}

/** The reason of a CloseSpider, or of one that a middleware threw; null for any other error. */
export function closingReason(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { code, reason } = error as { code?: unknown; reason?: unknown };
  if (code === 'close_spider') return new CloseSpider(reason as string).reason;
  return code === 'middleware_error' ? closingReason(error.cause) : null;
}

/** Checks the code too, because a module may import its own copy of crawlnode. */
export function isIgnoreRequest(error: unknown): boolean {
  return (
    error instanceof IgnoreRequest ||
    (error instanceof Error && (error as { code?: unknown }).code === 'ignore_request')
  );
}

/** The message of a thrown value of any type. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
