/** The rules that a node knows, parsed, by origin: a page costs one look here. */
import { parseRobots, type Robots } from '../../robots/parse-robots.js';
import { crawlDelayMs } from './judge-robots.js';

/** What is known of an origin. */
export type Known =
  | {
      readonly kind: 'rules';
      /** Null when everything is allowed. */
      readonly robots: Robots | null;
      /** The Crawl-delay; 0 for none. */
      readonly delayMs: number;
    }
  | { readonly kind: 'unreachable'; readonly why: string };

/** Bounds on what is kept. Beyond them the entry that came first is dropped, and asked for again. */
const MAX_ORIGINS = 20_000;
const MAX_CHARS = 16 * 1024 * 1024;

interface Entry {
  readonly known: Known;
  readonly chars: number;
  /** By `performance.now()`. */
  readonly untilMs: number;
}

export class RulesCache {
  readonly #userAgent: string;
  readonly #delayCapMs: number;
  readonly #entries = new Map<string, Entry>();
  #chars = 0;

  /** @param userAgent whose Crawl-delay counts. @param delayCapMs the longest that is obeyed. */
  constructor(userAgent: string, delayCapMs: number) {
    this.#userAgent = userAgent;
    this.#delayCapMs = delayCapMs;
  }

  /** Null where nothing is known, or not any more. */
  get(origin: string): Known | null {
    const entry = this.#entries.get(origin);
    if (entry === undefined) return null;
    if (performance.now() < entry.untilMs) return entry.known;
    this.#drop(origin, entry);
    return null;
  }

  /** Read a robots.txt and keep its rules. */
  keepRules(origin: string, text: string, forMs: number): Extract<Known, { kind: 'rules' }> {
    const robots = text === '' ? null : parseRobots(text);
    const delayMs = robots === null ? 0 : crawlDelayMs(robots, this.#userAgent, this.#delayCapMs);
    const known = { kind: 'rules', robots, delayMs } as const;
    this.#keep(origin, known, text.length, forMs);
    return known;
  }

  keepUnreachable(origin: string, why: string, forMs: number): Known {
    const known = { kind: 'unreachable', why } as const;
    this.#keep(origin, known, why.length, forMs);
    return known;
  }

  #keep(origin: string, known: Known, chars: number, forMs: number): void {
    const before = this.#entries.get(origin);
    if (before !== undefined) this.#drop(origin, before);
    this.#entries.set(origin, { known, chars, untilMs: performance.now() + forMs });
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
