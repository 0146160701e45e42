/**
 * Path patterns of robots.txt (RFC 9309 §2.2.2 and §2.2.3): a pattern matches a path from its beginning, `*` stands for any
 * text, `$` at the end for the end of the path.
 */
import { quote, utf8Bytes } from '../http/url/percent-encoding.js';

/** A pattern, split so that a match is one forward search. */
export interface PathPattern {
  /** The normalised pattern's length decides which of several matching rules holds: the longest. */
  readonly length: number;
  /** The texts between the wildcards, in order; the first one stands at the beginning of the path. */
  readonly pieces: readonly string[];
  /** Whether the last piece stands at the end of the path. */
  readonly isAnchored: boolean;
}

/** Read a pattern as robots.txt has it. */
export function parsePathPattern(text: string): PathPattern {
  const normalised = normalisePath(text);
  const isAnchored = normalised.endsWith('$');
  const pieces = (isAnchored ? normalised.slice(0, -1) : normalised).split(/\*+/);
  return { length: normalised.length, pieces, isAnchored };
}

/**
 * Whether a path matches. Every piece is taken at its first possible place, which never rules out a later match, so there is
 * no backtracking: `/****…x$` costs no more than any other pattern.
 * @param path as `normalisePath` gives it.
 */
export function matchesPath({ pieces, isAnchored }: PathPattern, path: string): boolean {
  const first = pieces[0]!;
  if (!path.startsWith(first)) return false;
  if (pieces.length === 1) return !isAnchored || path.length === first.length;

  let end = first.length;
  const last = pieces.length - 1;
  for (let i = 1; i < last; i += 1) {
    const at = path.indexOf(pieces[i]!, end);
    if (at < 0) return false;
    end = at + pieces[i]!.length;
  }
  const tail = pieces[last]!;
  return isAnchored ? path.length - tail.length >= end && path.endsWith(tail) : path.includes(tail, end);
}

const UNPRINTABLE = /[^\x21-\x7e]/g;
const ESCAPE = /%([0-9a-f]{2})/gi;
const UNRESERVED = /[A-Za-z0-9._~-]/;

/**
 * One spelling for paths that RFC 9309 calls equal: what is not printable ASCII is percent-encoded as UTF-8, an encoded unreserved
 * character is decoded, the digits of all other escapes are upper case.
 */
export function normalisePath(path: string): string {
  return quote(utf8Bytes(path), UNPRINTABLE).replace(ESCAPE, (text, digits: string) => {
    const character = String.fromCharCode(Number.parseInt(digits, 16));
    return UNRESERVED.test(character) ? character : text.toUpperCase();
  });
}
