/**
 * Domains whose servers hang. After each timeout the whole crawl pauses the domain for longer: requests to a dead host
 * would each hold a socket and a lease for the whole DOWNLOAD_TIMEOUT.
 */

/** The maximum of domains. Beyond it the one with the oldest timeout is forgotten. */
const MAX_DOMAINS = 10_000;

interface Hanging {
  readonly times: number;
  readonly restsUntilMs: number;
}

export class HangingDomains {
  readonly #baseMs: number;
  readonly #capMs: number;
  readonly #domains = new Map<string, Hanging>();

  /** @param backoff the first pause, which doubles with each further timeout, and the longest one. */
  constructor({ baseMs, capMs }: { readonly baseMs: number; readonly capMs: number }) {
    this.#baseMs = baseMs;
    this.#capMs = capMs;
  }

  /**
   * A download of a domain has timed out. @returns the length of the pause; null when the domain is paused already, as when
   * several requests time out together.
   */
  hung(domain: string, nowMs: number): number | null {
    const before = this.#domains.get(domain);
    if (before !== undefined && nowMs < before.restsUntilMs) return null;
    const times = (before?.times ?? 0) + 1;
    const restMs = Math.min(this.#capMs, this.#baseMs * 2 ** (times - 1));
    this.#domains.delete(domain);
    this.#domains.set(domain, { times, restsUntilMs: nowMs + restMs });
    if (this.#domains.size > MAX_DOMAINS) this.#forgetOldest();
    return restMs;
  }

  /** A domain has answered. */
  answered(domain: string): void {
    if (this.#domains.size > 0) this.#domains.delete(domain);
  }

  #forgetOldest(): void {
    for (const domain of this.#domains.keys()) {
      this.#domains.delete(domain);
      return;
    }
  }
}
