/** A committed item as `committed` of a pipeline gets it, read from the store. */
import type { Logger } from '../../log.js';

/** A committed item. Its id is the same whenever the item is delivered again. */
export interface CommittedItem {
  /**
   * The id of its request and its number in the page: `<40 hex digits>-<n>`, n from 1. It is unique in a crawl. A page that
   * is crawled again (a seed, a refresh, after a reset) gives its items the same ids.
   */
  readonly id: string;
  /** The item after all pipelines. */
  // biome-ignore lint/suspicious/noExplicitAny: the pipeline knows the fields its spider yields.
  readonly item: any;
}

/**
 * @param text `{ "id", "item" }`. Other programs can write to the store: any other text becomes an item with the text under
 *   `value`, and its sequence as id.
 */
export function committedItem(text: string, sequence: number, pipeline: string, log: Logger): CommittedItem {
  try {
    const { id, item } = JSON.parse(text) as CommittedItem;
    const isObject = typeof item === 'object' && item !== null && !Array.isArray(item);
    if (typeof id === 'string' && isObject) return { id, item };
  } catch {
    // Handled below, like JSON of another kind.
  }
  log.warn(
    { pipeline, sequence },
    'the store contains something that is not a committed item; it is written in the field "value"',
  );
  return { id: `${DAMAGED}${sequence}`, item: { value: text } };
}

const DAMAGED = 'damaged-';

/** How many of the items are such texts. */
export function countDamaged(items: readonly CommittedItem[]): number {
  return items.filter(({ id }) => id.startsWith(DAMAGED)).length;
}

/**
 * The items up to the first id that occurs twice (a page was crawled again within a batch). The rest follows in the next
 * batch, since no database accepts two rows with one key in one upsert.
 */
export function uniqueBatch(items: readonly CommittedItem[]): readonly CommittedItem[] {
  const seen = new Set<string>();
  for (const [n, { id }] of items.entries()) {
    if (seen.has(id)) return items.slice(0, n);
    seen.add(id);
  }
  return items;
}
