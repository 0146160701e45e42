/**
 * Which b-tree each page belongs to. A file with auto_vacuum has a pointer map from each page to its parent
 * (https://sqlite.org/fileformat2.html, section 1.8), so this is known even where the parents are damaged. Where the map is
 * damaged, the child pointers of the parents are used.
 */
import { childrenOf } from './btree-page.js';
import { PAGE_BYTES, type PageSource } from './page-source.js';

/** Types of the entries of the map. */
const ROOT = 1;
const OVERFLOW_LATER = 4;
const BTREE = 5;

const ENTRY_BYTES = 5;
const ENTRIES = Math.floor(PAGE_BYTES / ENTRY_BYTES);

/** The page that holds SQLite's own lock bytes is never used. */
const LOCK_PAGE = 0x4000_0000 / PAGE_BYTES + 1;

/** Deeper than any tree. A damaged map may hold a circle. */
const MAX_DEPTH = 30;

/** In place of a parent: the page has no rows of its own, as it is free, an overflow page, or one of the map. */
const NO_ROWS = 0;

/** A page of a b-tree, with the root of that tree. */
export interface OwnedPage {
  readonly number: number;
  readonly root: number;
}

/** All pages of b-trees. `roots` are known to be the roots of some, whatever the map says. */
export function* ownedPages(pages: PageSource, roots: ReadonlyMap<number, unknown>): Iterable<OwnedPage> {
  const above = pagesAbove(pages);
  for (let number = 1; number <= pages.count; number += 1) {
    const root = rootOf(number, pages, roots, above);
    if (root !== null) yield { number, root };
  }
}

/** The parent of each page, by the child pointers of the parents. */
function pagesAbove(pages: PageSource): Map<number, number> {
  const above = new Map<number, number>();
  for (let number = 1; number <= pages.count; number += 1) {
    if (mappedParent(number, pages) === NO_ROWS) continue;
    for (const child of childrenOf(number, pages)) above.set(child, number);
  }
  return above;
}

/** The root of a page's b-tree; null for a page of no b-tree. */
function rootOf(
  number: number,
  pages: PageSource,
  roots: ReadonlyMap<number, unknown>,
  above: ReadonlyMap<number, number>,
): number | null {
  let at = number;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    if (at === 1 || roots.has(at)) return at;
    const parent = mappedParent(at, pages) ?? above.get(at) ?? NO_ROWS;
    if (parent === NO_ROWS) return null;
    if (parent === at) return at;
    at = parent;
  }
  return null;
}

/** The parent of a page by the pointer map: the page itself for a root, `NO_ROWS`, or null where the entry is not valid. */
function mappedParent(number: number, pages: PageSource): number | null {
  const nth = Math.floor((number - 2) / (ENTRIES + 1));
  let map = nth * (ENTRIES + 1) + 2;
  if (map === LOCK_PAGE) map += 1;
  if (number === map || number === LOCK_PAGE) return NO_ROWS;
  const page = number < 2 ? null : pages.page(map);
  const at = ENTRY_BYTES * (number - map - 1);
  if (page === null || at < 0 || at + ENTRY_BYTES > PAGE_BYTES) return null;
  const type = page[at]!;
  const parent = page.readUInt32BE(at + 1);
  if (type === ROOT) return parent === 0 ? number : null;
  if (type > ROOT && type <= OVERFLOW_LATER) return NO_ROWS;
  return type === BTREE && parent > 0 && parent <= pages.count ? parent : null;
}
