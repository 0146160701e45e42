/**
 * An estimate of what a selector of Cheerio costs on a page, from the parts of the selector and the shape of the page.
 * css-select compares each sibling with all others for `~` and `:nth-child`, reads the whole content of each element for
 * `:has` and `:contains`, and climbs to the root for a descendant combinator.
 */
import { parse, type Selector, SelectorType } from 'css-what';
import type { AnyNode, Document } from '../markup-tree.js';

/** `:has(+ …)` copies the list of later siblings for each element. */
const LATER_STEPS = 4;
/** A shorter page has too few nodes for costly descendant combinators, since the depth of a tree is bounded. */
const FREE_CHARACTERS_FOR_ANCESTORS = 500_000;

/** The costs of one page, as it came. What a spider adds to it by `$` is its own. */
export class PageCost {
  readonly #document: Document;
  readonly #mayNestDeeply: boolean;
  #shape: Shape | null = null;

  /** @param characters the length of the page's text */
  constructor(document: Document, characters: number) {
    this.#document = document;
    this.#mayNestDeeply = characters >= FREE_CHARACTERS_FOR_ANCESTORS;
  }

  /**
   * The number of nodes that testing some elements by this selector may look at, beside the elements themselves.
   * @param countTested how many elements are tested, and how many nodes there may be in one of them; called only where
   *   testing all of the page would take more than `enoughSteps`
   */
  stepsOf(selector: string, enoughSteps: number, countTested: () => Tested): number {
    const parts = costlyPartsOf(selector);
    const { siblings, laterContents, contentDepth } = parts;
    const climbs = parts.ancestors && this.#mayNestDeeply;
    if (!siblings && !laterContents && !climbs && contentDepth === 0) return 0;
    this.#shape ??= shapeOf(this.#document);
    const { depth, ...page } = this.#shape;
    const levels = depth ** Math.max(0, contentDepth - 1);
    const ofPage =
      (siblings ? page.siblingPairs : 0) +
      (laterContents ? page.nodesInLaterSiblings * LATER_STEPS : 0) +
      (climbs ? page.ancestors : 0) +
      (contentDepth > 0 ? page.ancestors * levels : 0);
    if (ofPage <= enoughSteps) return ofPage;
    const { elements, nodesInOne } = countTested();
    const ofOne =
      (siblings ? page.mostSiblings : 0) +
      (laterContents ? page.nodes * LATER_STEPS : 0) +
      (climbs ? depth : 0) +
      (contentDepth > 0 ? Math.min(nodesInOne, page.nodes) * levels : 0);
    return Math.min(ofPage, elements * ofOne);
  }
}

export interface Tested {
  readonly elements: number;
  readonly nodesInOne: number;
}

interface Shape {
  readonly nodes: number;
  readonly mostSiblings: number;
  /** Pairs of nodes that are siblings. */
  readonly siblingPairs: number;
  /** For each node, the nodes in its later siblings. */
  readonly nodesInLaterSiblings: number;
  /** For each node, the nodes around it. */
  readonly ancestors: number;
  readonly depth: number;
}

function shapeOf(document: Document): Shape {
  let mostSiblings = 0;
  let siblingPairs = 0;
  let nodesInLaterSiblings = 0;
  let ancestors = 0;
  let depth = 0;
  /** @returns the number of nodes in it. Recursive, as the depth of a tree is bounded. */
  const visit = (node: AnyNode, level: number): number => {
    if (level > depth) depth = level;
    ancestors += level;
    if (!('children' in node)) return 1;
    let nodes = 0;
    for (const child of node.children) nodes += visit(child, level + 1);
    const count = node.children.length;
    if (count > mostSiblings) mostSiblings = count;
    siblingPairs += (count * count) / 2;
    nodesInLaterSiblings += (count * nodes) / 2;
    return nodes + 1;
  };
  const all = visit(document, 0);
  return { nodes: all, mostSiblings, siblingPairs, nodesInLaterSiblings, ancestors, depth };
}

interface CostlyParts {
  /** It compares siblings. */
  readonly siblings: boolean;
  /** It has a descendant combinator. */
  readonly ancestors: boolean;
  /** `:has` or `:contains` in each other, so many deep; 0 for none. */
  readonly contentDepth: number;
  /** `:has(+ …)` or `:has(~ …)`. */
  readonly laterContents: boolean;
}

/** Selectors are written in code, so few; the bound is for those put together from data. */
const MAX_CACHED = 500;
const cache = new Map<string, CostlyParts>();

function costlyPartsOf(selector: string): CostlyParts {
  const cached = cache.get(selector);
  if (cached !== undefined) return cached;
  if (cache.size >= MAX_CACHED) cache.clear();
  const parts = analyze(selector);
  cache.set(selector, parts);
  return parts;
}

const free = { siblings: false, ancestors: false, contentDepth: 0, laterContents: false };
const SIBLING_PSEUDOS = /^(?:nth-.*|last-child|only-child|.*-of-type|selected)$/;

function analyze(selector: string): CostlyParts {
  let branches: Selector[][];
  try {
    branches = parse(selector);
  } catch {
    return free; // Cheerio says what is wrong with it.
  }
  const found = { ...free };
  const visit = (tokens: readonly Selector[], within: number): void => {
    for (const [n, { type }] of tokens.entries()) {
      if (type === SelectorType.Sibling) found.siblings = true;
      if (type === SelectorType.Descendant) found.ancestors = true;
      const isLater = type === SelectorType.Sibling || type === SelectorType.Adjacent;
      if (isLater && n === 0 && within > 0) found.laterContents = true;
    }
    for (const token of tokens) {
      if (token.type !== SelectorType.Pseudo) continue;
      if (SIBLING_PSEUDOS.test(token.name)) found.siblings = true;
      const depth = /^(?:has|i?contains)$/.test(token.name) ? within + 1 : within;
      found.contentDepth = Math.max(found.contentDepth, depth);
      if (Array.isArray(token.data)) for (const branch of token.data) visit(branch, depth);
    }
  };
  for (const branch of branches) visit(branch, 0);
  return found;
}
