/** Seeds from any source before they are added to a crawl. */

import type { Request } from '../../http/message/request.js';
import type { Trust } from '../../node/seeds/seed-requests.js';

/** The text of a seed and its place in the input. */
export interface SeedText {
  /** A URL, or a JSON object with the fields of a request. */
  readonly text: string;
  /** The seed itself, where a program made it; `text` is its URL. */
  readonly request?: Request;
  /** The place for messages: file and line, argument, or sitemap entry. */
  readonly where: string;
  /** Why the text is not a valid seed, if the reader of the input found that. */
  readonly problem?: string;
  /** `untrusted` when a site named it. The default is that the user did. */
  readonly trust?: Trust;
}

/** Numbers of seeds so far, by result. */
export interface SeedCounts {
  accepted: number;
  duplicates: number;
  bad: number;
}
