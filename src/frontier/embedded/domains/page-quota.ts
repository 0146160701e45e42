/** The limit of pages per domain: how many requests of each domain were accepted since the crawl began or last finished. */
import type { Transaction } from '../base/transaction.js';

/** Whether as many requests of the domain were accepted as may be. */
export function isUsedUp({ sql, space, crawl }: Transaction, domain: string): boolean {
  const { pagesPerDomain } = crawl.tunables;
  if (pagesPerDomain === 0) return false;
  const row = sql.get<{ accepted: number }>`
    SELECT accepted FROM domain_accepted WHERE space = ${space} AND domain = ${domain}`;
  return (row?.accepted ?? 0) >= pagesPerDomain;
}

/** Count an accepted request; without a limit nothing is counted. */
export function countPage({ sql, space, crawl }: Transaction, domain: string): void {
  if (crawl.tunables.pagesPerDomain === 0) return;
  sql.run`INSERT INTO domain_accepted (space, domain, accepted) VALUES (${space}, ${domain}, 1)
    ON CONFLICT (space, domain) DO UPDATE SET accepted = accepted + 1`;
}

/** Counting begins again after a crawl that has finished. */
export function forgetPages({ sql, space }: Transaction): void {
  sql.run`DELETE FROM domain_accepted WHERE space = ${space}`;
}
