/** The WHATWG URL parser, which returns null instead of throwing. */

/**
 * `URL.canParse` is not used: on Node 20 its optimised version reads a Latin-1 string as UTF-8 and returns false for
 * `http://bücher.example/`. `URL.parse` does not exist on Node 20.
 */
export function parseUrl(url: string, base?: string): URL | null {
  try {
    return new URL(url, base);
  } catch {
    return null;
  }
}
