/**
 * robots.txt by RFC 9309. The file's groups are read once; asking about a URL compares it with the rules of one group.
 * Where the RFC leaves a choice, Google's parser and Protego (Scrapy's) agree with what is done here.
 */
import { matchesPath, normalisePath, type PathPattern, parsePathPattern } from './path-pattern.js';

/** What a robots.txt says. */
export interface Robots {
  /**
   * Whether a crawler may request a URL.
   * @param url absolute, or a path with its query.
   * @param userAgent a product token, or a whole User-Agent value: what follows the first token is ignored.
   */
  isAllowed(url: string, userAgent: string): boolean;
  /**
   * The pause between requests that is asked of a crawler, in seconds as they are written, negative ones included; null when
   * none is named. RFC 9309 does not have it; the last one of a group holds, as in Protego.
   */
  crawlDelay(userAgent: string): number | null;
  /** URLs of sitemaps, as they are written, in order. They hold for every crawler. */
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
 * Read a robots.txt. Lines that are not rules are skipped, so any text can be given: an HTML page has no rules and allows all.
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

/** Blocks by the lower-case product tokens that they name. A block is shared by its crawlers: copies would be quadratic. */
function readBlocks(text: string): { blocks: Map<string, Block[]>; sitemaps: string[] } {
  const blocks = new Map<string, Block[]>();
  const sitemaps: string[] = [];
  let block: Block | undefined;
  let isNamingCrawlers = false;

  for (const { key, value } of linesOf(text)) {
    if (key === 'user-agent') {
      if (!block || !isNamingCrawlers) block = { rules: [], crawlDelay: null };
      isNamingCrawlers = true;
      addBlock(blocks, productToken(value), block);
    } else if (key === 'allow' || key === 'disallow') {
      isNamingCrawlers = false;
      // An empty pattern matches nothing: "Disallow:" forbids nothing.
      if (value !== '') block?.rules.push({ pattern: parsePathPattern(value), isAllow: key === 'allow' });
    } else if (key === 'crawl-delay') {
      isNamingCrawlers = false;
      if (block) block.crawlDelay = readSeconds(value) ?? block.crawlDelay;
    } else if (key === 'sitemap' && value !== '') {
      sitemaps.push(value);
    }
  }
  return { blocks, sitemaps };
}

function addBlock(blocks: Map<string, Block[]>, token: string, block: Block): void {
  const named = blocks.get(token);
  if (!named) blocks.set(token, [block]);
  else if (named.at(-1) !== block) named.push(block);
}

/** Blocks that name the same crawler are one group (RFC 9309 §2.2.1). */
function mergeBlocks(blocks: readonly Block[]): Block {
  return {
    rules: blocks.flatMap(({ rules }) => rules).sort(strongestFirst),
    crawlDelay: blocks.findLast(({ crawlDelay }) => crawlDelay !== null)?.crawlDelay ?? null,
  };
}

/** The longest pattern holds; of two that are equally long, the one that allows. */
function strongestFirst(a: Rule, b: Rule): number {
  return b.pattern.length - a.pattern.length || Number(b.isAllow) - Number(a.isAllow);
}

/** Keys are case-insensitive; a missing colon and a missing hyphen are forgiven, as Google and Protego do. */
const lineForm = /^\s*(user[- ]?agent|[^\s:]+)\s*[:\s]\s*(.*)$/is;

function* linesOf(text: string): Generator<{ key: string; value: string }> {
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)) {
    const [, key, value] = lineForm.exec(line.split('#', 1)[0]!.trimEnd()) ?? [];
    if (key !== undefined)
      yield { key: key.toLowerCase().replace(/^user ?agent$/, 'user-agent'), value: value! };
  }
}

/** The product token that a User-Agent value begins with, in lower case; `*` stays. */
function productToken(userAgent: string): string {
  return /^(?:\*(?=\s|$)|[A-Za-z_-]*)/.exec(userAgent.trim())![0].toLowerCase();
}

function readSeconds(value: string): number | null {
  const seconds = value === '' ? Number.NaN : Number(value);
  return Number.isFinite(seconds) ? seconds : null;
}

/** Path and query of a URL, or of a text that is a path already. The fragment is left out. */
function pathOf(url: string): string {
  const withoutOrigin = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  const path = withoutOrigin.split('#', 1)[0]!;
  return normalisePath(path.startsWith('/') ? path : `/${path}`);
}
