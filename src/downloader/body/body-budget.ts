/**
 * Bounds the memory of all bodies of a node (DOWNLOAD_BUFFER_LIMIT). Bodies that fit into three
 * quarters of the limit together, even if each becomes as long as it may, are read side by side. If they may not fit, the oldest
 * is read to its end, and the others share an eighth of the limit. So the rest of long bodies is read one after the other,
 * and memory is bounded even if many bodies never end.
 *
 * A body that was read counts until its page ends. A callback cannot wait while it builds a tree, so a page whose body is not small
 * waits before its callback (`PageTurn`): the trees of those that run together fit into twice the limit.
 */
import { LARGE_FROM_BYTES } from './body-bytes.js';
import { collectGarbage } from './collect-garbage.js';

/** Bodies that cannot take more than this part of the limit together are never paused. */
const PART_OF_ALL = 3 / 4;
/** What the others share while the oldest is read. With default settings that one may become half as long as the limit (DOWNLOAD_MAXSIZE). */
const PART_OF_OTHERS = 1 / 8;
/** What the others may hold at most: bodies that began while there were fewer hold more than their share. */
const MOST_OF_OTHERS = 1 / 2;
/**
 * Memory that a page may take beside its body, for each byte of it: a tree of the worst markup, such as `<b><b>`. With default
 * settings a body of 2.7 MiB and more takes all that there is, so such pages run one after the other.
 */
const PAGE_BYTES_PER_BODY_BYTE = 96;
/** Pages with shorter bodies neither wait nor count: even the trees of as many as there are slots are small. */
const PAGE_FROM_BYTES = 32 * 1024;
/** What pages that run together may take beside their bodies. */
const PART_OF_PAGES = 2;
/** Bodies whose servers send nothing are ended when all bodies hold so many times the limit. */
const STALLED_LIMITS = 2;
/**
 * A server that sends as fast as it can would take the main loop from all small pages. So a body rests after each piece, and
 * comes with at most 100 MB a second.
 */
const PIECE_BYTES = 1024 * 1024;
const REST_MS = 10;

/** A source of body bytes that the budget may pause: a connection or a decompression stream. */
export interface Pausable {
  pause(): unknown;
  resume(): unknown;
}

/** What a download hears from the budget. */
export interface ShareEvents {
  /** Called when its body is paused and when it is resumed. */
  onPause(isPaused: boolean): void;
  /** Its server sends nothing while it holds memory that others need: the download should end. */
  onEvict(): void;
}

/** The budget of a node. */
export class BodyBudget {
  readonly #limitBytes: number;
  /** The counted bodies. The first one is never paused. */
  readonly #shares = new Set<BodyShare>();
  readonly #pages = new PageQueue();
  #heldBytes = 0;
  /** Bytes of the bodies whose pages wait or run. */
  #keptBytes = 0;

