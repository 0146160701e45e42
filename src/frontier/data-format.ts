/** The format in which both engines keep a crawl; a crawl of another one is refused, never guessed at. */
import { RefusedError } from '../errors.js';

/** Raised with every change of what the stores hold that an older crawlnode would misread. */
export const DATA_FORMAT = 3;

/** @param crawl the name of its requests key. */
export function otherFormat(crawl: string, found: string | number): RefusedError {
  return new RefusedError(
    `the crawl ${crawl} is kept in data format ${found}, and this crawlnode reads and writes format ${DATA_FORMAT}: go on with the version of crawlnode that wrote it, or delete it with "crawlnode reset" and begin anew`,
    { code: 'format' },
  );
}
