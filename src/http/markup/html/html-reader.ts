/**
 * Reads a page of HTML once, from its beginning to its end, and tells a sink its tags and texts in order: the
 * tokenization of the HTML standard (§13.2.5), and as much of tree construction (§13.2.6) as decides what is a tag.
 * The tree of a page and the list of its links are made by the same reader, so they agree.
 *
 * Own code, because no kept library is exact and fast enough: on python3-doc, parse5's tokenizer alone takes three
 * quarters of the time in which htmlparser2 builds a tree, and htmlparser2 takes time quadratic in the depth.
 */
import { Content, fontBreakouts } from './element-rules.js';
import { type ElementName, MAX_NAMES, MAX_OPEN, OpenElements, type TagFacts } from './open-elements.js';
import { type PageText, TextForm } from './page-text.js';
import { NUMBERS_PER_ATTRIBUTE, TagScanner } from './tag-scanner.js';
import { scriptEnd, textEnd } from './text-end.js';

/** What is told about a page. Offsets are those of `PageText`. */
export interface HtmlSink {
  /**
   * An element begins.
   * @param tag whose `attributes` are those of this element, until the next call; null for one without a tag
   * @param isHtml false in SVG and MathML
   */
  open(element: ElementName, tag: TagScanner | null, isHtml: boolean): void;
  /** The innermost open element ends. What is open at the end of the page does not. */
  close(): void;
  text(from: number, to: number, form: TextForm): void;
  comment(from: number, to: number): void;
  /** A doctype (without its `<!`) or a processing instruction (without its `<`); the latter is a comment in the standard. */
  declaration(from: number, to: number): void;
}

const COMMENT_END = /--!?>/g;
const DOCTYPE = /doctype/iy;
const HTML_ENCODING = /^(?:text\/html|application\/xhtml\+xml)$/i;

const EXCLAMATION_MARK = 0x21;
const SLASH = 0x2f;
const QUESTION_MARK = 0x3f;

export class HtmlReader implements TagFacts {
  readonly openElements: OpenElements;
  readonly #text: PageText;
  readonly #html: string;
  readonly #tag: TagScanner;
  /** Elements by their names as the page writes them, in any case. */
  readonly #byWrittenName = new Map<string, ElementName>();
  #sink!: HtmlSink;

  constructor(text: PageText) {
    this.#text = text;
    this.#html = text.html;
    this.#tag = new TagScanner(text.html);
    this.openElements = new OpenElements(this, () => this.#sink.close());
  }

  /** Reads the page; once. */
  read(sink: HtmlSink): void {
    this.#sink = sink;
    const html = this.#html;
    let textStart = 0;
    let at = html.indexOf('<');
    while (at !== -1) {
      const code = html.charCodeAt(at + 1);
      if (isLetter(code) || code === SLASH || code === EXCLAMATION_MARK || code === QUESTION_MARK) {
        if (code === SLASH && at + 2 >= html.length) break;
        this.#markupText(textStart, at);
        textStart = this.#markup(at, code);
        at = html.indexOf('<', textStart);
      } else {
        at = html.indexOf('<', at + 1);
      }
    }
    this.#markupText(textStart, html.length);
  }

  #markupText(from: number, to: number): void {
    if (from >= to) return;
    this.#sink.text(from, to, this.openElements.isForeignText ? TextForm.foreign : TextForm.html);
  }

