/**
 * Path patterns of robots.txt (RFC 9309 §2.2.2 and §2.2.3): a pattern matches a path from its beginning, `*` stands for any
 * text, `$` at the end for the end of the path.
 */
import { quote, utf8Bytes } from '../http/url/percent-encoding.js';

/** A pattern, split into pieces that are matched by one forward search. */
export interface PathPattern {
  /** Length of the normalised pattern. The longest of several matching rules applies. */
  readonly length: number;
  /** The texts between the wildcards, in order. The first one must be at the beginning of the path. */
  readonly pieces: readonly string[];
  /** Whether the last piece must be at the end of the path. */
  readonly isAnchored: boolean;
}

/** Parse a pattern of robots.txt. */
export function parsePathPattern(text: string): PathPattern {
  const normalised = normalisePath(text);
  const isAnchored = normalised.endsWith('$');
  const pieces = (isAnchored ? normalised.slice(0, -1) : normalised).split(/\*+/);
  return { length: normalised.length, pieces, isAnchored };
}

/**
 * Whether a path matches. Each piece is matched at its first possible position, which never excludes a later match. So there
 * is no backtracking, and patterns such as `/****…x$` cost no more than others.
 * @param path as `normalisePath` returns it.
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
 * One spelling for all paths that are equal by RFC 9309. Characters other than printable ASCII are percent-encoded as UTF-8,
 * encoded unreserved characters are decoded, and the digits of other escapes are in upper case.
 */
export function normalisePath(path: string): string {
  return quote(utf8Bytes(path), UNPRINTABLE).replace(ESCAPE, (text, digits: string) => {
    const character = String.fromCharCode(Number.parseInt(digits, 16));
    return UNRESERVED.test(character) ? character : text.toUpperCase();
  });
}
