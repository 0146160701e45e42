/** Items as they come from the store, checked before they are put into a file: others can write to the store. */

/** A settle carries 8 MB at most, so no item of a crawl is as large. */
const MAX_ITEM_CHARS = 8 * 1024 * 1024;
/** How much of what is too large is put into the file. */
const KEPT_CHARS = 1_000;

/** An item for a file. */
export interface ItemLine {
  /** One JSON object on one line, without control characters. */
  readonly line: string;
  /** What was wrong with the text, where it was not such a line already; its content then stands under `value`. */
  readonly problem: string | null;
}

/** Check one text of the outbox. */
export function itemLine(text: string): ItemLine {
  if (text.length > MAX_ITEM_CHARS) {
    const problem = `it has ${text.length} characters, more than an item can have`;
    return { line: JSON.stringify({ value: text.slice(0, KEPT_CHARS) }), problem };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { line: JSON.stringify({ value: text }), problem: 'it is not JSON' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { line: JSON.stringify({ value }), problem: 'it is JSON, but not an object' };
  }
  // Between its tokens JSON may have line feeds and tabs. Texts of our own have none.
  return { line: /[\x00-\x1f]/.test(text) ? JSON.stringify(value) : text, problem: null };
}
