/** Seeds on their way into a crawl, wherever they come from. */
import type { Trust } from '../../engine/seeds/seed-requests.js';

/** One seed as it was written, and where it stands. */
export interface SeedText {
  /** A URL, or a JSON object with the fields of a request. */
  readonly text: string;
  /** For messages: the file and line, the argument, the entry of a sitemap. */
  readonly where: string;
  /** Why it cannot be a seed, where that is known already. */
  readonly problem?: string;
  /** `untrusted` where a site named it; else the user did. */
  readonly trust?: Trust;
}

/** What became of the seeds so far. */
export interface SeedCounts {
  accepted: number;
  duplicates: number;
  bad: number;
}
