/** Texts that use no more memory than they need. */

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

/**
 * Long texts are converted in parts: V8 keeps each match of a replacement until its end, so 60 MB of line breaks at once would
 * need two gigabytes.
 */
const PIECE_CHARACTERS = 64 * 1024;
const CARRIAGE_RETURN = 0x0d;

/** The text with its character references decoded. None goes beyond the next `&`. */
export function decodedInPieces(text: string, decode: (piece: string) => string): string {
  return inPieces(text, decode, (at) => {
    const next = text.indexOf('&', at);
    return next === -1 ? text.length : next;
  });
}

/** The text with single characters and line breaks replaced: CR LF is never cut in two. */
export function replacedInPieces(text: string, replace: (piece: string) => string): string {
  return inPieces(text, replace, (at) => (text.charCodeAt(at - 1) === CARRIAGE_RETURN ? at + 1 : at));
}

/** The text with one space for each run of white space. @param space a global expression that matches a run */
export function withSingleSpaces(text: string, space: RegExp): string {
  const replaced = replacedInPieces(text, (piece) => piece.replace(space, ' '));
  // A run that was cut in two left two spaces.
  return text.length <= PIECE_CHARACTERS ? replaced : replaced.replace(/ {2,}/g, ' ');
}

/** @param cutAt where a piece may end, from an index on */
function inPieces(text: string, convert: (piece: string) => string, cutAt: (at: number) => number): string {
  if (text.length <= PIECE_CHARACTERS) return convert(text);
  let converted = '';
  for (let from = 0; from < text.length; ) {
    const end = from + PIECE_CHARACTERS;
    const to = end >= text.length ? text.length : cutAt(end);
    // The result may be a rope of thousands of parts.
    converted += detached(convert(text.slice(from, to)));
    from = to;
  }
  return converted;
}
