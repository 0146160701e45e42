/**
 * A bound on the cost of the methods of `response.$`. They are Cheerio's, so they cannot end themselves in the middle of a
 * query, as `css()` does (`match-budget.ts`). Instead their cost is estimated before they start. Queries of the whole page
 * that would be too costly are answered as by `css()`, which takes linear time; the others are refused.
 */
import type { CheerioAPI } from 'cheerio/slim';
import { MAX_DEPTH } from '../html/open-elements.js';
import type { AnyNode, Document, Element } from '../markup-tree.js';
import { PageCost, type Tested } from './cheerio-cost.js';
import { cssQuery } from './css-query.js';
import { boundRendering, countWalk, SelectorCostError } from './match-budget.js';

/** Nodes that one call may look at: as many as comparing 14,000 siblings with each other. Takes a few seconds. */
const MAX_STEPS = 100_000_000;
/** A shorter page has too few nodes for so many steps: two characters can make a sibling. */
const FREE_CHARACTERS = 14_000;
/** On a shorter page, looking through elements within each other is quick however often it is done. */
const FREE_CHARACTERS_FOR_WALKS = 500_000;
/** Children of the document from which on Cheerio's way of starting a query is slow: it compares them with each other. */
const MANY_ROOTS = 1_000;

/** Methods whose first argument may be a selector. */
const SELECTING = [
  ...['find', 'filter', 'not', 'is', 'has', 'closest', 'children', 'siblings', 'index', 'add', 'addBack'],
  ...['next', 'nextAll', 'nextUntil', 'prev', 'prevAll', 'prevUntil', 'parent', 'parents', 'parentsUntil'],
];
/** Methods that compare all elements of a set, or copy it for each of them, by what one comparison costs. */
const PAIRING: Readonly<Record<string, number>> = {
  ...{ parents: 1, parentsUntil: 1, siblings: 4, add: 1, addBack: 1 },
  ...{ map: 0.1, contents: 0.1, children: 0.1 },
};

/** Methods that list what stands beside each element of a set. */
const BESIDE = /^(?:siblings|nextAll|nextUntil|prevAll|prevUntil)$/;
/** Each is kept in a list until the others are found, and sorted. */
const STEPS_PER_SIBLING = 10;

interface Matched {
  readonly length: number;
  readonly [index: number]: AnyNode;
}
type Method = (this: Matched, ...args: unknown[]) => unknown;

/**
 * Make the methods of `api` throw SelectorCostError where they would be too costly on this page. `$('…')` calls `find`.
 * @param characters the length of the page's text
 * @returns `api` itself
 */
export function withBoundedCost(
  api: CheerioAPI,
  document: Document,
  characters: number,
  xml: boolean,
): CheerioAPI {
  if (characters < FREE_CHARACTERS) return api;
  const cost = new PageCost(document, characters);
  const methods = api.fn as unknown as Record<string, Method>;
  for (const name of new Set([...SELECTING, ...Object.keys(PAIRING)])) {
    const original = methods[name]!;
    methods[name] = function bounded(...args) {
      const [selector] = args;
      const isOfPage = name === 'find' && this.length === 1 && this[0] === document;
      if (name === 'find' && !isOfPage && this.length > 0 && characters >= FREE_CHARACTERS_FOR_WALKS) {
        countWalk(this[0]!, nodesIn(this), String(selector));
      }
      const pairs = name === 'find' ? pairsOf(childrenOf(this)) : pairsOf(this.length) * (PAIRING[name] ?? 0);
      const tested = () => testedBy(name, this);
      const beside = BESIDE.test(name) ? siblingsOf(this) * STEPS_PER_SIBLING : 0;
      const steps =
        pairs + beside + (typeof selector === 'string' ? cost.stepsOf(selector, MAX_STEPS, tested) : 0);
      const isSlow = steps > MAX_STEPS || (isOfPage && document.children.length > MANY_ROOTS);
      if (!isSlow) return original.apply(this, args);
      const found = isOfPage && typeof selector === 'string' ? elementsOf(selector, document, xml) : null;
      if (found !== null) return api(found);
      if (steps <= MAX_STEPS) return original.apply(this, args);
      throw SelectorCostError.ofCheerio(name, selector, MAX_STEPS);
    };
  }
  boundHtml(api, document);
  boundTexts(api);
  return api;
}

/** The texts of elements within each other are read again for each. */
function boundTexts(api: CheerioAPI): void {
  const methods = api.fn as unknown as { text: Method };
  const original = methods.text;
  methods.text = function bounded(...args) {
    if (args.length === 0 && this.length > 0) countWalk(this[0]!, nodesIn(this), 'text()');
    return original.apply(this, args);
  };
}

/** The methods that give HTML. Cheerio writes it as XML, letters beyond ASCII as references. */
function boundHtml(api: CheerioAPI, document: Document): void {
  const methods = api.fn as unknown as { _render(nodes: ArrayLike<AnyNode>): string };
  const render = methods._render;
  methods._render = function bounded(nodes) {
    boundRendering(Array.from(nodes), true);
    return render.call(this, nodes);
  };
  for (const name of ['html', 'xml'] as const) {
    const original = api[name] as (...args: unknown[]) => string;
    api[name] = (...args: unknown[]) => {
      boundRendering([document], true);
      return original.apply(api, args);
    };
  }
}

/** What a method tests by its selector: the elements of the set, or those in, beside or around them. */
function testedBy(method: string, set: Matched): Tested {
  const nodesInOne = Number.POSITIVE_INFINITY;
  if (method === 'find' || method === 'has') {
    const nodes = nodesIn(set);
    return { elements: nodes, nodesInOne: nodes };
  }
  if (method === 'children') return { elements: childrenOf(set), nodesInOne };
  if (method === 'add') return { elements: Number.POSITIVE_INFINITY, nodesInOne };
  if (/^(?:closest|parents)/.test(method)) return { elements: set.length * MAX_DEPTH, nodesInOne };
  return { elements: BESIDE.test(method) ? siblingsOf(set) : set.length, nodesInOne };
}

function nodesIn(set: Matched): number {
  let nodes = 0;
  const stack: AnyNode[] = Array.from(set);
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    nodes += 1;
    if ('children' in node) for (const child of node.children) stack.push(child);
  }
  return nodes;
}

function siblingsOf(set: Matched): number {
  let count = 0;
  for (let n = 0; n < set.length; n += 1) count += set[n]!.parent?.children.length ?? 0;
  return count;
}

/** `find` compares the children of all elements with each other. */
function childrenOf(set: Matched): number {
  let count = 0;
  for (let n = 0; n < set.length; n += 1) {
    const node = set[n]!;
    if ('children' in node) count += node.children.length;
  }
  return count;
}

function pairsOf(count: number): number {
  return (count * count) / 2;
}

/** The elements that `css()` finds; null for a selector that only Cheerio knows, such as `:eq(1)`. */
function elementsOf(selector: string, document: Document, xml: boolean): Element[] | null {
  try {
    const found = cssQuery(selector, xml).select(document);
    return found.every((each) => typeof each !== 'string') ? (found as Element[]) : null;
  } catch (error) {
    if (error instanceof SelectorCostError) throw error;
    return null;
  }
}
