/** The tree of a page of HTML, in domhandler's nodes: what Cheerio and css-select work on. */
import {
  type ChildNode,
  Comment,
  Document,
  Element,
  type ParentNode,
  ProcessingInstruction,
  Text,
} from 'domhandler';
import type { NodeBudget } from '../../node-budget.js';
import { Content } from './element-rules.js';
import { HtmlReader, type HtmlSink } from './html-reader.js';
import { type ElementName, MAX_DEPTH, type OpenElements } from './open-elements.js';
import { isBase } from './outline.js';
import { PageText, type TextForm } from './page-text.js';
import { NUMBERS_PER_ATTRIBUTE, type TagScanner } from './tag-scanner.js';

export interface HtmlTree {
  readonly document: Document;
  /** `href` of the first `base` that has one, as the page was written; null without. */
  readonly baseHref: string | null;
}

/** @throws TooComplexError */
export function buildHtmlTree(html: string, budget: NodeBudget): HtmlTree {
  budget.spendReferences(html);
  const text = new PageText(html);
  const reader = new HtmlReader(text);
  const builder = new TreeBuilder(text, reader.openElements, budget);
  reader.read(builder);
  return builder;
}

class TreeBuilder implements HtmlSink, HtmlTree {
  readonly document = new Document([]);
  baseHref: string | null = null;
  readonly #text: PageText;
  readonly #openElements: OpenElements;
  readonly #budget: NodeBudget;
  /** The document, then the open elements that may hold more, innermost last. */
  readonly #parents: ParentNode[] = [this.document];
  /** How many innermost open elements are too deep to hold anything. */
  #tooDeep = 0;
  /** The innermost open element where it is too deep, but text is all that it can hold. */
  #tooDeepText: Element | null = null;
  /** The text that more text belongs to. */
  #lastText: Text | null = null;

  constructor(text: PageText, openElements: OpenElements, budget: NodeBudget) {
    this.#text = text;
    this.#openElements = openElements;
    this.#budget = budget;
  }

  open({ name, rules }: ElementName, tag: TagScanner | null, isHtml: boolean): void {
    const element = new Element(name, tag === null ? {} : this.#attributesOf(tag));
    this.#append(element);
    if (this.#parents.length <= MAX_DEPTH) this.#parents.push(element);
    else {
      this.#tooDeep += 1;
      this.#tooDeepText = isHtml && rules.content !== Content.markup ? element : null;
    }
    if (name === 'base' && this.baseHref === null && isBase(isHtml, this.#openElements)) {
      this.baseHref = element.attribs.href ?? null;
    }
  }

  close(): void {
    this.#lastText = null;
    this.#tooDeepText = null;
    if (this.#tooDeep > 0) this.#tooDeep -= 1;
    else this.#parents.pop();
  }

  text(from: number, to: number, form: TextForm): void {
    const text = this.#text.text(from, to, form);
    if (text === '') return;
    if (this.#lastText !== null) {
      this.#budget.spend(1);
      this.#lastText.data += text;
      return;
    }
    const node = new Text(text);
    this.#append(node);
    this.#lastText = node;
  }

  comment(from: number, to: number): void {
    this.#append(new Comment(this.#text.raw(from, to)));
  }

  declaration(from: number, to: number): void {
    const data = this.#text.raw(from, to);
    const name = /^[^\s/]*/.exec(data)![0].toLowerCase();
    this.#append(new ProcessingInstruction(name, data));
  }

  #append(node: ChildNode): void {
    this.#budget.spend(1);
    const parent = this.#tooDeepText ?? this.#parents[this.#parents.length - 1]!;
    const siblings = parent.children;
    const previous = siblings[siblings.length - 1];
    if (previous !== undefined) {
      node.prev = previous;
      previous.next = node;
    }
    node.parent = parent;
    siblings.push(node);
    this.#lastText = null;
  }

  #attributesOf({ attributes, length }: TagScanner): Record<string, string> {
    this.#budget.spend(length / NUMBERS_PER_ATTRIBUTE);
    const values: Record<string, string> = {};
    for (let i = 0; i < length; i += NUMBERS_PER_ATTRIBUTE) {
      const name = this.#text.name(attributes[i]!, attributes[i + 1]!);
      // Of attributes of one name the first counts.
      if (!Object.hasOwn(values, name))
        values[name] = this.#text.value(attributes[i + 2]!, attributes[i + 3]!);
    }
    return values;
  }
}
