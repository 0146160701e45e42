/** What users are told when fingerprints vanish from the dupefilter by another hand. */
import { howMany } from '../../format-amounts.js';
import type { CrawlState } from '../../frontier/frontier.js';
import type { Logger } from '../../log.js';

/** Such as `20 fingerprints vanished from the dupefilter: …`, with what follows from it. */
export function vanishedMessage(count: number): string {
  return `${howMany(count, 'fingerprint')} vanished from the dupefilter: somebody deleted its keys or rows or put them back as they were earlier, or Redis evicted them. Links to these pages are new again, so they may be fetched twice`;
}

const expiringMessage =
  'somebody has set a time to live on the dupefilter (EXPIRE): when it ends, all fingerprints vanish at once. Remove it with PERSIST, or set DUPEFILTER_CLASS: TimedRFPDupeFilter, where each fingerprint expires on its own';

/** As one node hears of it: said at once, and again when more have vanished. */
export class VanishedFingerprints {
  readonly #log: Logger;
  #before: number | null = null;
  #said = 0;
  #expires = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Called when the node joins, and with every answer of the store. */
  hear({ seenGone, seenExpires }: Pick<CrawlState, 'seenGone' | 'seenExpires'>): void {
    this.#before ??= seenGone;
    if (seenGone > this.#said) this.#log.warn({ fingerprints: seenGone }, vanishedMessage(seenGone));
    if (seenExpires && !this.#expires) this.#log.warn({}, expiringMessage);
    this.#said = seenGone;
    this.#expires = seenExpires;
  }

  /** A sentence for the summary when fingerprints vanished while this node took part; else null. */
  get why(): string | null {
    return this.#said > (this.#before ?? 0) ? vanishedMessage(this.#said) : null;
  }
}
