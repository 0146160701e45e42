/** Checks items from the store before they are written to a file, since other programs can write to the store. */

/** A settle carries at most 8 MB, so no item of a crawl is larger. */
const MAX_ITEM_CHARS = 8 * 1024 * 1024;
/** How much of a text that is too large is written to the file. */
const KEPT_CHARS = 1_000;

/** An item for a file. */
export interface ItemLine {
  /** One JSON object on one line, without control characters. */
  readonly line: string;
  /** What was wrong with the text when it was not such a line. Its content is then under `value`. */
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
  // JSON may have line feeds and tabs between its tokens. crawlnode's own texts have none.
  return { line: /[\x00-\x1f]/.test(text) ? JSON.stringify(value) : text, problem: null };
}
