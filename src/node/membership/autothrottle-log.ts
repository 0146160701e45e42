/** Logs the current delay and the latency of every response (AUTOTHROTTLE_DEBUG), as Scrapy does. */
import type { Download } from '../../downloader/downloader.js';
import type { Lease } from '../../frontier/frontier.js';
import type { Logger } from '../../log.js';

/** Domains whose last delay is remembered. */
const MOST_DOMAINS = 1_000;

export class DelayLog {
  readonly #log: Logger;
  readonly #lastMs = new Map<string, number>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Log a response: the delay of its lease, and the difference from this node's previous lease of the domain. */
  note({ domain, delayMs }: Lease, { latencyMs, body }: Pick<Download, 'latencyMs' | 'body'>): void {
    const changedMs = delayMs - (this.#lastMs.get(domain) ?? delayMs);
    if (this.#lastMs.size >= MOST_DOMAINS) this.#lastMs.clear();
    this.#lastMs.set(domain, delayMs);
    const sign = changedMs < 0 ? '-' : '+';
    const latency = Math.round(latencyMs);
    this.#log.info(
      { domain, delayMs, changedMs, latencyMs: latency, bytes: body.length },
      `slot: ${domain} | delay: ${delayMs} ms (${sign}${Math.abs(changedMs)}) | latency: ${latency} ms | size: ${body.length} bytes`,
    );
  }
}
