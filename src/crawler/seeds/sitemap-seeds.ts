/**
 * Seeds of sitemaps: downloaded as a crawl would, or read from disk; an index is followed. What a sitemap says is a
 * stranger's word, so it is read within bounds, passes `allowedDomains` as links do, and leads to no private address
 * unless it is on one itself. A file that cannot be read is named, and the rest proceeds.
 */
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Trust } from '../../engine/seeds/seed-requests.js';
import { CrawlnodeError, messageOf } from '../../errors.js';
import { decodeBody } from '../../http/charset/decode-body.js';
import { readSitemap, type SitemapEntry, SitemapError } from '../../http/markup/sitemap.js';
import { isPrivateHost } from '../../http/url/domain.js';
import { urlJoiner } from '../../http/url/join-url.js';
import { parseRobots } from '../../robots/parse-robots.js';
import { gunzipped } from './gunzipped.js';
import type { SeedText } from './seed-text.js';
import type { SitemapFetch } from './sitemap-fetch.js';

/** 50 MB by the protocol, and some slack. */
export const MAX_SITEMAP_BYTES = 64 * 1024 * 1024;
/** 50,000 by the protocol. */
const MAX_ENTRIES = 100_000;
/** An index names 50,000 sitemaps at most. */
const MAX_FILES = 50_000;
/** By the protocol an index names no index. */
const MAX_DEPTH = 3;

export interface SitemapOptions {
  readonly fetch: SitemapFetch;
  /** Entries last changed before this are passed over; null takes all. */
  readonly sinceMs: number | null;
  /** ALLOW_PRIVATE_ADDRESSES. */
  readonly allowPrivate: boolean;
  /** Matches URLs within the spider's `allowedDomains`; null when it has none. */
  readonly onsite: RegExp | null;
  /** Between two downloads (DOWNLOAD_DELAY). */
  readonly delayMs: number;
  /** Hears of a file that could not be read, or not to its end. */
  onUnread(file: string, reason: string): void;
}

/** What was met so far. */
export interface SitemapCounts {
  /** Files read, to their end or not. */
  read: number;
  /** Files that could not be read, or not to their end. */
  unread: number;
  /** Entries passed over because of `--since`. */
  older: number;
}

/** One that is to be read. */
interface File {
  readonly source: string;
  readonly isLocal: boolean;
  /** `trusted` where it may be at a private address: the user named it, or a file that itself is at one. */
  readonly trust: Trust;
  /** How many indexes lead to it. */
  readonly depth: number;
  readonly stop: AbortSignal;
}

export class SitemapSeeds {
  readonly counts: SitemapCounts = { read: 0, unread: 0, older: 0 };
  readonly #options: SitemapOptions;
  readonly #visited = new Set<string>();

  constructor(options: SitemapOptions) {
    this.#options = options;
  }

  /** @param source URL of a sitemap, an index or a robots.txt, or the path of a file. */
  async *lines(source: string, stop: AbortSignal): AsyncGenerator<SeedText> {
    const isLocal = !/^https?:\/\//i.test(source);
    yield* this.#read({ source, isLocal, trust: 'trusted', depth: 0, stop });
  }

  async *#read(file: File): AsyncGenerator<SeedText> {
    const { source, isLocal, depth, stop } = file;
    if (stop.aborted || this.#visited.has(source)) return;
    this.#visited.add(source);
    let entries = 0;
    try {
      const { text, trust } = isLocal ? await readLocal(source) : await this.#download(file);
      this.counts.read += 1;
      for (const entry of entriesOf(text, source)) {
        if (stop.aborted) return;
        entries += 1;
        if (entries > MAX_ENTRIES) throw new SitemapError(`it has more than ${MAX_ENTRIES} entries`);
        if (this.#isOlder(entry)) continue;
        const where = `${source}: entry ${entries}`;
        const found = this.#judge(entry, source, trust);
        if (entry.kind === 'page' || found.problem !== undefined) yield { ...found, where, trust };
        else if (depth >= MAX_DEPTH) throw new SitemapError(`an index within ${MAX_DEPTH} others`);
        else if (this.#visited.size >= MAX_FILES) throw new SitemapError(`more than ${MAX_FILES} sitemaps`);
        else yield* this.#read({ source: found.text, isLocal: false, trust, depth: depth + 1, stop });
      }
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof CrawlnodeError)) throw error;
      const before = entries > 0 ? ` (its first ${Math.min(entries, MAX_ENTRIES)} entries are taken)` : '';
      this.counts.unread += 1;
      this.#options.onUnread(source, `${messageOf(error)}${before}`);
    }
  }

