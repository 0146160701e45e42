/** What most pages are asked for, links and title, found in one pass that builds no tree. */
import { Content } from './element-rules.js';
import { HtmlReader, type HtmlSink } from './html-reader.js';
import { type ElementName, MAX_DEPTH, type OpenElements } from './open-elements.js';
import { PageText, TextForm } from './page-text.js';
import { linkTags, plainOutline } from './plain-outline.js';
import { NUMBERS_PER_ATTRIBUTE, type TagScanner } from './tag-scanner.js';

export interface Outline {
  /** `href` of every `a` and `area` that has one, in document order. */
  readonly hrefs: string[];
  /** The texts that stand directly in a `title`. */
  readonly titles: readonly string[];
  /** `href` of the first `base` that has one; null without. */
  readonly baseHref: string | null;
}

/**
 * @param page its text; or its bytes where they are UTF-8, of which only what is kept is decoded
 * @param mostHrefs of a page with more, one more than these are found
 */
export function outlineOf(page: string | Buffer, mostHrefs: number): Outline {
  const text = new PageText(page);
  return plainlyRead(text, mostHrefs) ?? wholeOutline(text, mostHrefs);
}

function plainlyRead(text: PageText, mostHrefs: number): Outline | null {
  const plain = plainOutline(text.html, mostHrefs);
  if (plain === null) return null;
  const { hrefs } = plain;
  // In place: a page may have a million of them.
  for (let n = 0; n < hrefs.length; n++) hrefs[n] = text.valueOf(hrefs[n]!);
  const titles = plain.titles.map((title) => text.textOf(title, TextForm.escapable));
  return { hrefs, titles, baseHref: null };
}

/** The outline by `HtmlReader`, which knows all of HTML. @param mostHrefs as of `outlineOf` */
export function wholeOutline(text: PageText, mostHrefs: number): Outline {
  const reader = new HtmlReader(text);
  const sink = new OutlineSink(text, reader.openElements, mostHrefs);
  reader.read(sink);
  return sink;
}

class OutlineSink implements HtmlSink, Outline {
  readonly hrefs: string[] = [];
  readonly titles: string[] = [];
  baseHref: string | null = null;
  readonly #text: PageText;
  readonly #openElements: OpenElements;
  readonly #mostHrefs: number;
  /** Whether the element that began last is one of HTML. */
  #isHtml = true;
  /** Whether more text belongs to the text read last. */
  #textGoesOn = false;

  constructor(text: PageText, openElements: OpenElements, mostHrefs: number) {
    this.#text = text;
    this.#mostHrefs = mostHrefs;
    this.#openElements = openElements;
  }

  open({ name }: ElementName, tag: TagScanner | null, isHtml: boolean): void {
    this.#textGoesOn = false;
    this.#isHtml = isHtml;
    if (tag === null || tag.length === 0) return;
    if (linkTags.includes(name)) {
      if (this.hrefs.length > this.#mostHrefs) return;
      const href = hrefOf(tag, this.#text);
      if (href !== null) this.hrefs.push(href);
    } else if (name === 'base' && this.baseHref === null && isBase(isHtml, this.#openElements)) {
      this.baseHref = hrefOf(tag, this.#text);
    }
  }

  close(): void {
    this.#textGoesOn = false;
  }

  text(from: number, to: number, form: TextForm): void {
    if (this.#textParent() !== 'title') return;
    const text = this.#text.text(from, to, form);
    if (text === '') return;
    if (this.#textGoesOn) this.titles[this.titles.length - 1] += text;
    else this.titles.push(text);
    this.#textGoesOn = true;
  }

  /** The name of the element that text is put into in the tree, where those too deep hold only what is but text. */
  #textParent(): string | undefined {
    const { depth } = this.#openElements;
    const innermost = this.#openElements.at(depth - 1);
    const isDeepest = depth <= MAX_DEPTH || (this.#isHtml && innermost?.rules.content !== Content.markup);
    return (isDeepest ? innermost : this.#openElements.at(MAX_DEPTH - 1))?.name;
  }

  comment(): void {
    this.#textGoesOn = false;
  }

  declaration(): void {
    this.#textGoesOn = false;
  }
}

/** Whether a `base` that begins now is one of the document: not SVG's, nor content of a template. */
export function isBase(isHtml: boolean, openElements: OpenElements): boolean {
  return isHtml && !openElements.isOpen('template');
}

/** The value of the first `href` of a tag; null without. */
function hrefOf(tag: TagScanner, text: PageText): string | null {
  const { attributes, length } = tag;
  for (let i = 0; i < length; i += NUMBERS_PER_ATTRIBUTE) {
    const nameStart = attributes[i]!;
    if (attributes[i + 1]! - nameStart !== 'href'.length) continue;
    if (text.name(nameStart, attributes[i + 1]!) !== 'href') continue;
    return text.value(attributes[i + 2]!, attributes[i + 3]!);
  }
  return null;
}
