/**
 * The elements that are open at a place of a page, innermost last, and whether HTML, SVG or MathML is read there.
 * Every operation takes constant time for each element opened or closed, whatever the depth.
 */
import {
  breakouts,
  type ElementRules,
  mathTextElements,
  rulesOf,
  svgIntegrationPoints,
} from './element-rules.js';

/**
 * As in Chromium, what is nested deeper becomes a sibling in the tree: walks up the tree stay short, and text and markup
 * can be taken of it without overflowing the stack.
 */
export const MAX_DEPTH = 512;

/** An element that begins deeper holds nothing: each open element takes memory, also where no tree is built. */
export const MAX_OPEN = 100_000;

/** Names of elements that are told from each other on one page. Those of further names are not ended by their end tags. */
export const MAX_NAMES = 10_000;

/** All elements of one name on a page. */
export interface ElementName {
  readonly name: string;
  readonly rules: ElementRules;
  /** Index of the innermost open one; -1 without. */
  innermost: number;
}

/** What an open element is: of HTML, or foreign and how HTML may be read in it. */
const Kind = {
  html: 0,
  svg: 1,
  math: 2,
  svgWithHtml: 3,
  mathText: 4,
  annotation: 5,
  annotationWithHtml: 6,
} as const;
type Kind = (typeof Kind)[keyof typeof Kind];

/** An open element of SVG or MathML. */
interface Foreign {
  /** Its index among the open elements. */
  readonly index: number;
  readonly kind: Exclude<Kind, 0>;
  /** Index of the innermost HTML element around it; -1 without. */
  readonly innermostHtml: number;
  /** Index of the innermost foreign element, itself included, in which HTML may be read; -1 without. */
  readonly barrier: number;
}

/** What the tag of an element tells beyond its name, asked for only where it matters. */
export interface TagFacts {
  /** Whether it has an attribute that lets `font` end SVG and MathML. */
  hasFontAttribute(): boolean;
  /** Whether it says of a MathML `annotation-xml` that it holds HTML. */
  hasHtmlEncoding(): boolean;
}

export class OpenElements {
  readonly #facts: TagFacts;
  readonly #onClose: () => void;
  readonly #byName = new Map<string, ElementName>();
  readonly #open: ElementName[] = [];
  /** For each open element the index of the next outer one of the same name; -1 without. */
  readonly #outerSameName: number[] = [];
  /** Those of the open elements that are not of HTML. Most pages have none. */
  readonly #foreign: Foreign[] = [];

  /**
   * @param facts of the tag that is being read
   * @param onClose called for every element that ends, innermost first
   */
  constructor(facts: TagFacts, onClose: () => void) {
    this.#facts = facts;
    this.#onClose = onClose;
  }

  get depth(): number {
    return this.#open.length;
  }

  /** The name of the open element at an index, 0 being the outermost. */
  at(index: number): ElementName | undefined {
    return this.#open[index];
  }

