/**
 * A bound on the cost of the selectors of `response.$`. They are Cheerio's, so they cannot end themselves in the middle of
 * a query, as those of `css()` do (`match-budget.ts`). Instead the cost is estimated from the selector and the shape of
 * the page before the query starts. css-select compares each sibling with all others for `~` and `:nth-child`, reads the
 * whole content of each element for `:has` and `:contains`, and climbs to the root for a descendant combinator.
 */
import type { CheerioAPI } from 'cheerio/slim';
import { parse, type Selector, SelectorType } from 'css-what';
import type { AnyNode, Document } from '../markup-tree.js';
import { SelectorCostError } from './match-budget.js';

/** Nodes that one query may look at: as many as comparing 14,000 siblings with each other. Takes a few seconds. */
const MAX_STEPS = 100_000_000;
/** `:has(+ …)` copies the list of later siblings for each element. */
const LATER_STEPS = 4;
/** A shorter page has too few nodes for so many steps: two characters can make a sibling. */
const FREE_CHARACTERS = 14_000;
/** The same for descendant combinators, which are in most selectors: the depth of a tree is bounded. */
const FREE_CHARACTERS_FOR_ANCESTORS = 500_000;

/** Methods of Cheerio whose first argument may be a selector. */
const METHODS = [
  ...['find', 'filter', 'not', 'is', 'has', 'closest', 'children', 'siblings', 'index', 'add', 'addBack'],
  ...['next', 'nextAll', 'nextUntil', 'prev', 'prevAll', 'prevUntil', 'parent', 'parents', 'parentsUntil'],
] as const;

/**
 * Make the methods of `api` throw SelectorCostError for a selector that is too costly on this page. `$('…')` calls `find`.
 * @param characters the length of the page's text
 * @returns `api` itself
 */
export function withBoundedSelectors(api: CheerioAPI, document: Document, characters: number): CheerioAPI {
  if (characters < FREE_CHARACTERS) return api;
  const mayNestDeeply = characters >= FREE_CHARACTERS_FOR_ANCESTORS;
  /** Of the page as it came. What a spider adds by `$` is its own. */
  let shape: Shape | null = null;
  const check = (selector: string) => {
    const parts = costlyPartsOf(selector);
    const isCostly = parts.siblings || parts.contentDepth > 0 || (parts.ancestors && mayNestDeeply);
    if (!isCostly) return;
    shape ??= shapeOf(document);
    if (stepsOf(parts, shape) > MAX_STEPS) throw SelectorCostError.ofCheerio(selector, MAX_STEPS);
  };
  const methods = api.fn as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const name of METHODS) {
    const original = methods[name]!;
    methods[name] = function bounded(this: unknown, ...args: unknown[]): unknown {
      if (typeof args[0] === 'string') check(args[0]);
      return original.apply(this, args);
    };
  }
  return api;
}

interface Shape {
  /** Pairs of nodes that are siblings. */
  readonly siblingPairs: number;
  /** For each node, the nodes in its later siblings. */
  readonly nodesInLaterSiblings: number;
  /** For each node, the nodes around it. */
  readonly ancestors: number;
  readonly depth: number;
}

function shapeOf(document: Document): Shape {
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
    siblingPairs += (count * count) / 2;
    nodesInLaterSiblings += (count * nodes) / 2;
    return nodes + 1;
  };
  visit(document, 0);
  return { siblingPairs, nodesInLaterSiblings, ancestors, depth };
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

function stepsOf(parts: CostlyParts, shape: Shape): number {
  const { contentDepth } = parts;
  return (
    (parts.siblings ? shape.siblingPairs : 0) +
    (parts.laterContents ? shape.nodesInLaterSiblings * LATER_STEPS : 0) +
    (parts.ancestors ? shape.ancestors : 0) +
    (contentDepth > 0 ? shape.ancestors * shape.depth ** (contentDepth - 1) : 0)
  );
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
