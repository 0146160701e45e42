/** What most pages are asked for, links and title, found in one pass that builds no tree. */
import { decodeHTML, decodeHTMLAttribute } from 'entities/decode';
import { plainOutline } from './regex-outline.js';
import { tokenizedOutline } from './tokenizer-outline.js';

export interface Outline {
  /** `href` of every `a` and `area` that has one, in document order. */
  readonly hrefs: readonly string[];
  /**
   * The text of every `title` that has any; null where only the tree can tell: a self-closing `<title/>`, or an
   * entity beside a `<`, which the tokenizer does not always decode.
   */
  readonly titles: readonly string[] | null;
}

/**
 * @param page its text; or its bytes where they are UTF-8, of which only what is kept is decoded: what a tokenizer looks
 * for is ASCII, so it reads bytes as characters. On 90 KB that are not all ASCII 0.5 ms instead of 0.65, and a quarter of
 * the memory.
 */
export function outlineOf(page: string | Buffer): Outline {
  const isText = typeof page === 'string';
  const html = isText ? page : page.toString('latin1');
  const decode = isText ? asItIs : fromUtf8;
  const { hrefs, titles } = plainOutline(html) ?? tokenizedOutline(html);
  return {
    hrefs: hrefs.map((href) => attributeText(decode(href))),
    titles: titles?.some((title) => title.includes('&') && title.includes('<'))
      ? null
      : (titles?.map((title) => titleText(decode(title))) ?? null),
  };
}

const NOT_ASCII = /[\x80-\xff]/;

const asItIs = (slice: string) => slice;

/** A slice that a tokenizer made ends beside ASCII, never within a character. */
const fromUtf8 = (slice: string) => (NOT_ASCII.test(slice) ? Buffer.from(slice, 'latin1').toString() : slice);

const attributeText = (value: string) => (value.includes('&') ? decodeHTMLAttribute(value) : value);

const titleText = (text: string) => (text.includes('&') ? decodeHTML(text) : text);
