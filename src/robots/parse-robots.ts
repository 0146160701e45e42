/**
 * Parse robots.txt (RFC 9309). A URL is compared with the rules of one group only. Where the RFC leaves a choice, this parser
 * behaves as those of Google and Scrapy (Protego) do.
 */
import { robotsLines } from '../http/robots-lines.js';
import { matchesPath, normalisePath, type PathPattern, parsePathPattern } from './path-pattern.js';

/** A parsed robots.txt. */
export interface Robots {
  /**
   * Whether a crawler may request a URL.
   * @param url absolute, or a path with its query.
   * @param userAgent a product token or a whole User-Agent value, of which only the first token counts.
   */
  isAllowed(url: string, userAgent: string): boolean;
  /**
   * The Crawl-delay for a crawler in seconds, as it is written (it may be negative); null without one. It is not part of
   * RFC 9309. The last one of a group applies, as in Protego.
   */
  crawlDelay(userAgent: string): number | null;
  /** URLs of sitemaps, as they are written, in order. They apply to every crawler. */
  readonly sitemaps: readonly string[];
}

interface Rule {
  readonly pattern: PathPattern;
  readonly isAllow: boolean;
}

/** The rules that follow one or more User-agent lines. */
interface Block {
  readonly rules: Rule[];
  crawlDelay: number | null;
}

/**
 * Parse a robots.txt. Lines that are not rules are skipped, so any text is valid: an HTML page has no rules and allows all.
 * @param text decoded; a byte order mark is ignored. The caller bounds its size (RFC 9309 §2.5: 500 KiB).
 */
export function parseRobots(text: string): Robots {
  const { blocks, sitemaps } = readBlocks(text);
  const groups = new Map<string, Block>();
  const groupOf = (userAgent: string): Block => {
    const token = productToken(userAgent);
    const named = blocks.has(token) ? token : '*';
    let group = groups.get(named);
    if (!group) {
      group = mergeBlocks(blocks.get(named) ?? []);
      groups.set(named, group);
    }
    return group;
  };
  return {
    sitemaps,
    isAllowed(url, userAgent) {
      const path = pathOf(url);
      const rule = groupOf(userAgent).rules.find(({ pattern }) => matchesPath(pattern, path));
      return rule?.isAllow ?? true;
    },
    crawlDelay: (userAgent) => groupOf(userAgent).crawlDelay,
  };
}

/** Blocks by lower-case product token. The crawlers of a block share it, because copies would need quadratic memory. */
function readBlocks(text: string): { blocks: Map<string, Block[]>; sitemaps: string[] } {
  const blocks = new Map<string, Block[]>();
  const sitemaps: string[] = [];
  let block: Block | undefined;
  let isNamingCrawlers = false;

  for (const { key, value } of robotsLines(text)) {
    if (key === 'user-agent') {
      if (!block || !isNamingCrawlers) block = { rules: [], crawlDelay: null };
      isNamingCrawlers = true;
      addBlock(blocks, productToken(value), block);
    } else if (key === 'allow' || key === 'disallow') {
      isNamingCrawlers = false;
      // An empty pattern matches nothing: "Disallow:" forbids nothing.
      if (value !== '') block?.rules.push(...rulesOf(key, value));
    } else if (key === 'crawl-delay') {
      isNamingCrawlers = false;
      if (block) block.crawlDelay = readSeconds(value) ?? block.crawlDelay;
    } else if (key === 'sitemap' && value !== '') {
      sitemaps.push(value);
    }
  }
  return { blocks, sitemaps };
}

/** An allowed `/dir/index.html` allows `/dir/` too, as in Google's parser. */
const INDEX_PAGE = /^(.*\/)index\.htm[^/]*$/s;

function rulesOf(key: 'allow' | 'disallow', value: string): Rule[] {
  const isAllow = key === 'allow';
  const rule = { pattern: parsePathPattern(value), isAllow };
  const folder = isAllow ? INDEX_PAGE.exec(value)?.[1] : undefined;
  return folder === undefined ? [rule] : [rule, { pattern: parsePathPattern(`${folder}$`), isAllow }];
}

function addBlock(blocks: Map<string, Block[]>, token: string, block: Block): void {
  const named = blocks.get(token);
  if (!named) blocks.set(token, [block]);
  else if (named.at(-1) !== block) named.push(block);
}

/** Blocks that name the same crawler are one group (RFC 9309 §2.2.1). */
function mergeBlocks(blocks: readonly Block[]): Block {
  return {
    rules: blocks.flatMap(({ rules }) => rules).sort(byPrecedence),
    crawlDelay: blocks.findLast(({ crawlDelay }) => crawlDelay !== null)?.crawlDelay ?? null,
  };
}

/** The longest pattern has precedence; among equally long patterns, `allow` does. */
function byPrecedence(a: Rule, b: Rule): number {
  return b.pattern.length - a.pattern.length || Number(b.isAllow) - Number(a.isAllow);
}

/** The product token at the beginning of a User-Agent value, in lower case, or `*`. */
function productToken(userAgent: string): string {
  return /^(?:\*(?=\s|$)|[A-Za-z_-]*)/.exec(userAgent.trim())![0].toLowerCase();
}

function readSeconds(value: string): number | null {
  const seconds = value === '' ? Number.NaN : Number(value);
  return Number.isFinite(seconds) ? seconds : null;
}

/** Path and query of a URL or path, without the fragment. */
function pathOf(url: string): string {
  const withoutOrigin = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  const path = withoutOrigin.split('#', 1)[0]!;
  return normalisePath(path.startsWith('/') ? path : `/${path}`);
}
