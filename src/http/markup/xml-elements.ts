/**
 * The elements of one name in an XML document of any length, one after the other. Only the current one is in memory, with
 * the names and attributes of the elements around it. The input is untrusted: DTDs are not followed, and nesting is bounded.
 */
import { Document, Element, isTag } from 'domhandler';
import { DomUtils } from 'htmlparser2';
import { CrawlnodeError } from '../../errors.js';
import { NodeBudget } from '../node-budget.js';
import { CountingDomHandler, XmlParser } from './counting-dom-handler.js';
import { MAX_DEPTH } from './html/open-elements.js';
import { parseTree } from './markup-tree.js';
import { type Selector, SelectorList } from './selector.js';

/** Characters parsed before their elements are yielded. */
const SLICE = 64 * 1024;

/**
 * Yields the outermost elements of a name, in order. XPath and prefixes see the elements around each, but not their other
 * contents.
 * @param name a name without prefix matches in any namespace, and one with a prefix as it is written
 * @param maxNodes DOWNLOAD_MAX_NODES: of one element; the elements of the document may be four times as many
 * @throws CrawlnodeError `bad_feed` after the last whole element of a document that ends in the middle or nests too deep;
 *   TooComplexError
 */
export function* xmlElements(text: string, name: string, maxNodes?: number): Generator<Selector> {
  const handler = new ElementReader(isNamed(name), maxNodes);
  const parser = new XmlParser(handler, () => handler.budget);
  handler.onTooDeep = () => parser.pause();
  for (let at = 0; at < text.length; at += SLICE) {
    parser.write(text.slice(at, at + SLICE));
    // Each element is let go of with the copies of those around it before the next one is made.
    const found = handler.take().reverse();
    while (found.length > 0) yield handler.selectorOf(found.pop()!);
    if (handler.isTooDeep) throw damaged(`it nests elements more than ${MAX_DEPTH} deep`);
  }
  if (handler.openElements > 0) throw damaged('it ends in the middle');
}

/**
 * Yields all elements of a name from the tree of the whole document.
 * @param xml false reads it as HTML. @param maxNodes DOWNLOAD_MAX_NODES. @throws TooComplexError
 */
export function* treeElements(
  text: string,
  name: string,
  xml: boolean,
  maxNodes?: number,
): Generator<Selector> {
  const { document } = parseTree(text, xml, new NodeBudget(maxNodes));
  const isWanted = isNamed(xml ? name : name.toLowerCase());
  const isMatch = (node: DomNode): boolean => isTag(node) && isWanted(node.name);
  for (const node of DomUtils.find(isMatch, document.children, true, Number.POSITIVE_INFINITY)) {
    if (isTag(node)) yield new SelectorList([node], xml);
  }
}

type DomNode = Document['children'][number] | Document;

/** The elements around a place, innermost first. */
interface Around {
  readonly name: string;
  readonly attributes: Record<string, string>;
  readonly outer: Around | null;
  readonly depth: number;
}

/** A wanted element, and what it stands in. */
interface FoundElement {
  readonly element: Element;
  readonly around: Around | null;
}

class ElementReader extends CountingDomHandler {
  isTooDeep = false;
  /** The parser takes time quadratic in the depth, so it is to go no further. */
  onTooDeep: () => void = () => {};
  readonly #isWanted: (name: string) => boolean;
  readonly #maxNodes: number | undefined;
  /** Elements of the document, and the copies of those around the wanted ones. */
  readonly #elements: NodeBudget;
  /** Of the current place, outside of a wanted element. */
  #around: Around | null = null;
  /** Open elements within the wanted one, itself included; 0 outside. */
  #within = 0;
  #found: FoundElement[] = [];

  constructor(isWanted: (name: string) => boolean, maxNodes: number | undefined) {
    super(new NodeBudget(maxNodes));
    this.#isWanted = isWanted;
    this.#maxNodes = maxNodes;
    this.#elements = NodeBudget.ofValues('elements', maxNodes);
  }

  get openElements(): number {
    return (this.#around?.depth ?? 0) + this.#within;
  }

  take(): FoundElement[] {
    const found = this.#found;
    this.#found = [];
    return found;
  }

  override onopentag(name: string, attributes: Record<string, string>): void {
    if (this.openElements >= MAX_DEPTH) {
      this.isTooDeep = true;
      this.onTooDeep();
    }
    if (this.isTooDeep) return;
    this.#elements.spend(1);
    if (this.#within === 0 && !this.#isWanted(name)) {
      this.#around = { name, attributes, outer: this.#around, depth: this.openElements + 1 };
      return;
    }
    if (this.#within === 0) {
      this.onreset();
      this.budget = new NodeBudget(this.#maxNodes);
    }
    this.#within += 1;
    super.onopentag(name, attributes);
  }

  override onclosetag(): void {
    if (this.isTooDeep) return;
    if (this.#within === 0) {
      this.#around = this.#around?.outer ?? null;
      return;
    }
    this.#within -= 1;
    super.onclosetag();
    if (this.#within === 0) this.#add();
  }

  #add(): void {
    const element = this.root.children.find(isTag);
    if (element !== undefined) this.#found.push({ element, around: this.#around });
  }

  /** The element in a document of its own, below copies of the elements around it. */
  selectorOf({ element, around }: FoundElement): Selector {
    this.#elements.spend(around?.depth ?? 0);
    let child = element;
    for (let at = around; at !== null; at = at.outer) {
      const copy = new Element(at.name, { ...at.attributes });
      DomUtils.appendChild(copy, child);
      child = copy;
    }
    const document = new Document([]);
    DomUtils.appendChild(document, child);
    return new SelectorList([element], true);
  }

  override ontext(text: string): void {
    if (this.#within > 0) super.ontext(text);
  }

  override oncomment(text: string): void {
    if (this.#within > 0) super.oncomment(text);
  }

  override oncdatastart(): void {
    if (this.#within > 0) super.oncdatastart();
  }

  override oncdataend(): void {
    if (this.#within > 0) super.oncdataend();
  }

  override oncommentend(): void {
    if (this.#within > 0) super.oncommentend();
  }

  override onprocessinginstruction(name: string, text: string): void {
    if (this.#within > 0) super.onprocessinginstruction(name, text);
  }
}

function isNamed(wanted: string): (name: string) => boolean {
  if (wanted.includes(':')) return (name) => name === wanted;
  return (name) => name === wanted || name.slice(name.indexOf(':') + 1) === wanted;
}

function damaged(what: string): CrawlnodeError {
  return new CrawlnodeError('bad_feed', `the XML cannot be read: ${what}`);
}
