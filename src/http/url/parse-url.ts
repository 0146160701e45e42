/** The WHATWG parser, with null for what is no URL. */

/**
 * Not `URL.canParse`: on Node 20, once optimised, it takes a Latin-1 string for UTF-8 and answers false for
 * `http://bücher.example/`. Not `URL.parse`, which Node 20 does not have.
 */
export function parseUrl(url: string, base?: string): URL | null {
  try {
    return new URL(url, base);
  } catch {
    return null;
  }
}
