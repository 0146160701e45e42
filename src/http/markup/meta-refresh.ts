/** `<meta http-equiv="refresh">`: the page that a page leads to after a delay. */
import { decodeHTML } from 'entities/decode';
import { COMMENT, HEAD_CHARACTERS, resolvedUrl } from './page-head.js';

/** w3lib's default. Scrapy has METAREFRESH_IGNORE_TAGS. */
const IGNORED_TAGS = ['script', 'noscript'];
const ENTITY = /&(?:[a-z\d]+|#\d+|#x[a-f\d]+);?/gi;
const META = /<meta\s/gi;
const REFRESH_CONTENT = /content\s*=\s*(["'])((?:\d*\.)?\d+)\s*;\s*url=\s*/giy;
const EQUIV_AFTER = /[^>]*?\shttp-equiv\s*=[^>]*refresh/iy;

/** Where a page says it goes next. */
export interface MetaRefresh {
  /** Seconds, possibly with a fraction. */
  readonly delay: number;
  /** Absolute where it is relative to the page; of any scheme. */
  readonly url: string;
}

/**
 * The page that `<meta http-equiv="refresh">` leads to, or null where there is none outside comments and
 * `ignoreTags`. A refresh without a URL or without a delay is none.
 *
 * Source: w3lib's `get_meta_refresh`, on the first 4,096 characters as in Scrapy; its two expressions, cubic on
 * a hostile page, are taken apart here. A target that is no URL counts as none.
 * @param url the page's own; the target is resolved against it, not against `<base>`.
 * @param ignoreTags names of elements in which a refresh is none, `script` and `noscript` unless given.
 */
export function metaRefresh(
  html: string,
  url: string,
  ignoreTags: readonly string[] = IGNORED_TAGS,
): MetaRefresh | null {
  const head = withoutElements(html.slice(0, HEAD_CHARACTERS), ignoreTags)
    .replace(ENTITY, decodeEntity)
    .replace(COMMENT, '');
  const found = findRefresh(head, contentAfterEquiv) ?? findRefresh(head, contentBeforeEquiv);
  if (!found) return null;
  const target = resolvedUrl(url, found.url.replace(/^[ "']+|[ "']+$/g, ''));
  return target === null ? null : { delay: found.delay, url: target };
}

/** @param tags plain names. */
function withoutElements(html: string, tags: readonly string[]): string {
  if (tags.length === 0) return html;
  const names = tags.join('|');
  return html.replace(new RegExp(`<(${names})\\b.*?</\\1>|<(?:${names})\\s*/>`, 'gis'), '');
}

/** A named one in the case it has, else in lower case; an unknown one that ends in `;` vanishes. w3lib's `replace_entities`. */
function decodeEntity(entity: string): string {
  const closed = entity.endsWith(';') ? entity : `${entity};`;
  for (const candidate of [closed, closed.toLowerCase()]) {
    const decoded = decodeHTML(candidate);
    if (decoded !== candidate) return decoded;
  }
  return entity.endsWith(';') ? '' : entity;
}

/** Tries each meta tag in turn; `contentIn` gets the text and where the tag's inside begins and ends. */
function findRefresh(
  head: string,
  contentIn: (head: string, start: number, end: number) => MetaRefresh | null,
): MetaRefresh | null {
  for (const meta of head.matchAll(META)) {
    const start = meta.index + meta[0].length;
    const end = head.indexOf('>', start);
    const found = contentIn(head, start, end < 0 ? head.length : end);
    if (found) return found;
  }
  return null;
}

/** `http-equiv` … `refresh` … `content="5; url=next"` */
function contentAfterEquiv(head: string, start: number, end: number): MetaRefresh | null {
  const inside = head.slice(start, end).toLowerCase();
  const equiv = inside.indexOf('http-equiv');
  const refresh = equiv < 0 ? -1 : inside.indexOf('refresh', equiv + 'http-equiv'.length);
  return refresh < 0 ? null : lastContent(head, inside, start, refresh + 'refresh'.length, () => true);
}

/** `content="5; url=next"` … ` http-equiv=` … `refresh` */
function contentBeforeEquiv(head: string, start: number, end: number): MetaRefresh | null {
  const inside = head.slice(start, end).toLowerCase();
  return lastContent(head, inside, start, 0, (after) => matchAt(EQUIV_AFTER, head, after) !== null);
}

/** The last fitting `content` at or after `from`: w3lib's greedy expressions find that one. */
function lastContent(
  head: string,
  inside: string,
  start: number,
  from: number,
  fits: (after: number) => boolean,
): MetaRefresh | null {
  let at = inside.lastIndexOf('content');
  for (; at >= from; at = at === 0 ? -1 : inside.lastIndexOf('content', at - 1)) {
    const content = matchAt(REFRESH_CONTENT, head, start + at);
    if (!content) continue;
    const urlStart = start + at + content[0].length;
    const urlEnd = head.indexOf(content[1] as string, urlStart);
    if (urlEnd < 0 || !fits(urlEnd + 1)) continue;
    return { delay: Number(content[2]), url: head.slice(urlStart, urlEnd) };
  }
  return null;
}

function matchAt(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at;
  return sticky.exec(text);
}
