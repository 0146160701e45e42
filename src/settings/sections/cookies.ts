/** Settings: cookies. */
import { flag, integer } from '../kinds.js';

export const cookieSettings = {
  /** Store the cookies that sites set, for all nodes, and send them back. Default: true. */
  COOKIES_ENABLED: flag({ default: true }),
  /** Log the cookies of each request and response, with their values, at level DEBUG. Default: false. */
  COOKIES_DEBUG: flag({ default: false }),
  /**
   * Longest Cookie header that is made of the cookies of a jar. Beyond it, the largest cookies are left out
   * first, with a warning for each domain. 0 is no limit. Unit: bytes. Default: 8192.
   */
  COOKIES_MAX_HEADER: integer({ default: 8_192, unit: 'bytes' }),
  /**
   * Maximum number of cookie jars (meta.cookiejar) of a crawl. Above it, the jar whose cookies have not
   * changed for the longest time is deleted. Unit: jars. Default: 10000.
   */
  COOKIES_MAX_JARS: integer({ default: 10_000, min: 1, unit: 'jars' }),
};
