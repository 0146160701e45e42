/** The limit of pages per domain: how many requests of each domain were accepted since the crawl began or last finished. */
import type { Transaction } from '../base/transaction.js';

/** The counts of one batch of requests: read on first use, and written once. */
export class PageQuota {
  readonly #tx: Transaction;
  readonly #most: number;
  readonly #counts = new Map<string, number>();
  readonly #taken = new Set<string>();

  private constructor(tx: Transaction, most: number) {
    this.#tx = tx;
    this.#most = most;
  }

  /** Undefined where the crawl has no limit: then nothing is counted. */
  static of(tx: Transaction): PageQuota | undefined {
    const { pagesPerDomain } = tx.crawl.tunables;
    return pagesPerDomain > 0 ? new PageQuota(tx, pagesPerDomain) : undefined;
  }

  isUsedUp(domain: string): boolean {
    return this.#countOf(domain) >= this.#most;
  }

  take(domain: string): void {
    this.#counts.set(domain, this.#countOf(domain) + 1);
    this.#taken.add(domain);
  }

  save(): void {
    const { sql, space } = this.#tx;
    for (const domain of this.#taken) {
      sql.run`REPLACE INTO domain_accepted (space, domain, accepted) VALUES (${space}, ${domain}, ${this.#countOf(domain)})`;
    }
  }

  #countOf(domain: string): number {
    const known = this.#counts.get(domain);
    if (known !== undefined) return known;
    const { sql, space } = this.#tx;
    const row = sql.get<{ accepted: number }>`
      SELECT accepted FROM domain_accepted WHERE space = ${space} AND domain = ${domain}`;
    const accepted = row?.accepted ?? 0;
    this.#counts.set(domain, accepted);
    return accepted;
  }
}

/** Counting begins again after a crawl that has finished. */
export function forgetPages({ sql, space }: Transaction): void {
  sql.run`DELETE FROM domain_accepted WHERE space = ${space}`;
}
