/**
 * Percent-encoding as w3lib does it: on bytes, not on characters, so that `%E9` and `%C3%A9` stay different. Bytes are
 * held in "binary strings" of one char code (0–255) per byte. These sort like bytes, and an ASCII URL needs no conversion.
 */

/** The bytes that are quoted, for each part of a URL. Letters, digits and `-._~` are safe everywhere. */
export const UNSAFE = {
  /** w3lib `_USERINFO_SAFEST_CHARS`. */
  userinfo: /[^A-Za-z0-9_.~!$&'()*+,-]/g,
  /** w3lib `_PATH_SAFEST_CHARS`, also of fragments and of queries of schemes that are not special. */
  safest: /[^A-Za-z0-9_.~:/?@!$&'()*+,;=%-]/g,
  /** w3lib `_SPECIAL_QUERY_SAFEST_CHARS`: as above, without the apostrophe. */
  specialQuery: /[^A-Za-z0-9_.~:/?@!$&()*+,;=%-]/g,
  /** w3lib `_path_safe_chars`, of the second pass over a path. */
  canonicalPath: /[^A-Za-z0-9_.~:/?[\]@!$&'()*+,;=|%-]/g,
  /** Python's `quote_plus`, of names and values in a query; the space is turned into `+` afterwards. */
  queryField: /[^A-Za-z0-9_.~ -]/g,
} as const;

const QUOTED = Array.from(
  { length: 256 },
  (_, byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
);
const NOT_ASCII = /[^\0-\x7f]/;
const ESCAPE = /%([0-9A-Fa-f]{2})/g;

/** @returns the UTF-8 bytes of `text` as a binary string; an ASCII text is returned as it is. */
export function utf8Bytes(text: string): string {
  return NOT_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

/** @returns `bytes` with each byte that matches `unsafe` as `%XX`, hex in upper case. */
export function quote(bytes: string, unsafe: RegExp): string {
  return bytes.replace(unsafe, quoteByte);
}

/** @returns `bytes` with every valid `%XX` decoded, once; an invalid one stays. Python's `unquote_to_bytes`. */
export function unquote(bytes: string): string {
  return bytes.includes('%') ? bytes.replace(ESCAPE, unquoteByte) : bytes;
}

/** @returns a query's name or value, quoted, with spaces as `+`. Python's `quote_plus` on bytes. */
export function quoteField(bytes: string): string {
  const quoted = quote(bytes, UNSAFE.queryField);
  return quoted.includes(' ') ? quoted.replaceAll(' ', '+') : quoted;
}

/** @returns the bytes of a query's name or value: `+` is a space, then `%XX` is decoded. */
export function unquoteField(field: string): string {
  return unquote(field.includes('+') ? field.replaceAll('+', ' ') : field);
}

function quoteByte(byte: string): string {
  return QUOTED[byte.charCodeAt(0)] as string;
}

function unquoteByte(_escape: string, hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}
