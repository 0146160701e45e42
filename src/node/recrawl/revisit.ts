/** One download of a page that may have been downloaded before, in an earlier period or before its fingerprint expired. */
import type { Effects, Outcome } from '../../frontier/frontier.js';
import type { Request } from '../../http/message/request.js';
import type { Response } from '../../http/message/response.js';
import { encodeValidators, type Validators, validatorsOf } from '../../http/validators.js';

/** Whether a request may be accepted again after it was done. */
export type ComesAgain = (request: Request) => boolean;

const OK = 200;

export class Revisit {
  /** Of its request, the same in every period. */
  readonly fingerprint: string;
  /** What the last download has left; null for nothing. */
  readonly stored: Validators | null;
  /** The stored ones were sent, so a 304 means that the page has not changed. */
  isConditional = false;
  /** The server said so. */
  isUnchanged = false;
  readonly #comesAgain: ComesAgain;
  #received: Validators | null = null;

  constructor(fingerprint: string, stored: Validators | null, comesAgain: ComesAgain) {
    this.fingerprint = fingerprint;
    this.stored = stored;
    this.#comesAgain = comesAgain;
  }

  /** The page goes to its callback. */
  receive({ status, headers, flags }: Response): void {
    this.#received = status === OK && flags.length === 0 ? validatorsOf(headers) : null;
  }

  /**
   * The effects of the page with what is to be kept of it. Nothing is, if it had a link that comes again: the page must be
   * read again for that link to be found. Nor if an item was lost.
   * @param links those that it yielded; undefined for none.
   */
  addTo(
    effects: Effects,
    { kind }: Outcome,
    links: { some(test: ComesAgain): boolean } | undefined,
  ): Effects {
    if (kind !== 'done' || this.isUnchanged) return effects;
    const isWhole = effects.stats.item_error_count === undefined && links?.some(this.#comesAgain) !== true;
    const kept = isWhole ? this.#received : null;
    if (kept === null && this.stored === null) return effects;
    const text = kept === null ? null : encodeValidators(kept);
    return { ...effects, validators: { fingerprint: this.fingerprint, text } };
  }
}
