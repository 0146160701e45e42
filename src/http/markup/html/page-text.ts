/** The text of a page that is read by its offsets: what a slice of it means as text or as a value of an attribute. */
import { decodeHTML } from 'entities/decode';
import { decodeAttribute } from './attribute-references.js';

/** Where a slice stands, which decides about character references and NUL. */
export const TextForm = {
  /** Between tags of HTML. */
  html: 0,
  /** Between tags of SVG or MathML. */
  foreign: 1,
  /** In `title` and `textarea`. */
  escapable: 2,
  /** In `script`, `style`, CDATA and the like. */
  raw: 3,
} as const;
export type TextForm = (typeof TextForm)[keyof typeof TextForm];

const NOT_ASCII = /[\x80-\xff]/;
const UPPER_CASE = /[A-Z]/;

/**
 * Given a page as bytes, only the slices that are asked for are decoded: all that a reader looks for is ASCII, so it
 * reads bytes as characters.
 */
export class PageText {
  /** The page, or its bytes as characters. */
  readonly html: string;
  readonly #isUtf8: boolean;
  readonly #hasCarriageReturn: boolean;
  readonly #hasNul: boolean;

  /** @param page text; or bytes that are UTF-8 */
  constructor(page: string | Buffer) {
    this.#isUtf8 = typeof page !== 'string';
    this.html = typeof page === 'string' ? page : page.toString('latin1');
    this.#hasCarriageReturn = this.html.includes('\r');
    this.#hasNul = this.html.includes('\0');
  }

  /** The text of a text node or a part of one. */
  text(from: number, to: number, form: TextForm): string {
    return this.textOf(this.html.slice(from, to), form);
  }

  /** As `text`, of a slice of the page. */
  textOf(slice: string, form: TextForm): string {
    let text = this.#decoded(slice);
    if (form !== TextForm.raw && text.includes('&')) text = inPieces(text, decodeHTML);
    return this.#hasNul ? text.replaceAll('\0', form === TextForm.html ? '' : '\ufffd') : text;
  }

  /** The value of an attribute. */
  value(from: number, to: number): string {
    return this.valueOf(this.html.slice(from, to));
  }

  /** As `value`, of a slice of the page. */
  valueOf(slice: string): string {
    const value = this.#withoutNul(this.#decoded(slice));
    return value.includes('&') ? inPieces(value, decodeAttribute) : value;
  }

  /** The name of a tag or attribute: ASCII in lower case. */
  name(from: number, to: number): string {
    const name = this.raw(from, to);
    return UPPER_CASE.test(name) ? name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : name;
  }

  /** What is no text, such as a comment. */
  raw(from: number, to: number): string {
    return this.#withoutNul(this.#decoded(this.html.slice(from, to)));
  }

  #withoutNul(text: string): string {
    return this.#hasNul ? text.replaceAll('\0', '\ufffd') : text;
  }

  #decoded(slice: string): string {
    // Slices end beside ASCII, so never within a character.
    const text = this.#isUtf8 && NOT_ASCII.test(slice) ? Buffer.from(slice, 'latin1').toString() : slice;
    return this.#hasCarriageReturn ? text.replace(/\r\n?/g, '\n') : text;
  }
}

/** Longer texts are decoded in parts: 60 MB of `&amp;` at once would need a gigabyte. */
const PIECE_CHARACTERS = 64 * 1024;

/** Decodes the character references of a text. None goes beyond the next `&`. */
function inPieces(text: string, decode: (piece: string) => string): string {
  if (text.length <= PIECE_CHARACTERS) return decode(text);
  let decoded = '';
  for (let from = 0; from < text.length; ) {
    const next = text.indexOf('&', from + PIECE_CHARACTERS);
    const to = next === -1 ? text.length : next;
    decoded += decode(text.slice(from, to));
    from = to;
  }
  return decoded;
}
