/** The engine of one node. */
import type { EngineDeps, EngineResult } from './engine-options.js';

export type {
  EngineDeps,
  EngineOptions,
  EngineProgress,
  EngineResult,
  LinkOptions,
  RetryOptions,
} from './engine-options.js';

/**
 * Crawl until the crawl is over, a signal comes or the store says so.
 * @throws RefusedError at join; FrontierUnavailableError when the first join cannot reach the store.
 */
export declare function runEngine(deps: EngineDeps): Promise<EngineResult>;
