/**
 * A tree of a page as XPath sees it, in the shape of the DOM that the package `xpath` reads: attributes and texts are
 * nodes, and each node knows its place in document order. It is built once for a page, on the first `xpath()`.
 */
import { isCDATA, isComment, isTag, isText } from 'domhandler';
import type { NodeBudget } from '../../node-budget.js';
import type { AnyNode, Document, Element } from '../markup-tree.js';

const ELEMENT = 1;
const ATTRIBUTE = 2;
const TEXT = 3;
const INSTRUCTION = 7;
const COMMENT = 8;
const DOCUMENT = 9;

/** So many nodes of this tree count as one of the page's: few real pages are large, and theirs must not be refused. */
const XPATH_NODES_PER_NODE = 2;

/** Bits of `compareDocumentPosition` (DOM standard). */
const PRECEDING = 2;
const FOLLOWING = 4;

/** So many characters of a text cost as much to read as a step. */
const CHARACTERS_PER_STEP = 1024;

/** Looking for a class takes longer than reading a text. */
const CLASS_CHARACTERS_PER_STEP = 128;

/** Called for each step from a node to another. It throws when a query has taken too many. */
export interface StepCounter {
  count(steps?: number): void;
}

/** The URIs of the prefixes declared around a place; those of outer elements by the prototype. */
type Namespaces = Readonly<Record<string, string>>;
const noNamespaces: Namespaces = Object.create(null);

/** What the nodes of one page share. */
interface PageLimits {
  readonly steps: StepCounter;
  readonly budget: NodeBudget;
}

/** One node. The names of its members are those of the DOM standard. */
export class XPathNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly prefix: string | null;
  readonly localName: string;
  readonly namespaceURI: string | null;
  readonly ownerDocument: XPathNode;
  /** The place in document order; a fraction for attributes, which follow their element. */
  readonly order: number;
  /** The element of the parsed page; null for nodes of another kind. */
  readonly element: Element | null;
  /** The namespaces that its names may be of; null in HTML. */
  readonly namespaces: Namespaces | null;
  readonly #page: PageLimits;
  readonly #value: string | null;
  readonly #parent: XPathNode | null;
  #first: XPathNode | null = null;
  #last: XPathNode | null = null;
  #next: XPathNode | null = null;
  #previous: XPathNode | null = null;
  #attributes: AttributeList | null = null;

  constructor(
    kind: { nodeType: number; name: string; namespace?: string | null; value?: string | null },
    place: {
      parent: XPathNode | null;
      document: XPathNode | null;
      order: number;
      namespaces: Namespaces | null;
    },
    element: Element | null,
    page: PageLimits,
  ) {
    const colon = kind.name.indexOf(':');
    this.nodeType = kind.nodeType;
    this.nodeName = kind.name;
    this.prefix = colon > 0 ? kind.name.slice(0, colon) : null;
    this.localName = colon > 0 ? kind.name.slice(colon + 1) : kind.name;
    this.namespaceURI = kind.namespace ?? null;
    this.#value = kind.value ?? null;
    this.#parent = place.parent;
    this.namespaces = place.namespaces;
    this.ownerDocument = place.document ?? this;
    this.order = place.order;
    this.element = element;
    this.#page = page;
  }

  /** The text of a text, comment or attribute; null for others. */
  get nodeValue(): string | null {
    const value = this.#value;
    if (value !== null && value.length >= CHARACTERS_PER_STEP) {
      this.#page.steps.count(value.length / CHARACTERS_PER_STEP);
    }
    return value;
  }

  /** Whether the element has all of these classes. */
  hasClasses(names: readonly string[]): boolean {
    const classes = this.element?.attribs.class ?? '';
    this.#page.steps.count((classes.length * names.length) / CLASS_CHARACTERS_PER_STEP);
    return names.every((name) => hasWord(classes, name));
  }

  get parentNode(): XPathNode | null {
    this.#page.steps.count();
    return this.#parent;
  }

  /** The element of an attribute. */
  get ownerElement(): XPathNode | null {
    return this.nodeType === ATTRIBUTE ? this.#parent : null;
  }

  get previousSibling(): XPathNode | null {
    this.#page.steps.count();
    return this.#previous;
  }

  get firstChild(): XPathNode | null {
    this.#page.steps.count();
    return this.#first;
  }

  get nextSibling(): XPathNode | null {
    this.#page.steps.count();
    return this.#next;
  }

  /** The attributes of an element, created on first use; null for other nodes. */
  get attributes(): AttributeList | null {
    if (this.element === null) return null;
    this.#attributes ??= new AttributeList(this, this.element, this.#page);
    return this.#attributes;
  }

  append(child: XPathNode): void {
    child.#previous = this.#last;
    if (this.#last === null) this.#first = child;
    else this.#last.#next = child;
    this.#last = child;
  }

  /** For `id()`. */
  getElementById(id: string): XPathNode | null {
    const waiting = [this.firstChild];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      if (node === null) continue;
      if (node.element?.attribs.id === id) return node;
      waiting.push(node.nextSibling, node.firstChild);
    }
    return null;
  }

  /** For `lang()`, which asks for `xml:lang`. */
  getAttributeNS(_namespace: string, name: string): string | null {
    return this.element?.attribs[`xml:${name}`] ?? null;
  }

  compareDocumentPosition(other: XPathNode): number {
    if (other === this) return 0;
    return other.order < this.order ? PRECEDING : FOLLOWING;
  }
}

