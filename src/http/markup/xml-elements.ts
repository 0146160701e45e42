/**
 * The elements of one name in an XML document of any length, one after the other. Only the current one is in memory, with
 * the names and attributes of the elements around it. The input is untrusted: DTDs are not followed, and nesting is bounded.
 */
import { Document, DomHandler, Element, isTag } from 'domhandler';
import { DomUtils, Parser } from 'htmlparser2';
import { CrawlnodeError } from '../../errors.js';
import { MAX_DEPTH } from './html/open-elements.js';
import { parseTree } from './markup-tree.js';
import { type Selector, SelectorList } from './selector.js';

/** Characters parsed before their elements are yielded. */
const SLICE = 64 * 1024;

/**
 * Yields the outermost elements of a name, in order. XPath and prefixes see the elements around each, but not their other
 * contents.
 * @param name a name without prefix matches in any namespace, and one with a prefix as it is written
 * @throws CrawlnodeError `bad_feed` after the last whole element of a document that ends in the middle or nests too deep
 */
export function* xmlElements(text: string, name: string): Generator<Selector> {
  const handler = new ElementReader(isNamed(name));
  const parser = new Parser(handler, { xmlMode: true, decodeEntities: true });
  handler.onTooDeep = () => parser.pause();
  for (let at = 0; at < text.length; at += SLICE) {
    parser.write(text.slice(at, at + SLICE));
    yield* handler.take();
    if (handler.isTooDeep) throw damaged(`it nests elements more than ${MAX_DEPTH} deep`);
  }
  if (handler.openElements > 0) throw damaged('it ends in the middle');
}

/**
 * Yields all elements of a name from the tree of the whole document.
 * @param xml false reads it as HTML
 */
export function* treeElements(text: string, name: string, xml: boolean): Generator<Selector> {
  const { document } = parseTree(text, xml);
  const isWanted = isNamed(xml ? name : name.toLowerCase());
  const isMatch = (node: DomNode): boolean => isTag(node) && isWanted(node.name);
  for (const node of DomUtils.find(isMatch, document.children, true, Number.POSITIVE_INFINITY)) {
    if (isTag(node)) yield new SelectorList([node], xml);
  }
}

type DomNode = Document['children'][number] | Document;

class ElementReader extends DomHandler {
  isTooDeep = false;
  /** The parser takes time quadratic in the depth, so it is to go no further. */
  onTooDeep: () => void = () => {};
  readonly #isWanted: (name: string) => boolean;
  /** The elements around the current place, outside of a wanted element. */
  readonly #around: { readonly name: string; readonly attributes: Record<string, string> }[] = [];
  /** Open elements within the wanted one, itself included; 0 outside. */
  #within = 0;
  #found: Selector[] = [];

  constructor(isWanted: (name: string) => boolean) {
    super();
    this.#isWanted = isWanted;
  }

  get openElements(): number {
    return this.#around.length + this.#within;
  }

  take(): Selector[] {
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
    if (this.#within === 0 && !this.#isWanted(name)) {
      this.#around.push({ name, attributes });
      return;
    }
    if (this.#within === 0) this.onreset();
    this.#within += 1;
    super.onopentag(name, attributes);
  }

  override onclosetag(): void {
    if (this.isTooDeep) return;
    if (this.#within === 0) {
      this.#around.pop();
      return;
    }
    this.#within -= 1;
    super.onclosetag();
    if (this.#within === 0) this.#add();
  }

  /** The element in a document of its own, below copies of the elements around it. */
  #add(): void {
    const element = this.root.children.find(isTag);
    if (element === undefined) return;
    const document = new Document([]);
    let parent: Document | Element = document;
    for (const { name, attributes } of this.#around) {
      const copy = new Element(name, { ...attributes });
      DomUtils.appendChild(parent, copy);
      parent = copy;
    }
    DomUtils.appendChild(parent, element);
    this.#found.push(new SelectorList([element], true));
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
