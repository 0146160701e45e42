/** What `css()` and `xpath()` give: elements and texts in document order, with Scrapy's ways of getting at them. */
import { decodeHTML } from 'entities/decode';
import { DomUtils } from 'htmlparser2';
import { decodedInPieces, detached } from '../text-memory.js';
import { cssQuery, type Found } from './css/css-query.js';
import { boundRendering, MAX_MATCHES, SelectorCostError } from './css/match-budget.js';
import type { Element } from './markup-tree.js';
import { selectXPath, type XPathVariables } from './xpath/xpath-query.js';

/** Characters of the HTML of all elements that `getAll()` gives. */
const MAX_MARKUP_CHARACTERS = 48 * 1024 * 1024;

/** The attribute that has the URL of an element. */
const linkAttributes: ReadonlyMap<string, string> = new Map([
  ['a', 'href'],
  ['area', 'href'],
  ['link', 'href'],
  ['img', 'src'],
]);

/**
 * A list of selected elements, or of texts after `::text` and `::attr(name)`.
 * ```ts
 * response.css('h1::text').get();                          // the first, or null
 * response.css('a::attr(href)').getAll();
 * for (const row of response.css('tr')) row.css('td::text').getAll();
 * response.css('p.price::text').reFirst(/[\d.]+/);
 * ```
 * Iterating gives lists of one, called `Selector`.
 */
export class SelectorList implements Iterable<SelectorList> {
  readonly #found: readonly Found[];
  readonly #xml: boolean;

  /** @internal */
  constructor(found: readonly Found[], xml: boolean) {
    this.#found = found;
    this.#xml = xml;
  }

  /** How many there are. */
  get length(): number {
    return this.#found.length;
  }

  *[Symbol.iterator](): IterableIterator<Selector> {
    for (const one of this.#found) yield new SelectorList([one], this.#xml);
  }

  /** What a function gives for each: `response.css('tr').map((row) => row.css('td::text').get())`. */
  map<T>(give: (one: Selector, index: number) => T): T[] {
    return Array.from(this, give);
  }

  /** The selector at an index, from the end when it is negative; an empty list where there is none. */
  at(index: number): Selector {
    const one = this.#found.at(index);
    return new SelectorList(one === undefined ? [] : [one], this.#xml);
  }

  /**
   * Select within each element, itself included; texts have nothing within.
   * @throws UsageError naming a selector that is not valid
   */
  css(selector: string): SelectorList {
    const query = cssQuery(selector, this.#xml);
    const found = this.#found.flatMap((one) => (typeof one === 'string' ? [] : query.select(one)));
    return new SelectorList(found, this.#xml);
  }

  /**
   * Select by XPath 1.0 from each element; `.//a` begins at the element, `//a` at the document.
   * ```ts
   * for (const row of response.css('tr')) row.xpath('./td[has-class("price")]/text()').get();
   * ```
   * @param variables values of `$name` in the expression
   * @throws UsageError for an expression that is not valid
   */
  xpath(expression: string, variables?: XPathVariables): SelectorList {
    const found = this.#found.flatMap((one) =>
      typeof one === 'string' ? [] : selectXPath(expression, one, this.#xml, variables),
    );
    return new SelectorList(found, this.#xml);
  }

  /** The first text, or outer HTML of the first element; null, or `fallback`, where nothing matched. */
  get(): string | null;
  get<T>(fallback: T): string | T;
  get(fallback: unknown = null): unknown {
    const [first] = this.#found;
    return first === undefined ? fallback : this.#render(first);
  }

  /** Every text, or outer HTML of every element. */
  getAll(): string[] {
    return [...this.#rendered()];
  }

  /** An attribute of the first element; null when it has none of that name, or nothing matched. */
  attr(name: string): string | null {
    const [first] = this.#found;
    if (first === undefined || typeof first === 'string') return null;
    const key = this.#xml ? name : name.toLowerCase();
    return Object.hasOwn(first.attribs, key) ? first.attribs[key]! : null;
  }

  /**
   * Apply a regular expression to each text (elements: their HTML), as Scrapy's `re`: the group named `extract`
   * where there is one, else all groups, else the whole match. Entities other than `&lt;` and `&amp;` are decoded.
   */
  re(pattern: RegExp | string): string[] {
    const expression = globalExpression(pattern);
    const all: string[] = [];
    for (const text of this.#rendered())
      for (const match of matches(text, expression)) {
        if (all.push(match) > MAX_MATCHES) throw SelectorCostError.ofMatches(expression, MAX_MATCHES);
      }
    return all;
  }

  /** The first of `re()`; null, or `fallback`, where nothing matched. */
  reFirst(pattern: RegExp | string): string | null;
  reFirst<T>(pattern: RegExp | string, fallback: T): string | T;
  reFirst(pattern: RegExp | string, fallback: unknown = null): unknown {
    const expression = globalExpression(pattern);
    for (const text of this.#rendered()) {
      for (const first of matches(text, expression)) return first;
    }
    return fallback;
  }

  /** @internal The elements, without the texts. */
  elements(): Element[] {
    return this.#found.filter((one) => typeof one !== 'string');
  }

  /** @internal The URL the first one stands for: a text itself, `href` of a link, `src` of an image; else null. */
  reference(): string | null {
    const [first] = this.#found;
    if (first === undefined) return null;
    if (typeof first === 'string') return first;
    const attribute = linkAttributes.get(first.name.toLowerCase());
    return attribute === undefined ? null : this.attr(attribute);
  }

  /** @internal Whether the first one is an element that never stands for a URL, such as `li`. */
  isNoLink(): boolean {
    const [first] = this.#found;
    return typeof first === 'object' && !linkAttributes.has(first.name.toLowerCase());
  }

  *#rendered(): Generator<string> {
    let characters = 0;
    for (const one of this.#found) {
      const text = this.#render(one);
      // An element within another one is written twice, so deep nesting makes the list much longer than the page.
      if (typeof one !== 'string') characters += text.length;
      if (characters > MAX_MARKUP_CHARACTERS) throw SelectorCostError.ofMarkup(MAX_MARKUP_CHARACTERS);
      yield text;
    }
  }

  #render(one: Found): string {
    if (typeof one === 'string') return one;
    boundRendering([one], this.#xml);
    // utf8: only what markup needs is escaped, letters beyond ASCII stay.
    const html = DomUtils.getOuterHTML(one, { xmlMode: this.#xml, encodeEntities: 'utf8' });
    // It is a rope, which takes ten times the memory of its text: many elements within each other may be kept.
    return detached(html);
  }
}

/** A list of one. */
export type Selector = SelectorList;

function globalExpression(pattern: RegExp | string): RegExp {
  if (typeof pattern === 'string') return new RegExp(pattern, 'g');
  return new RegExp(pattern.source, `${pattern.flags.replace(/[gy]/g, '')}g`);
}

function* matches(text: string, expression: RegExp): Generator<string> {
  for (const match of text.matchAll(expression)) {
    const [whole, ...groups] = match;
    const named = match.groups?.extract;
    // Python's findall gives an empty text for a group that took no part.
    const parts = named !== undefined ? [named] : groups.length > 0 ? groups : [whole];
    for (const part of parts as (string | undefined)[]) yield decodeMost(part ?? '');
  }
}

function decodeMost(text: string): string {
  if (!text.includes('&')) return text;
  return decodedInPieces(text, (piece) =>
    piece.replace(/&(?!lt;|amp;)#?\w+;/gi, (entity) => decodeHTML(entity)),
  );
}
