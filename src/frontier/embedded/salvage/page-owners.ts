/**
 * Which b-tree each page belongs to. A file with auto_vacuum has a pointer map from each page to its parent
 * (https://sqlite.org/fileformat2.html, section 1.8), so this is known even where the parents are damaged. Where the map is
 * damaged, the child pointers of the parents are used.
 */
import { type BtreePage, childrenOf, decodePage } from './btree-page.js';
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

/** A page in use: the root of its b-tree, and what it holds; null where it cannot be read. */
export interface OwnedPage {
  readonly root: number;
  readonly content: BtreePage | null;
}

/** All pages of b-trees. `roots` are known to be the roots of some, whatever the map says. */
export function* ownedPages(pages: PageSource, roots: ReadonlySet<number>): Iterable<OwnedPage> {
  const above = pagesAbove(pages);
  for (let number = 1; number <= pages.count; number += 1) {
    const root = rootOf(number, pages, roots, above);
    if (root !== null) yield { root, content: decodePage(number, pages) };
  }
}

/** The parent of each page, by the child pointers of the parents. */
function pagesAbove(pages: PageSource): Map<number, number> {
  const above = new Map<number, number>();
  for (let number = 1; number <= pages.count; number += 1) {
    if (entryOf(number, pages)?.isFree === true) continue;
    for (const child of childrenOf(number, pages)) above.set(child, number);
  }
  return above;
}

/** The root of a page's b-tree; null for a page of no b-tree. */
function rootOf(
  number: number,
  pages: PageSource,
  roots: ReadonlySet<number>,
  above: ReadonlyMap<number, number>,
): number | null {
  let at = number;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    if (at === 1 || roots.has(at)) return at;
    const entry = entryOf(at, pages);
    if (entry?.isFree === true) return null;
    if (entry?.isRoot === true) return at;
    const parent = entry?.parent ?? above.get(at);
    if (parent === undefined || parent === at) return null;
    at = parent;
  }
  return null;
}

interface Entry {
  readonly isRoot: boolean;
  /** Free, or an overflow page: it has no rows of its own. */
  readonly isFree: boolean;
  readonly parent: number | null;
}

/** The entry of a page in the pointer map; null where it is not valid. */
function entryOf(number: number, pages: PageSource): Entry | null {
  const nth = Math.floor((number - 2) / (ENTRIES + 1));
  let map = nth * (ENTRIES + 1) + 2;
  if (map === LOCK_PAGE) map += 1;
  if (number === map || number === LOCK_PAGE) return { isRoot: false, isFree: true, parent: null };
  const page = number < 2 ? null : pages.page(map);
  const at = ENTRY_BYTES * (number - map - 1);
  if (page === null || at < 0 || at + ENTRY_BYTES > PAGE_BYTES) return null;
  const type = page[at]!;
  const parent = page.readUInt32BE(at + 1);
  if (type === ROOT) return parent === 0 ? { isRoot: true, isFree: false, parent: null } : null;
  if (type > ROOT && type <= OVERFLOW_LATER) return { isRoot: false, isFree: true, parent: null };
  return type === BTREE && parent > 0 && parent <= pages.count
    ? { isRoot: false, isFree: false, parent }
    : null;
}