  async #download({ source, trust, stop }: File): Promise<SitemapText> {
    const { fetch, delayMs } = this.#options;
    if (this.#visited.size > 1 && delayMs > 0) await sleep(delayMs, undefined, { signal: stop });
    const { body, contentType, leadsToPrivate } = await fetch(source, trust, stop);
    const text = decodeBody(await gunzipped(body, MAX_SITEMAP_BYTES), contentType);
    return { text, trust: leadsToPrivate ? 'trusted' : 'untrusted' };
  }

  #isOlder({ lastmod }: SitemapEntry): boolean {
    const { sinceMs } = this.#options;
    // A date that cannot be read is none.
    const isOlder = sinceMs !== null && lastmod !== null && Date.parse(lastmod) < sinceMs;
    if (isOlder) this.counts.older += 1;
    return isOlder;
  }

  /** An entry as the text of a seed: an absolute URL and nothing else, so that no stranger writes JSON seeds. */
  #judge({ kind, loc, problem }: SitemapEntry, base: string, trust: Trust): Omit<SeedText, 'where'> {
    const { onsite, allowPrivate } = this.#options;
    if (problem !== null) return { text: loc, problem };
    // An absolute one as it is: joining would spell it anew, and change what it is known by.
    const text = /^[a-z][a-z0-9+.-]*:/i.test(loc) ? loc : (urlJoiner(base).join(loc) ?? loc);
    if (!/^https?:\/\//i.test(text)) return { text, problem: `no http(s) URL: ${text}` };
    if (trust === 'untrusted' && !allowPrivate && isPrivateHost(text)) {
      return { text, problem: `${privateAddress}: ${text}` };
    }
    if (kind === 'page' && onsite !== null && !onsite.test(text)) {
      return { text, problem: `outside of the spider's allowedDomains: ${text}` };
    }
    return { text };
  }
}

const privateAddress = 'a private address, which a public site may not name (ALLOW_PRIVATE_ADDRESSES)';

/** A robots.txt names sitemaps, wherever they are. */
function* entriesOf(text: string, source: string): Iterable<SitemapEntry> {
  if (!/\/robots\.txt(?:[?#]|$)/i.test(source)) {
    yield* readSitemap(text);
    return;
  }
  const { sitemaps } = parseRobots(text);
  if (sitemaps.length === 0) throw new SitemapError('this robots.txt names no sitemap');
  for (const loc of sitemaps) yield { kind: 'sitemap', loc, lastmod: null, problem: null };
}

/** A sitemap that was read; `trust` says whether what it names may be at private addresses. */
interface SitemapText {
  readonly text: string;
  readonly trust: Trust;
}

async function readLocal(file: string): Promise<SitemapText> {
  try {
    const { size } = await stat(file);
    if (size > MAX_SITEMAP_BYTES) throw new SitemapError(`it has ${size} bytes, more than 64 MB`);
    const text = decodeBody(await gunzipped(await readFile(file), MAX_SITEMAP_BYTES), null);
    return { text, trust: 'trusted' };
  } catch (error) {
    if (error instanceof CrawlnodeError) throw error;
    throw new CrawlnodeError('unreadable', messageOf(error), { cause: error });
  }
}

/** Where a `--sitemap` of the command line is: a URL as it is, a path from where the user stands. */
export function sitemapSource(given: string, cwd: string): string {
  if (/^file:\/\//i.test(given)) return fileURLToPath(given);
  return /^https?:\/\//i.test(given) ? given : path.resolve(cwd, given);
}
