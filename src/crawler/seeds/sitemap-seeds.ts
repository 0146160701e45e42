/**
 * Read seeds from sitemaps, which are downloaded or read from disk. Sitemaps of an index are read too. Content from a site
 * is untrusted, so reading is bounded, URLs must match `allowedDomains` as links do, and only a sitemap at a private address
 * may name private addresses. A file that cannot be read is reported, and the others are still read.
 */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readBoundedFile } from '../../bounded-file.js';
import { CrawlnodeError, messageOf } from '../../errors.js';
import { type SitemapEntry, SitemapError } from '../../http/sitemap/sitemap.js';
import {
  MAX_SITEMAP_BYTES,
  refuseDeepIndex,
  type SitemapText,
  sitemapEntries,
  sitemapText,
} from '../../http/sitemap/sitemap-document.js';
import { urlJoiner } from '../../http/url/join-url.js';
import { isPrivateHost } from '../../http/url/private-hosts.js';
import type { Trust } from '../../node/seeds/seed-requests.js';
import type { SeedText } from './seed-text.js';
import type { SitemapFetch } from './sitemap-fetch.js';

/** An index names 50,000 sitemaps at most. */
const MAX_FILES = 50_000;

export interface SitemapOptions {
  readonly fetch: SitemapFetch;
  /** Entries last changed before this time are skipped; null for none. */
  readonly sinceMs: number | null;
  /** ALLOW_PRIVATE_ADDRESSES. */
  readonly allowPrivate: boolean;
  /** Matches URLs within the spider's `allowedDomains`; null when it has none. */
  readonly onsite: RegExp | null;
  /** Between two downloads (DOWNLOAD_DELAY). */
  readonly delayMs: number;
  /** Called with a file that could not be read completely. */
  onUnread(file: string, reason: string): void;
}

/** Numbers of files and entries so far. */
export interface SitemapCounts {
  /** Files read, completely or in part. */
  read: number;
  /** Files that could not be read completely. */
  unread: number;
  /** Entries skipped because of `--since`. */
  older: number;
}

/** A sitemap to read. */
interface SitemapFile {
  readonly source: string;
  readonly isLocal: boolean;
  /** `trusted` when it may be at a private address: the user or a sitemap at a private address named it. */
  readonly trust: Trust;
  /** The number of indexes on the path to it. */
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

  async *#read(file: SitemapFile): AsyncGenerator<SeedText> {
    const { source, isLocal, depth, stop } = file;
    if (stop.aborted || this.#visited.has(source)) return;
    this.#visited.add(source);
    let entries = 0;
    try {
      const { sitemap, trust } = isLocal ? await readLocal(source) : await this.#download(file);
      this.counts.read += 1;
      for (const entry of sitemapEntries(sitemap, source)) {
        if (stop.aborted) return;
        entries += 1;
        if (this.#isOlder(entry)) continue;
        const where = `${source}: entry ${entries}`;
        const found = this.#toSeed(entry, source, trust);
        if (entry.kind === 'page' || found.problem !== undefined) yield { ...found, where, trust };
        else {
          refuseDeepIndex(depth);
          if (this.#visited.size >= MAX_FILES) throw new SitemapError(`more than ${MAX_FILES} sitemaps`);
          yield* this.#read({ source: found.text, isLocal: false, trust, depth: depth + 1, stop });
        }
      }
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof CrawlnodeError)) throw error;
      const before = entries > 0 ? ` (its first ${entries} entries are taken)` : '';
      this.counts.unread += 1;
      this.#options.onUnread(source, `${messageOf(error)}${before}`);
    }
  }

  async #download({ source, trust, stop }: SitemapFile): Promise<ReadSitemap> {
    const { fetch, delayMs } = this.#options;
    if (this.#visited.size > 1 && delayMs > 0) await sleep(delayMs, undefined, { signal: stop });
    const { body, contentType, leadsToPrivate } = await fetch(source, trust, stop);
    const sitemap = await sitemapText(body, contentType);
    return { sitemap, trust: leadsToPrivate ? 'trusted' : 'untrusted' };
  }

  #isOlder({ lastmod }: SitemapEntry): boolean {
    const { sinceMs } = this.#options;
    // An invalid date counts as no date.
    const isOlder = sinceMs !== null && lastmod !== null && Date.parse(lastmod) < sinceMs;
    if (isOlder) this.counts.older += 1;
    return isOlder;
  }

  /** An entry as a seed. Only absolute URLs are accepted, so that a site cannot write JSON seeds. */
  #toSeed({ kind, loc, problem }: SitemapEntry, base: string, trust: Trust): Omit<SeedText, 'where'> {
    const { onsite, allowPrivate } = this.#options;
    if (problem !== null) return { text: loc, problem };
    // An absolute URL stays unchanged, because joining would normalize it and change its identity.
    const text = /^[a-z][a-z0-9+.-]*:/i.test(loc) ? loc : (urlJoiner(base).join(loc) ?? loc);
    if (!/^https?:\/\//i.test(text)) return { text, problem: `no http(s) URL: ${text}` };
    if (trust === 'untrusted' && !allowPrivate && isPrivateHost(text)) {
      return { text, problem: `${privateAddressProblem}: ${text}` };
    }
    if (kind === 'page' && onsite !== null && !onsite.test(text)) {
      return { text, problem: `outside of the spider's allowedDomains: ${text}` };
    }
    return { text };
  }
}

const privateAddressProblem = 'a private address, which a public site may not name (ALLOW_PRIVATE_ADDRESSES)';

/** A sitemap that was read. `trust` says whether its URLs may be at private addresses. */
interface ReadSitemap {
  readonly sitemap: SitemapText;
  readonly trust: Trust;
}

async function readLocal(file: string): Promise<ReadSitemap> {
  try {
    return { sitemap: await sitemapText(readBoundedFile(file, MAX_SITEMAP_BYTES), null), trust: 'trusted' };
  } catch (error) {
    if (error instanceof CrawlnodeError) throw error;
    throw new CrawlnodeError('unreadable', messageOf(error), { cause: error });
  }
}

/** The source of a `--sitemap` option: an HTTP URL unchanged, or an absolute path. */
export function sitemapSource(given: string, cwd: string): string {
  if (/^file:\/\//i.test(given)) return fileURLToPath(given);
  return /^https?:\/\//i.test(given) ? given : path.resolve(cwd, given);
}
