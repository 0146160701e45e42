/** What users are told when fingerprints vanish from the dupefilter by another hand. */
import { howMany } from '../../format-amounts.js';
import type { CrawlState } from '../../frontier/frontier.js';
import type { Logger } from '../../log.js';

/** Such as `20 fingerprints vanished from the dupefilter: …`, with what follows from it. */
export function vanishedMessage(count: number): string {
  return `${howMany(count, 'fingerprint')} vanished from the dupefilter: somebody deleted its keys or rows, or Redis evicted them. Links to these pages are new again, so they may be fetched twice`;
}

const expiringMessage =
  'somebody has set a time to live on the dupefilter (EXPIRE): when it ends, all fingerprints vanish at once. Remove it with PERSIST, or set DUPEFILTER_CLASS: TimedRFPDupeFilter, where each fingerprint expires on its own';

/** As one node hears of it: said at once, and again when more have vanished. */
export class VanishedFingerprints {
  readonly #log: Logger;
  #said = 0;
  #expires = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Called when the node joins, and with every answer of the store. */
  hear({ seenGone, seenExpires }: Pick<CrawlState, 'seenGone' | 'seenExpires'>): void {
    if (seenGone > this.#said) this.#log.warn({ fingerprints: seenGone }, vanishedMessage(seenGone));
    if (seenExpires && !this.#expires) this.#log.warn({}, expiringMessage);
    this.#said = seenGone;
    this.#expires = seenExpires;
  }
}
