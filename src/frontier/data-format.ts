/** The data formats of the engines. A crawl in another format is refused. */
import { RefusedError } from '../errors.js';

/** Incremented for an engine with every change of its stored data that an older crawlnode would misread. */
export const dataFormats = { redis: 14, embedded: 12 } as const;

/** @param crawl the name of its requests key. */
export function otherFormat(
  engine: keyof typeof dataFormats,
  crawl: string,
  found: string | number,
): RefusedError {
  return new RefusedError(
    `the crawl ${crawl} is kept in data format ${found}, and this crawlnode reads and writes format ${dataFormats[engine]}: go on with the version of crawlnode that wrote it, or delete it with "crawlnode reset SPIDER" and begin anew`,
    { code: 'format' },
  );
}
