/** The lines of a robots.txt (RFC 9309). Sitemaps are found there too, without a parse of the rules. */

/** One line that names something. */
export interface RobotsLine {
  /** In lower case, such as `user-agent`, `disallow`, `sitemap`. */
  readonly key: string;
  readonly value: string;
}

/** Keys are case-insensitive. A missing colon or hyphen is accepted, as in Google's parser and Protego. */
const LINE = /^\s*(user[- ]?agent|[^\s:]+)\s*[:\s]\s*(.*)$/is;

/** @param text decoded; a byte order mark is ignored. Lines that name nothing are skipped, so any text is valid. */
export function* robotsLines(text: string): Generator<RobotsLine> {
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)) {
    const [, key, value] = LINE.exec(line.split('#', 1)[0]!.trimEnd()) ?? [];
    if (key !== undefined)
      yield { key: key.toLowerCase().replace(/^user ?agent$/, 'user-agent'), value: value! };
  }
}
