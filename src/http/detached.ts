/** Text cut out of a page, without the page. */

/**
 * A copy of `text` on its own. V8 makes a slice of 13 characters or more a view of the string it was cut from, so
 * a URL kept from a page keeps the whole page (measured: 3,000 URLs of 100 KB pages held 300 MB).
 */
export function detached(text: string): string {
  // Adding makes a rope, slicing flattens it into memory of its own.
  return ` ${text}`.slice(1);
}
