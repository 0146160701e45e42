/** The text of a page that is read by its offsets: what a slice of it means as text or as a value of an attribute. */
import { decodeHTML, decodeHTMLAttribute } from 'entities/decode';
import { decodedInPieces, replacedInPieces } from '../../text-memory.js';

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
    if (form !== TextForm.raw && text.includes('&')) text = decodedInPieces(text, decodeHTML);
    return this.#hasNul ? withoutNul(text, form === TextForm.html ? '' : '\ufffd') : text;
  }

  /** The value of an attribute. */
  value(from: number, to: number): string {
    return this.valueOf(this.html.slice(from, to));
  }

  /** As `value`, of a slice of the page. */
  valueOf(slice: string): string {
    const value = this.#withoutNul(this.#decoded(slice));
    return value.includes('&') ? decodedInPieces(value, decodeHTMLAttribute) : value;
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
    return this.#hasNul ? withoutNul(text, '\ufffd') : text;
  }

  #decoded(slice: string): string {
    // Slices end beside ASCII, so never within a character.
    const text = this.#isUtf8 && NOT_ASCII.test(slice) ? Buffer.from(slice, 'latin1').toString() : slice;
    if (!this.#hasCarriageReturn) return text;
    return replacedInPieces(text, (piece) => piece.replace(/\r\n?/g, '\n'));
  }
}

function withoutNul(text: string, instead: string): string {
  return replacedInPieces(text, (piece) => piece.replaceAll('\0', instead));
}
