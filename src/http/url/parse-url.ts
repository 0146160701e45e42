/** The WHATWG URL parser, which returns null instead of throwing. */

/** A page has too few longer URLs for their exceptions to matter. */
const MAX_JUDGED_CHARS = 1024;

const BEYOND_ASCII = /[^\0-\x7f]+/gu;

/**
 * A page may have a million links that are no URLs, and an exception for each takes seconds, so `URL.canParse` judges first. On
 * Node 20 its optimised version reads a Latin-1 string as UTF-8, so it gets letters beyond ASCII as references, which mean
 * the same. `URL.parse` does not exist on Node 20.
 */
export function parseUrl(url: string, base?: string): URL | null {
  if (url.length <= MAX_JUDGED_CHARS && !URL.canParse(inAscii(url), base && inAscii(base))) return null;
  try {
    return new URL(url, base);
  } catch {
    return null;
  }
}

function inAscii(url: string): string {
  return url.replace(BEYOND_ASCII, (letters) => encodeURIComponent(Buffer.from(letters).toString()));
}
