/** This node's cache of parsed robots.txt rules, by origin. Each page looks here first. */
import type { Unreachable } from '../../frontier/robots/robots-state.js';
import { parseRobots, type Robots } from '../../robots/parse-robots.js';
import { crawlDelayMs } from './judge-robots.js';

/** What the robots.txt of an origin says, or that it cannot be fetched. */
export type OriginRules =
  | {
      readonly kind: 'rules';
      /** Null when everything is allowed. */
      readonly robots: Robots | null;
      /** The Crawl-delay; 0 for none. */
      readonly delayMs: number;
    }
  | Pick<Unreachable, 'kind' | 'reason' | 'why'>;

/** Bounds of the cache. Beyond them the oldest entry is dropped; its origin is asked for again. */
const MAX_ORIGINS = 20_000;
const MAX_CHARS = 16 * 1024 * 1024;

interface Entry {
  readonly rules: OriginRules;
  readonly chars: number;
  /** By `performance.now()`. */
  readonly untilMs: number;
}

export class RulesCache {
  readonly #userAgent: string;
  readonly #delayCapMs: number;
  readonly #entries = new Map<string, Entry>();
  #chars = 0;

  /** @param userAgent the crawler whose Crawl-delay counts. @param delayCapMs a longer Crawl-delay is cut to this. */
  constructor(userAgent: string, delayCapMs: number) {
    this.#userAgent = userAgent;
    this.#delayCapMs = delayCapMs;
  }

  /** Null when there is no entry, or it has expired. */
  get(origin: string): OriginRules | null {
    const entry = this.#entries.get(origin);
    if (entry === undefined) return null;
    if (performance.now() < entry.untilMs) return entry.rules;
    this.#drop(origin, entry);
    return null;
  }

  /** Parse a robots.txt and cache its rules. */
  addRules(origin: string, text: string, forMs: number): Extract<OriginRules, { kind: 'rules' }> {
    const robots = text === '' ? null : parseRobots(text);
    const delayMs = robots === null ? 0 : crawlDelayMs(robots, this.#userAgent, this.#delayCapMs);
    const rules = { kind: 'rules', robots, delayMs } as const;
    this.#add(origin, rules, text.length, forMs);
    return rules;
  }

  addUnreachable(origin: string, found: Unreachable): OriginRules {
    this.#add(origin, found, found.why.length, found.forMs);
    return found;
  }

  #add(origin: string, rules: OriginRules, chars: number, forMs: number): void {
    const before = this.#entries.get(origin);
    if (before !== undefined) this.#drop(origin, before);
    this.#entries.set(origin, { rules, chars, untilMs: performance.now() + forMs });
    this.#chars += chars;
    for (const [oldest, entry] of this.#entries) {
      const isTooMuch = this.#entries.size > MAX_ORIGINS || this.#chars > MAX_CHARS;
      if (!isTooMuch || oldest === origin) return;
      this.#drop(oldest, entry);
    }
  }

  #drop(origin: string, { chars }: Entry): void {
    this.#entries.delete(origin);
    this.#chars -= chars;
  }
}
