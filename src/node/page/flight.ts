/** One leased page in progress: what its steps note, and how its download is aborted with it. */
import type { Download, DownloadUnderWay, PageTurn } from '../../downloader/downloader.js';
import type { Lease } from '../../frontier/frontier.js';
import type { PageCookies } from '../../http/cookies/page-cookies.js';
import type { Response } from '../../http/message/response.js';
import type { StatChanges } from '../../stats/stat-changes.js';
import type { Revisit } from '../recrawl/revisit.js';
import { beginWithinMs } from './judge-download.js';

export class Flight {
  readonly lease: Lease;
  /** `performance.now()` when the lease was asked for. */
  readonly leasedAt: number;
  /** `performance.now()` from which the delay of its domain counts: when the lease was asked for, or a later instant of `defer`. */
  dueAt: number;
  /** Set when its download begins: from then on the page counts against the budget. */
  started = false;
  /** The cookies that the page uses and changes; null when there are none. */
  cookies: PageCookies | null = null;
  /** Set for a page that may have been downloaded before; else null. */
  revisit: Revisit | null = null;
  /** Latency of its response; null before, and when it must not change the delay. */
  latencyMs: number | null = null;
  /** True once it has been settled or dropped; what the page still does has no effect. */
  over = false;
  /** Kept for who listens to committed items. */
  response: Response | null = null;
  /** Changes of the project's stats by the code of this page; null when there is none. */
  stats: StatChanges | null = null;
  /** Its turn to run among the pages with large bodies; null for others. */
  turn: PageTurn | null = null;
  /** The reason of a CloseSpider that its code threw; null for none. */
  closing: string | null = null;
  /** Whether it waits for its turn to run. */
  waitsForTurn = false;
  /** Called when it needs no slot any more, for a while at least. */
  readonly onStall: () => void;
  #downloading: DownloadUnderWay | null = null;
  #abort: AbortController | null = null;

  constructor(lease: Lease, askedAt: number, onStall: () => void) {
    this.lease = lease;
    this.leasedAt = askedAt;
    this.dueAt = askedAt;
    this.onStall = onStall;
  }

  /** `performance.now()` after which its download must not begin. */
  get beginByMs(): number {
    return this.dueAt + beginWithinMs(this.lease.delayMs);
  }

  /** Whether its server sends nothing at present (`DownloadUnderWay.isStalled`). */
  get isStalled(): boolean {
    return this.#downloading?.isStalled === true;
  }

  /** Whether it was received, and waits for other pages of this node. */
  get isReceived(): boolean {
    return this.waitsForTurn || this.#downloading?.isReceived === true;
  }

  /** End the download, if there is one, as a `timeout`. */
  timeOut(says: string): void {
    this.#downloading?.timeOut(says);
  }

  /** Await a download, which is aborted with this page. */
  async during(download: DownloadUnderWay): Promise<Download> {
    this.#downloading = download;
    try {
      return await download.result;
    } finally {
      this.#downloading = null;
    }
  }

  /** Aborted with this page. Created on first use: few pages need it, and it costs more than the links of a page. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.over) this.#abort.abort();
    return this.#abort.signal;
  }

  /** Once it is over. */
  abort(): void {
    this.#downloading?.abort();
    this.#abort?.abort();
  }
}