  /** @param limitBytes 0 for no limit. */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Add `bytes` of a share, and pause shares if the limit is exceeded. */
  take(share: BodyShare, bytes: number): void {
    if (this.#limitBytes === 0) return;
    this.#shares.add(share);
    this.#heldBytes += bytes;
    this.#arrange();
  }

  /** Release all bytes of a share. */
  giveBack(share: BodyShare, bytes: number): void {
    if (!this.#shares.delete(share)) return;
    this.#heldBytes -= bytes;
    this.#arrange();
  }

  /**
   * A body was read, and its page is to run. The bytes count until `end()`.
   * @returns null for a small body, which neither waits nor counts
   */
  enter(bodyBytes: number): PageTurn | null {
    if (this.#limitBytes === 0 || bodyBytes < PAGE_FROM_BYTES) return null;
    const pageBytes = Math.min(bodyBytes * PAGE_BYTES_PER_BODY_BYTE, PART_OF_PAGES * this.#limitBytes);
    this.#keptBytes += bodyBytes;
    this.#arrange();
    return this.#pages.enter(pageBytes, PART_OF_PAGES * this.#limitBytes, () => {
      this.#keptBytes -= bodyBytes;
      this.#arrange();
    });
  }

  /** Move a share whose server sends nothing behind the others, so that it does not block them. */
  goLast(share: BodyShare): void {
    if (this.#mayAllRead() || !this.#shares.delete(share)) return;
    this.#shares.add(share);
    if (this.#heldBytes > STALLED_LIMITS * this.#limitBytes) share.evict();
    else this.#arrange();
  }

  #arrange(): void {
    const mayAllRead = this.#mayAllRead();
    let mayReadBytes = this.#mayOldestRead() ? Number.POSITIVE_INFINITY : 0;
    for (const share of this.#shares) {
      share.setPaused(!mayAllRead && share.countedBytes > mayReadBytes);
      if (mayReadBytes < Number.POSITIVE_INFINITY) continue;
      // This was the oldest.
      const others = this.#shares.size - 1;
      const isRoom =
        this.#heldBytes + this.#keptBytes - share.countedBytes <= MOST_OF_OTHERS * this.#limitBytes;
      mayReadBytes = isRoom ? (PART_OF_OTHERS * this.#limitBytes) / others : 0;
    }
  }

  /** The oldest waits only for pages, which end by themselves. */
  #mayOldestRead(): boolean {
    const [oldest] = this.#shares;
    if (oldest === undefined || this.#keptBytes === 0) return true;
    return this.#keptBytes + oldest.atMostBytes <= this.#limitBytes;
  }

  /** Whether no body needs to pause, even if each becomes as long as it may. */
  #mayAllRead(): boolean {
    let atMostBytes = this.#keptBytes;
    for (const share of this.#shares) atMostBytes += share.atMostBytes;
    return atMostBytes <= PART_OF_ALL * this.#limitBytes;
  }
}

/** The turn of a page to run, among those with large bodies. */
export interface PageTurn {
  /** Resolves when the page may run. */
  readonly comes: Promise<void>;
  /** The page is over, whether its turn has come or not. Again it does nothing. */
  end(): void;
}

/** Pages with large bodies, in the order of their ends. The first of those that wait runs as soon as there is room for it. */
class PageQueue {
  readonly #waiting = new Set<{ readonly bytes: number; readonly start: () => void }>();
  #runningBytes = 0;

  enter(bytes: number, limitBytes: number, onEnd: () => void): PageTurn {
    const page = { bytes, start: () => {} };
    const comes = new Promise<void>((resolve) => {
      page.start = resolve;
    });
    this.#waiting.add(page);
    this.#startWaiting(limitBytes);
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      if (!this.#waiting.delete(page)) this.#runningBytes -= bytes;
      onEnd();
      this.#startWaiting(limitBytes);
    };
    return { comes, end };
  }

  #startWaiting(limitBytes: number): void {
    for (const page of this.#waiting) {
      if (this.#runningBytes + page.bytes > limitBytes) return;
      this.#waiting.delete(page);
      this.#runningBytes += page.bytes;
      void collectGarbage().then(page.start);
    }
  }
}

/** The bytes that one body holds of the budget. */
export class BodyShare {
  readonly #budget: BodyBudget;
  readonly #events: ShareEvents;
  #source: Pausable | null = null;
  #atMostBytes = Number.POSITIVE_INFINITY;
  #heldBytes = 0;
  #countedBytes = 0;
  #restsAtBytes = PIECE_BYTES;
  #isPaused = false;
  #isResting = false;

  constructor(budget: BodyBudget, events: ShareEvents) {
    this.#budget = budget;
    this.#events = events;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  get countedBytes(): number {
    return this.#countedBytes;
  }

  /** What the body may come to hold. */
  get atMostBytes(): number {
    return Math.max(this.#atMostBytes, this.#countedBytes);
  }

  /** Set the source of further bytes. @param atMostBytes unless it is known already. */
  readFrom(source: Pausable, atMostBytes = this.#atMostBytes): void {
    this.#source = source;
    this.#atMostBytes = atMostBytes;
    if (this.#isPaused || this.#isResting) source.pause();
  }

  /** Bodies below 256 KiB are not counted and never pause. Most pages are smaller, and together they use little memory. */
  add(bytes: number): void {
    this.#heldBytes += bytes;
    if (this.#heldBytes < LARGE_FROM_BYTES) return;
    const uncounted = this.#heldBytes - this.#countedBytes;
    this.#countedBytes = this.#heldBytes;
    this.#budget.take(this, uncounted);
    if (this.#heldBytes >= this.#restsAtBytes && !this.#isResting) this.#rest();
  }

  goLast(): void {
    if (this.#countedBytes > 0) this.#budget.goLast(this);
  }

  evict(): void {
    this.#events.onEvict();
  }

  /** Release its bytes: the body was discarded, or handed over to the page. */
  close(): void {
    if (this.#countedBytes > 0) this.#budget.giveBack(this, this.#countedBytes);
    this.#countedBytes = 0;
    this.#source = null;
  }

  setPaused(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) this.#source?.pause();
    else if (!this.#isResting) this.#source?.resume();
    this.#events.onPause(isPaused);
  }

  #rest(): void {
    this.#isResting = true;
    this.#source?.pause();
    setTimeout(() => {
      this.#isResting = false;
      this.#restsAtBytes = this.#heldBytes + PIECE_BYTES;
      if (!this.#isPaused) this.#source?.resume();
    }, REST_MS);
  }
}
