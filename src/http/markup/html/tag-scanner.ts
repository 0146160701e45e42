/** Reading one tag: where its name, its attributes and the tag itself end (HTML standard §13.2.5.8 to §13.2.5.40). */

const TAB = 0x09;
const VERTICAL_TAB = 0x0b;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;
const SLASH = 0x2f;
const EQUALS = 0x3d;
const GREATER = 0x3e;

/** Numbers for each attribute in `TagScanner.attributes`: where its name and its value begin and end. */
export const NUMBERS_PER_ATTRIBUTE = 4;

/** Attributes of one tag that are read. Further ones take no memory, also where no tree is built. */
const MAX_ATTRIBUTES = 100_000;

/** Reused for every tag of a page, so that a tag without attributes of interest allocates nothing. */
export class TagScanner {
  readonly #html: string;
  /** Start and end of name and value of each attribute, in order; only the first `length` numbers count. */
  readonly attributes: number[] = [];
  /** How many numbers of `attributes` belong to the tag read last. */
  length = 0;
  /** Whether the tag read last ends in `/>`. */
  isSelfClosing = false;

  constructor(html: string) {
    this.#html = html;
  }

  /** Where the tag name that begins at `at` ends; the length of the page if nothing ends it. */
  nameEnd(at: number): number {
    const html = this.#html;
    for (; at < html.length; at++) {
      const code = html.charCodeAt(at);
      if (code === GREATER || code === SLASH || isSpace(code)) return at;
    }
    return at;
  }

  /**
   * Reads attributes from `at`, behind the name of a tag.
   * @returns the index of the tag's `>`; -1 when the page ends within the tag, which then is no tag.
   */
  readAttributes(at: number): number {
    const html = this.#html;
    const end = html.length;
    this.length = 0;
    for (;;) {
      const gap = at;
      let code = html.charCodeAt(at);
      while (code === SLASH || isSpace(code)) code = html.charCodeAt(++at);
      if (code === GREATER) {
        this.isSelfClosing = at > gap && html.charCodeAt(at - 1) === SLASH;
        return at;
      }
      if (at >= end) return -1;
      const nameStart = at;
      // A name may begin with an equals sign.
      do code = html.charCodeAt(++at);
      while (at < end && code !== EQUALS && code !== GREATER && code !== SLASH && !isSpace(code));
      const nameEnd = at;
      while (isSpace(code)) code = html.charCodeAt(++at);
      if (code !== EQUALS) {
        this.#add(nameStart, nameEnd, nameEnd, nameEnd);
        continue;
      }
      do code = html.charCodeAt(++at);
      while (isSpace(code));
      let valueStart = at;
      let valueEnd: number;
      if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
        valueStart += 1;
        valueEnd = html.indexOf(code === DOUBLE_QUOTE ? '"' : "'", valueStart);
        if (valueEnd === -1) return -1;
        at = valueEnd + 1;
      } else {
        while (at < end && code !== GREATER && !isSpace(code)) code = html.charCodeAt(++at);
        valueEnd = at;
      }
      this.#add(nameStart, nameEnd, valueStart, valueEnd);
    }
  }

  #add(nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): void {
    const { attributes } = this;
    let { length } = this;
    if (length === MAX_ATTRIBUTES * NUMBERS_PER_ATTRIBUTE) return;
    attributes[length++] = nameStart;
    attributes[length++] = nameEnd;
    attributes[length++] = valueStart;
    attributes[length++] = valueEnd;
    this.length = length;
  }
}

/** TAB, LF, FF, CR and space: the white space of HTML. */
function isSpace(code: number): boolean {
  return code === SPACE || (code >= TAB && code <= CARRIAGE_RETURN && code !== VERTICAL_TAB);
}
