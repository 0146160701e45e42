/** The lines of a robots.txt (RFC 9309). Sitemaps are found there too, without a parse of the rules. */

/** One line that names something. */
export interface RobotsLine {
  /** In lower case, spelt as in RFC 9309: `user-agent`, `allow`, `disallow`, `sitemap`; another key as it is written. */
  readonly key: string;
  readonly value: string;
}

/**
 * Keys as Google's open parser reads them: by their beginning, and with the frequent misspellings that it lists
 * (google/robotstxt, `ParsedRobotsKey` in robots.cc).
 */
const KEYS: readonly (readonly [key: string, spelling: RegExp])[] = [
  ['user-agent', /^user[- ]?agent/],
  ['allow', /^allow/],
  ['disallow', /^(?:diss?all?ow|diasllow|disallaw)/],
  ['sitemap', /^site-?map/],
];

/** Keys are case-insensitive. A missing colon or hyphen is accepted, as in Google's parser and Protego. */
const LINE = /^\s*(user[- ]?agent|[^\s:]+)\s*[:\s]\s*(.*)$/is;

/** @param text decoded; a byte order mark is ignored. Lines that name nothing are skipped, so any text is valid. */
export function* robotsLines(text: string): Generator<RobotsLine> {
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)) {
    const [, key, value] = LINE.exec(line.split('#', 1)[0]!.trimEnd()) ?? [];
    if (key !== undefined) yield { key: keyOf(key.toLowerCase()), value: value! };
  }
}

function keyOf(written: string): string {
  return KEYS.find(([, spelling]) => spelling.test(written))?.[0] ?? written;
}
