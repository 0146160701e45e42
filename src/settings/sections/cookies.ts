/** Settings: cookies. */
import { flag, integer } from '../kinds.js';

export const cookieSettings = {
  COOKIES_ENABLED: flag({
    default: true,
    text: 'Store the cookies that sites set, for all nodes, and send them back.',
  }),
  COOKIES_DEBUG: flag({
    default: false,
    text: 'Log the cookies of each request and response, with their values, at level DEBUG.',
  }),
  COOKIES_MAX_HEADER: integer({
    default: 8_192,
    unit: 'bytes',
    text: 'Longest Cookie header that is made of the cookies of a jar. Beyond it, the largest cookies are left out first, with a warning for each domain. 0 is no limit.',
  }),
  COOKIES_MAX_JARS: integer({
    default: 10_000,
    min: 1,
    unit: 'jars',
    text: 'Maximum number of cookie jars (meta.cookiejar) of a crawl. Above it, the jar whose cookies have not changed for the longest time is deleted.',
  }),
};
