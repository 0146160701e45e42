/** Settings: middleware modules of the project. */
import { map, moduleNumber } from '../kinds.js';

const expects = 'a map of modules to numbers from 0 to 1000 (null switches a built-in one off)';

export const middlewareSettings = {
  /**
   * Modules that see every request before its download and every response after it: { ./middlewares/sign.ts:
   * 450 }. Requests pass from the lowest number to the highest, responses from the highest to the lowest.
   * Built-in features have the numbers of Scrapy's middleware. Default: {}.
   */
  DOWNLOADER_MIDDLEWARES: map(moduleNumber, { default: {} as Record<string, number | null>, expects }),
  /**
   * Modules that see every response before its callback and all that the callback yields: {
   * ./middlewares/tag.ts: 543 }. Responses pass from the lowest number to the highest, results from the
   * highest to the lowest. Default: {}.
   */
  SPIDER_MIDDLEWARES: map(moduleNumber, { default: {} as Record<string, number | null>, expects }),
};
