/**
 * A bound on what one query may cost where it is not linear: `:has()` with combinators inside, `:contains()` in deep
 * nesting, `:selected` among many options. One synchronous call cannot be interrupted, so it has to end itself.
 */

import type { Options } from 'css-select';
import { isTag, isText } from 'domhandler';
import { DomUtils, ElementType } from 'htmlparser2';
import { CrawlnodeError } from '../../../errors.js';
import { n } from '../../../format-amounts.js';
import type { AnyNode, ChildNode, Element } from '../markup-tree.js';

/** Nodes that one query may look at through `:has` and `:contains`: about a second. A page of 1 MB has some 50,000. */
const MAX_STEPS = 5_000_000;
/** Joining a text costs as much as looking at a node for each of so many characters. */
const CHARACTERS_PER_STEP = 32;

/** Nodes that all queries from elements of one page may look at: a second or two. Elements within each other share theirs. */
const MAX_WALKED = 12_000_000;
/** How many they have looked at, by the root of the page. */
const walked = new WeakMap<AnyNode, number>();

/**
 * Count what a query from an element looked at.
 * @param selector as the spider wrote it, or the method of `$`, for the error
 * @throws SelectorCostError where all queries from elements of the page have looked at too many nodes
 */
export function countWalk(element: AnyNode, nodes: number, selector: string): void {
  let root = element;
  while (root.parent !== null) root = root.parent;
  const all = nodes + (walked.get(root) ?? 0);
  walked.set(root, all);
  if (all > MAX_WALKED) throw SelectorCostError.ofWalks(selector, MAX_WALKED);
}

/** Matches of one regular expression: each takes memory until the last one is found. */
export const MAX_MATCHES = 1_000_000;

/** References in the HTML of an element: each takes up to 120 bytes until the HTML is complete. */
const MAX_ESCAPES = 2_000_000;

/** @param expression a global one @throws SelectorCostError where it matches more often than memory is for */
export function boundMatches(text: string, expression: RegExp): void {
  if (text.length <= MAX_MATCHES) return;
  let matches = 0;
  for (const _ of text.matchAll(expression)) {
    matches += 1;
    if (matches > MAX_MATCHES) throw SelectorCostError.ofMatches(expression, MAX_MATCHES);
  }
}

/** What is written as a reference: in texts and attributes of HTML, and in XML. */
const ESCAPED = { text: /[&<>\u00a0]/g, attribute: /[&"\u00a0]/g, xml: /[&<>"'\u0080-\uffff]/g };

/** The text of an element, counted as `countWalk` counts. @param what reads it, for the error @throws SelectorCostError as `countWalk` */
export function countedText(element: AnyNode, what: string): string {
  let nodes = 0;
  let text = '';
  const stack = [element];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    nodes += 1;
    if (isText(node)) text += node.data;
    else if ('children' in node) for (const child of node.children.toReversed()) stack.push(child);
  }
  countWalk(element, nodes, what);
  return text;
}

/**
 * Count the nodes whose HTML is to be written.
 * @param xml they are written as XML is: all beyond ASCII as references
 * @throws SelectorCostError where the HTML would be put together of more references than memory is for; or, with all that was
 *   written of this page, of more nodes and text than time is for
 */
export function boundRendering(nodes: readonly AnyNode[], xml: boolean): void {
  const parts: [text: string, escaped: RegExp][] = [];
  let characters = 0;
  const add = (text: string, escaped: RegExp) => {
    parts.push([text, xml ? ESCAPED.xml : escaped]);
    characters += text.length;
  };
  let count = 0;
  const stack = [...nodes];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    count += 1;
    if (isTag(node)) for (const name in node.attribs) add(node.attribs[name]!, ESCAPED.attribute);
    // The text of scripts and styles of HTML stays as it is.
    if (isText(node) && (xml || node.parent?.type === ElementType.Tag)) add(node.data, ESCAPED.text);
    if ('children' in node) for (const child of node.children) stack.push(child);
  }
  if (nodes[0] !== undefined) countWalk(nodes[0], count + characters / CHARACTERS_PER_STEP, 'its HTML');
  if (characters <= MAX_ESCAPES) return;
  let escapes = 0;
  for (const [text, escaped] of parts) {
    escaped.lastIndex = 0;
    while (escaped.test(text)) escapes += 1;
    if (escapes > MAX_ESCAPES) throw SelectorCostError.ofEscapes();
  }
}

/** css-select's view of a tree, by its documented option `adapter`; the methods that start long walks are counted. */
export class BudgetedAdapter {
  readonly #selector: string;
  #left = MAX_STEPS;

  /** @param selector as the spider wrote it, for the error */
  constructor(selector: string) {
    this.#selector = selector;
  }

  readonly methods: NonNullable<Options<AnyNode, Element>['adapter']> = {
    ...DomUtils,
    isTag,
    getChildren: (node: AnyNode): ChildNode[] => {
      const children = DomUtils.getChildren(node);
      this.#spend(children.length);
      return children;
    },
    getSiblings: (node: AnyNode): AnyNode[] => {
      const siblings = DomUtils.getSiblings(node);
      this.#spend(siblings.length);
      return siblings;
    },
    getText: (node: AnyNode | AnyNode[]): string => {
      const text = DomUtils.getText(node);
      this.#spend(1 + text.length / CHARACTERS_PER_STEP);
      return text;
    },
  };

  #spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new SelectorCostError(this.#selector);
  }
}

/** A selector that a page makes too costly. */
export class SelectorCostError extends CrawlnodeError {
  constructor(selector: string, message?: string) {
    super(
      'selector_cost',
      message ??
        `The CSS selector ${JSON.stringify(selector)} was stopped: on this page :has() with combinators inside, :contains() ` +
          `or :selected would look at more than ${n(MAX_STEPS)} nodes. Select a smaller part of the page first.`,
    );
  }

  /** @param argument of the method: a selector, or something else where the set itself is too large */
  static ofCheerio(method: string, argument: unknown, maxSteps: number): SelectorCostError {
    const call = `${method}(${typeof argument === 'string' ? JSON.stringify(argument) : ''})`;
    return new SelectorCostError(
      call,
      `${call} of $ was refused: on this page it might take more than ${n(maxSteps)} steps. ` +
        'Use response.css(), or select a smaller part of the page first.',
    );
  }

  static ofWalks(selector: string, most: number): SelectorCostError {
    return new SelectorCostError(
      selector,
      `The query ${JSON.stringify(selector)} was stopped: the queries from elements of this page have looked at more than ` +
        `${n(most)} nodes, as these elements lie within each other. Select fewer of them.`,
    );
  }

  static ofMarkup(most: number): SelectorCostError {
    return new SelectorCostError(
      '',
      `The query was stopped: the HTML of the selected elements, which lie within each other, is longer than ${n(most)} ` +
        'characters. Select their texts, or fewer of them.',
    );
  }

  static ofEscapes(): SelectorCostError {
    return new SelectorCostError(
      '',
      `The HTML of an element was not made: it has more than ${n(MAX_ESCAPES)} characters that are written as references, such as &lt;. Select its text.`,
    );
  }

  static ofMatches(expression: RegExp, most: number): SelectorCostError {
    return new SelectorCostError(
      '',
      `The regular expression ${expression.source.slice(0, 100)} was stopped: it matches more than ${n(most)} times.`,
    );
  }

  static ofXPath(expression: string, maxSteps: number): SelectorCostError {
    return new SelectorCostError(
      expression,
      `The XPath expression ${JSON.stringify(expression)} was stopped: on this page it takes more than ` +
        `${n(maxSteps)} steps. Select a smaller part of the page first.`,
    );
  }
}
