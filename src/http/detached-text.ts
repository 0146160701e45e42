/** Copies of text that do not keep the page in memory from which the text was cut. */

/**
 * A copy of `text`. V8 makes a slice of 13 characters or more a view of its source string, so a stored URL would
 * otherwise keep its whole page in memory.
 */
export function detached(text: string): string {
  // The concatenation makes a rope. The slice flattens the rope into new memory.
  return ` ${text}`.slice(1);
}

/**
 * A flat copy of an ASCII text, such as the URL of a request. The result of `detached` is still a view, so comparing it
 * in a large set costs one more memory access. This copy takes longer to make.
 */
export function inOnePiece(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
