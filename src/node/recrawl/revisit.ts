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
  /** The validators of the last download; null for none. */
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
   * The effects of the page, with its validators. None are stored when one of its links may be fetched again, since that
   * link is found only by reading the page again, or when an item was lost. @param links of the page; undefined for none.
   */
  addTo(
    effects: Effects,
    { kind }: Outcome,
    links: { some(test: ComesAgain): boolean } | undefined,
  ): Effects {
    if (kind !== 'done' || this.isUnchanged) return effects;
    const isWhole = effects.stats.item_error_count === undefined && links?.some(this.#comesAgain) !== true;
    const validators = isWhole ? this.#received : null;
    if (validators === null && this.stored === null) return effects;
    const text = validators === null ? null : encodeValidators(validators);
    return { ...effects, validators: { fingerprint: this.fingerprint, text } };
  }
}