/** The attributes of an element, as `NamedNodeMap` of the DOM standard. */
class AttributeList {
  readonly length: number;
  readonly #nodes: readonly XPathNode[];
  readonly #steps: StepCounter;

  constructor(owner: XPathNode, element: Element, page: PageLimits) {
    const attributes = Object.entries(element.attribs);
    page.budget.spend(attributes.length / XPATH_NODES_PER_NODE);
    this.length = attributes.length;
    this.#steps = page.steps;
    const { namespaces } = owner;
    this.#nodes = attributes.map(([name, value], index) => {
      const order = owner.order + (index + 1) / (attributes.length + 1);
      const namespace = namespaces !== null && name.includes(':') ? namespaceOf(name, namespaces) : null;
      const place = { parent: owner, document: owner.ownerDocument, order, namespaces };
      return new XPathNode({ nodeType: ATTRIBUTE, name, namespace, value }, place, null, page);
    });
  }

  item(index: number): XPathNode | null {
    this.#steps.count();
    return this.#nodes[index] ?? null;
  }
}

/** The tree of one page, and the node of each of its elements. */
export class XPathTree {
  readonly root: XPathNode;
  /** The outermost element; the document where it has none. */
  readonly outermost: XPathNode;
  readonly #byElement = new Map<Element, XPathNode>();

  /** @param xml elements have namespaces. HTML elements have none, as in Scrapy. */
  constructor(document: Document | Element, xml: boolean, steps: StepCounter, budget: NodeBudget) {
    const page = { steps, budget };
    let order = 0;
    const top = { parent: null, document: null, order: 0, namespaces: xml ? noNamespaces : null };
    this.root = new XPathNode({ nodeType: DOCUMENT, name: '#document' }, top, null, page);
    const stack = childrenOf(document).map((node) => ({ node, parent: this.root }));
    stack.reverse();
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      const { node, parent } = next;
      // XPath knows no CDATA sections: their text belongs to the element.
      if (isCDATA(node)) {
        pushReversed(stack, node.children, parent);
        continue;
      }
      const namespaces = isTag(node) ? namespacesOf(node, parent.namespaces) : parent.namespaces;
      if (namespaces !== parent.namespaces) budget.spend(1);
      const kind = kindOf(node, namespaces);
      if (kind === null) continue;
      const element = isTag(node) ? node : null;
      order += 1;
      budget.spend(1 / XPATH_NODES_PER_NODE);
      const created = new XPathNode(kind, { parent, document: this.root, order, namespaces }, element, page);
      parent.append(created);
      if (element === null) continue;
      this.#byElement.set(element, created);
      pushReversed(stack, element.children, created);
    }
    const [outermost] = this.#byElement.values();
    this.outermost = outermost ?? this.root;
  }

  /** The node of an element; undefined for one that was added to the page later. */
  nodeOf(element: Element): XPathNode | undefined {
    return this.#byElement.get(element);
  }
}

function childrenOf(root: Document | Element): AnyNode[] {
  return isTag(root) ? [root] : [...root.children];
}

function pushReversed(
  stack: { node: AnyNode; parent: XPathNode }[],
  nodes: readonly AnyNode[],
  parent: XPathNode,
): void {
  for (let i = nodes.length - 1; i >= 0; i--) stack.push({ node: nodes[i]!, parent });
}

/** Null for what XPath does not see, such as a doctype. */
function kindOf(
  node: AnyNode,
  namespaces: Namespaces | null,
): ConstructorParameters<typeof XPathNode>[0] | null {
  if (isTag(node)) {
    const namespace = namespaces === null ? null : namespaceOf(node.name, namespaces);
    return { nodeType: ELEMENT, name: node.name, namespace };
  }
  if (isText(node)) return { nodeType: TEXT, name: '#text', value: node.data };
  if (isComment(node)) return { nodeType: COMMENT, name: '#comment', value: node.data };
  if ('data' in node && !node.data.startsWith('!')) {
    return { nodeType: INSTRUCTION, name: node.name, value: node.data };
  }
  return null;
}

/** The namespaces within an element: those that it declares, and those around it. */
function namespacesOf(element: Element, around: Namespaces | null): Namespaces | null {
  if (around === null) return null;
  const declared = Object.entries(element.attribs).filter(
    ([name]) => name === 'xmlns' || name.startsWith('xmlns:'),
  );
  return declared.length === 0 ? around : Object.assign(Object.create(around), Object.fromEntries(declared));
}

/** What `xmlns` or `xmlns:prefix` declares for a name; null where nothing does. */
function namespaceOf(name: string, namespaces: Namespaces): string | null {
  const colon = name.indexOf(':');
  return namespaces[colon > 0 ? `xmlns:${name.slice(0, colon)}` : 'xmlns'] ?? null;
}

/** Whether a word is in a list of words. They are not taken apart: a page may have one list of millions. */
function hasWord(list: string, word: string): boolean {
  if (word === '' || WORD_END.test(word)) return false;
  for (let at = list.indexOf(word); at !== -1; at = list.indexOf(word, at + word.length)) {
    const isBegin = at === 0 || WORD_END.test(list[at - 1]!);
    const end = at + word.length;
    if (isBegin && (end === list.length || WORD_END.test(list[end]!))) return true;
  }
  return false;
}

const WORD_END = /[\t\n\f\r ]/;