  /** @returns where it ends, or the text whose rules it sets. */
  #markup(at: number, code: number): number {
    if (code === SLASH) return this.#endTag(at);
    if (code === EXCLAMATION_MARK) return this.#markupDeclaration(at);
    if (code === QUESTION_MARK) {
      const end = this.#greaterThan(at);
      this.#sink.declaration(at + 1, end);
      return end + 1;
    }
    return this.#startTag(at + 1);
  }

  #startTag(at: number): number {
    const nameEnd = this.#tag.nameEnd(at);
    const end = this.#tag.readAttributes(nameEnd);
    // A tag that the page ends within is none.
    if (end === -1) return this.#html.length;
    const element = this.#named(at, nameEnd);
    const isHtml = this.#open(element, this.#tag);
    return isHtml && element.rules.content !== Content.markup ? this.#elementText(element, end + 1) : end + 1;
  }

  /** @returns whether it is an element of HTML */
  #open(element: ElementName, tag: TagScanner | null): boolean {
    const { openElements } = this;
    const isHtml = openElements.open(element);
    this.#sink.open(element, tag, isHtml);
    const closesItself = openElements.isForeign ? tag?.isSelfClosing === true : element.rules.isVoid;
    if (closesItself || openElements.depth > MAX_OPEN) openElements.closeInnermost();
    return isHtml;
  }

  /** Text that only the end tag of its element ends. */
  #elementText({ name, rules }: ElementName, from: number): number {
    const html = this.#html;
    let end: number;
    if (rules.content === Content.plain) end = html.length;
    else if (rules.content === Content.script) end = scriptEnd(html, from);
    else end = textEnd(html, name, from);
    const form = rules.content === Content.escapable ? TextForm.escapable : TextForm.raw;
    if (from < end) this.#sink.text(from, end, form);
    return end;
  }

  #endTag(at: number): number {
    const nameStart = at + 2;
    const code = this.#html.charCodeAt(nameStart);
    if (!isLetter(code)) {
      const end = this.#greaterThan(at);
      // `</>` is nothing at all.
      if (end > nameStart) this.#sink.comment(nameStart, end);
      return end + 1;
    }
    const nameEnd = this.#tag.nameEnd(nameStart);
    const end = this.#tag.readAttributes(nameEnd);
    if (end === -1) return this.#html.length;
    const element = this.#named(nameStart, nameEnd);
    const closed = this.openElements.closeNamed(element);
    if (!closed && (element.name === 'p' || element.name === 'br')) {
      // These two stand for an element of their own.
      this.#open(element, null);
      if (element.name === 'p') this.openElements.closeInnermost();
    }
    return end + 1;
  }

  /** What begins with `<!`. */
  #markupDeclaration(at: number): number {
    const html = this.#html;
    const start = at + 2;
    if (html.startsWith('--', start)) return this.#comment(start + 2);
    if (this.openElements.isForeign && html.startsWith('[CDATA[', start)) {
      const from = start + '[CDATA['.length;
      const found = html.indexOf(']]>', from);
      const end = found === -1 ? html.length : found;
      if (from < end) this.#sink.text(from, end, TextForm.raw);
      return end + ']]>'.length;
    }
    const end = this.#greaterThan(at);
    DOCTYPE.lastIndex = start;
    if (!DOCTYPE.test(html)) this.#sink.comment(start, end);
    // Within an element it is nothing.
    else if (this.openElements.depth === 0) this.#sink.declaration(at + 1, end);
    return end + 1;
  }

  #comment(from: number): number {
    const html = this.#html;
    const abrupt = html.startsWith('>', from) ? 1 : html.startsWith('->', from) ? 2 : 0;
    if (abrupt > 0) {
      this.#sink.comment(from, from);
      return from + abrupt;
    }
    COMMENT_END.lastIndex = from;
    const end = COMMENT_END.exec(html);
    this.#sink.comment(from, end?.index ?? html.length);
    return end === null ? html.length : COMMENT_END.lastIndex;
  }

  /** Index of the next `>`, or the end of the page. */
  #greaterThan(from: number): number {
    const found = this.#html.indexOf('>', from);
    return found === -1 ? this.#html.length : found;
  }

  #named(from: number, to: number): ElementName {
    const written = this.#html.slice(from, to);
    let element = this.#byWrittenName.get(written);
    if (element === undefined) {
      element = this.openElements.named(this.#text.name(from, to));
      if (this.#byWrittenName.size < MAX_NAMES) this.#byWrittenName.set(written, element);
    }
    return element;
  }

  /** Of the tag that is being read. */
  hasFontAttribute(): boolean {
    return this.#attributeNames().some((name) => fontBreakouts.has(name));
  }

  /** Of the tag that is being read. */
  hasHtmlEncoding(): boolean {
    const { attributes } = this.#tag;
    const index = this.#attributeNames().indexOf('encoding') * NUMBERS_PER_ATTRIBUTE;
    return index >= 0 && HTML_ENCODING.test(this.#text.value(attributes[index + 2]!, attributes[index + 3]!));
  }

  #attributeNames(): string[] {
    const { attributes, length } = this.#tag;
    const names: string[] = [];
    for (let i = 0; i < length; i += NUMBERS_PER_ATTRIBUTE) {
      names.push(this.#text.name(attributes[i]!, attributes[i + 1]!));
    }
    return names;
  }
}

function isLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}