  /** @param name lower case */
  named(name: string): ElementName {
    let named = this.#byName.get(name);
    if (named === undefined) {
      named = { name, rules: rulesOf(name), innermost: -1 };
      if (this.#byName.size < MAX_NAMES) this.#byName.set(name, named);
    }
    return named;
  }

  isOpen(name: string): boolean {
    return (this.#byName.get(name)?.innermost ?? -1) >= 0;
  }

  /** Whether the innermost element is SVG or MathML. */
  get isForeign(): boolean {
    return this.#foreign.length > 0 && this.#innermostKind() !== Kind.html;
  }

  /** Whether text here is that of SVG or MathML itself, not of HTML within. */
  get isForeignText(): boolean {
    const kind = this.#innermostKind();
    return kind === Kind.svg || kind === Kind.math || kind === Kind.annotation;
  }

  /**
   * Begins an element, after ending those that end where it begins.
   * @returns whether it is one of HTML
   */
  open(element: ElementName): boolean {
    const isHtml = this.#foreign.length === 0 || this.#entersHtml(element.name);
    if (isHtml) this.#closeBefore(element.rules.closes);
    if (!isHtml || element.name === 'svg' || element.name === 'math') this.#addForeign(element.name, isHtml);
    this.#outerSameName.push(element.innermost);
    element.innermost = this.#open.length;
    this.#open.push(element);
    return isHtml;
  }

  /** Ends the innermost element. */
  closeInnermost(): void {
    const closed = this.#open.pop()!;
    closed.innermost = this.#outerSameName.pop()!;
    if (this.#foreign.at(-1)?.index === this.#open.length) this.#foreign.pop();
    this.#onClose();
  }

  /**
   * Ends an element at its end tag, and with it those within; nothing where none of this name can end here.
   * @returns whether one ended
   */
  closeNamed(element: ElementName): boolean {
    if (this.isForeign && (element.name === 'p' || element.name === 'br')) this.#closeForeign();
    const target = element.innermost;
    if (target === -1 || !this.#canClose(target)) return false;
    while (this.#open.length > target) this.closeInnermost();
    return true;
  }

  #canClose(target: number): boolean {
    const foreign = this.#foreign.at(-1);
    if (foreign === undefined || target > foreign.barrier) return true;
    // SVG and MathML elements end at their own tags; from the innermost HTML element on, the rules of HTML count.
    return this.isForeign && target > foreign.innermostHtml;
  }

  #closeBefore(closed: ReadonlySet<string> | null): void {
    if (closed === null) return;
    for (let i = this.#open.length - 1; i >= 0 && closed.has(this.#open[i]!.name); i--) {
      if (this.isForeign) return;
      this.closeInnermost();
    }
  }

  /** Whether an element that begins now is one of HTML; ends SVG and MathML where it cannot stand in them. */
  #entersHtml(name: string): boolean {
    if (!this.#isForeignFor(name)) return true;
    if (!breakouts.has(name) && !(name === 'font' && this.#facts.hasFontAttribute())) return false;
    this.#closeForeign();
    return true;
  }

  #isForeignFor(name: string): boolean {
    switch (this.#innermostKind()) {
      case Kind.html:
      case Kind.svgWithHtml:
      case Kind.annotationWithHtml:
        return false;
      case Kind.mathText:
        return name === 'mglyph' || name === 'malignmark';
      case Kind.annotation:
        return name !== 'svg';
      default:
        return true;
    }
  }

  #addForeign(name: string, isHtml: boolean): void {
    const index = this.#open.length;
    const outer = this.#foreign.at(-1);
    const kind = isHtml ? (name === 'svg' ? Kind.svg : Kind.math) : this.#kindWithin(name);
    const hasForeignParent = outer?.index === index - 1;
    this.#foreign.push({
      index,
      kind,
      innermostHtml: hasForeignParent ? outer.innermostHtml : index - 1,
      barrier: kind === Kind.svg || kind === Kind.math ? (outer?.barrier ?? -1) : index,
    });
  }

  /** The kind of an element within SVG or MathML. */
  #kindWithin(name: string): Exclude<Kind, 0> {
    if (this.#innermostKind() === Kind.svg)
      return svgIntegrationPoints.has(name) ? Kind.svgWithHtml : Kind.svg;
    if (mathTextElements.has(name)) return Kind.mathText;
    if (name !== 'annotation-xml') return Kind.math;
    return this.#facts.hasHtmlEncoding() ? Kind.annotationWithHtml : Kind.annotation;
  }

  /** Ends foreign elements up to one in which HTML may be read. */
  #closeForeign(): void {
    for (let kind = this.#innermostKind(); kind !== Kind.html; kind = this.#innermostKind()) {
      if (kind === Kind.svgWithHtml || kind === Kind.mathText || kind === Kind.annotationWithHtml) return;
      this.closeInnermost();
    }
  }

  #innermostKind(): Kind {
    const foreign = this.#foreign.at(-1);
    return foreign?.index === this.#open.length - 1 ? foreign!.kind : Kind.html;
  }
}
