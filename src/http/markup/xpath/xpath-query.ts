/**
 * XPath 1.0 with the additions of Scrapy's selectors: `has-class('a', 'b')` and the functions `re:test`, `re:match` and
 * `re:replace` of EXSLT. The package `xpath` evaluates the expressions.
 */
import { createRequire } from 'node:module';
import { CrawlnodeError, messageOf, UsageError } from '../../../errors.js';
import { budgetOf } from '../../node-budget.js';
import { replacedInPieces, withSingleSpaces } from '../../text-memory.js';
import type { Found } from '../css/css-query.js';
import { boundMatches, SelectorCostError } from '../css/match-budget.js';
import type { AnyNode, Document, Element } from '../markup-tree.js';
import { type XPathNode, XPathTree } from './xpath-tree.js';

/** Values of `$name` in an expression. */
export type XPathVariables = Readonly<Record<string, string | number | boolean>>;

const EXSLT_REGULAR_EXPRESSIONS = 'http://exslt.org/regular-expressions';
/** Steps from node to node that one query may take, which bounds it to a few seconds. A page of 1 MB has some 50,000 nodes. */
const MAX_STEPS = 2_000_000;
/** Expressions are written in code, so few; the bound is for those put together from data. */
const MAX_CACHED = 500;

/** A value of the package `xpath`. */
interface Value {
  stringValue(): string;
  /** Nodes in document order; only a node set has this. */
  toArray?(): XPathNode[];
  booleanValue(): boolean;
}

interface Expression {
  evaluate(options: object): Value;
}

interface NodeSet {
  nodes: XPathNode[];
  size: number;
  tree: null;
  add(node: XPathNode): void;
  stringForNode(node: XPathNode): string;
  addArray(nodes: readonly XPathNode[]): void;
}

// The types of the package declare the whole DOM of browsers, which would clash with those of crawlnode.
interface Library {
  parse(expression: string): Expression;
  readonly XBoolean: new () => Value;
  readonly XNodeSet: { readonly prototype: NodeSet };
}

/** Loaded on first use. */
let library: Library | undefined;
const parsed = new Map<string, Expression>();

/** The page that a query runs on, by its document. */
interface Page {
  readonly tree: XPathTree;
  readonly steps: StepBudget;
  readonly namespaces: ReadonlyMap<string, string>;
}
const pages = new WeakMap<AnyNode, Page>();

/**
 * What an expression finds, in document order: elements, and the texts of text nodes, attributes and values. Relative paths
 * begin at `root`, or at the outermost element of a document as in Scrapy; absolute ones at the document.
 * @throws UsageError for an expression that is not valid; SelectorCostError on a page that makes it too costly;
 *   TooComplexError
 */
export function selectXPath(
  expression: string,
  root: Document | Element,
  xml: boolean,
  variables: XPathVariables = {},
): Found[] {
  const { tree, steps, namespaces } = pageOf(root, xml);
  const node = 'attribs' in root ? tree.nodeOf(root) : tree.outermost;
  if (node === undefined) return [];
  steps.begin(expression);
  try {
    const value = compiled(expression).evaluate({
      node,
      namespaces: (prefix: string) =>
        prefix === 're' ? EXSLT_REGULAR_EXPRESSIONS : (namespaces.get(prefix) ?? undefined),
      functions: functionOf,
      variables: variableOf(variables),
      allowAnyNamespaceForNoPrefix: true,
    });
    return value.toArray === undefined ? [textOf(value)] : value.toArray().flatMap(foundOf);
  } catch (error) {
    if (error instanceof CrawlnodeError) throw error;
    throw invalid(expression, error);
  }
}

function compiled(expression: string): Expression {
  const known = parsed.get(expression);
  if (known !== undefined) return known;
  refuseWrongAxes(expression);
  library ??= withFastSets(createRequire(import.meta.url)('xpath') as Library);
  const created = parsedBy(library, expression);
  if (parsed.size >= MAX_CACHED) parsed.clear();
  parsed.set(expression, created);
  return created;
}

/** The library does not say where an expression is wrong. The longest beginning that is an expression by itself shows it. */
function parsedBy(library: Library, expression: string): Expression {
  try {
    return library.parse(expression);
  } catch (cause) {
    for (let end = Math.min(expression.length, MAX_PLACED) - 1; end > 0; end -= 1) {
      const beginning = expression.slice(0, end);
      if (isExpression(library, beginning)) {
        throw new Error(`${messageOf(cause).trim()}, after ${JSON.stringify(beginning)}`, { cause });
      }
    }
    throw cause;
  }
}

/** Characters of an expression whose place of an error is looked for. */
const MAX_PLACED = 300;

function isExpression(library: Library, text: string): boolean {
  try {
    library.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Few enough nodes that comparing each with each is the fastest. */
const FEW_NODES = 64;

/** The library looks for each node that it adds to a set among all the others, which takes time quadratic in their number. */
function withFastSets(loaded: Library): Library {
  loaded.XNodeSet.prototype.addArray = function addArray(this: NodeSet, nodes: readonly XPathNode[]): void {
    if (this.size + nodes.length <= FEW_NODES) {
      for (const node of nodes) this.add(node);
      return;
    }
    this.nodes = [...new Set([...this.nodes, ...nodes])];
    this.size = this.nodes.length;
    this.tree = null;
  };
  return loaded;
}

/** The library gives wrong nodes for three axes, so they are refused. */
function refuseWrongAxes(expression: string): void {
  const axis = /(?<![\w-])(following|preceding|namespace)\s*::/.exec(
    expression.replace(/"[^"]*"|'[^']*'/g, '""'),
  )?.[1];
  if (axis === undefined) return;
  if (axis === 'namespace') throw new Error('the axis namespace:: is not available');
  const instead = `ancestor-or-self::*/${axis}-sibling::*/descendant-or-self::p`;
  throw new Error(`the axis ${axis}:: is not available; instead of ${axis}::p write ${instead}`);
}

function invalid(expression: string, cause: unknown): UsageError {
  const what = `The XPath expression ${JSON.stringify(expression)} is not valid: ${messageOf(cause)}`;
  return new UsageError(what, { cause });
}

function pageOf(root: Document | Element, xml: boolean): Page {
  let top: AnyNode = root;
  while (top.parent !== null) top = top.parent;
  const known = pages.get(top);
  if (known !== undefined) return known;
  const steps = new StepBudget();
  const page = {
    tree: new XPathTree(top as Document | Element, xml, steps, budgetOf(top)),
    steps,
    namespaces: xml ? declaredNamespaces(top) : new Map<string, string>(),
  };
  pages.set(top, page);
  return page;
}

/** The prefixes that an XML document declares on its outermost element. */
function declaredNamespaces(top: AnyNode): ReadonlyMap<string, string> {
  const outermost = 'children' in top ? top.children.find((child) => 'attribs' in child) : undefined;
  const attributes = outermost !== undefined && 'attribs' in outermost ? outermost.attribs : {};
  return new Map(
    Object.entries(attributes)
      .filter(([name]) => name.startsWith('xmlns:'))
      .map(([name, uri]) => [name.slice('xmlns:'.length), uri]),
  );
}

class StepBudget {
  #left = 0;
  #expression = '';

  begin(expression: string): void {
    this.#left = MAX_STEPS;
    this.#expression = expression;
  }

  count(steps = 1): void {
    this.#left -= steps;
    if (this.#left < 0) throw SelectorCostError.ofXPath(this.#expression, MAX_STEPS);
  }
}

function variableOf(variables: XPathVariables) {
  return (name: string) => {
    if (Object.hasOwn(variables, name)) return variables[name];
    throw new Error(`the variable $${name} has no value`);
  };
}

type XPathFunction = (context: { contextNode: XPathNode }, ...values: Value[]) => unknown;

const functions: Readonly<Record<string, XPathFunction>> = {
  ' has-class': ({ contextNode }, ...names) =>
    contextNode.hasClasses(names.map((name) => name.stringValue())),
  // The library's own two build a text character by character, which takes gigabytes for a long one.
  ' normalize-space': ({ contextNode }, text) =>
    withSingleSpaces(text?.stringValue() ?? stringOf(contextNode), /[ \t\n\r]+/g).replace(/^ | $/g, ''),
  ' translate': (_context, text, from, to) => {
    const targets = [...(to?.stringValue() ?? '')];
    const replaced = new Map<string, string>();
    for (const [n, letter] of [...(from?.stringValue() ?? '')].entries()) {
      if (!replaced.has(letter)) replaced.set(letter, targets[n] ?? '');
    }
    return replacedInPieces(text?.stringValue() ?? '', (piece) => {
      let translated = '';
      for (const letter of piece) translated += replaced.get(letter) ?? letter;
      return translated;
    });
  },
  [`${EXSLT_REGULAR_EXPRESSIONS} test`]: (_context, text, pattern, flags) =>
    expressionOf(pattern, flags).test(text?.stringValue() ?? ''),
  [`${EXSLT_REGULAR_EXPRESSIONS} match`]: (_context, text, pattern, flags) =>
    expressionOf(pattern, flags).exec(text?.stringValue() ?? '')?.[0] ?? '',
  [`${EXSLT_REGULAR_EXPRESSIONS} replace`]: (_context, text, pattern, flags, replacement) => {
    const given = text?.stringValue() ?? '';
    const expression = expressionOf(pattern, flags);
    if (expression.global) boundMatches(given, expression);
    return given.replace(expression, replacement?.stringValue() ?? '');
  },
};

function functionOf(name: string, namespace: string): XPathFunction | undefined {
  return functions[`${namespace ?? ''} ${name}`];
}

/** EXSLT's flags `g` and `i`. */
function expressionOf(pattern: Value | undefined, flags: Value | undefined): RegExp {
  const given = flags?.stringValue() ?? '';
  return new RegExp(
    pattern?.stringValue() ?? '',
    `${given.includes('i') ? 'i' : ''}${given.includes('g') ? 'g' : ''}`,
  );
}

function stringOf(node: XPathNode): string {
  return library?.XNodeSet.prototype.stringForNode(node) ?? '';
}

/** A number, text or truth as text; truth is `1` or `0`, as in Scrapy. */
function textOf(value: Value): string {
  if (library !== undefined && value instanceof library.XBoolean) return value.booleanValue() ? '1' : '0';
  return value.stringValue();
}

function foundOf({ element, nodeName, nodeValue }: XPathNode): Found[] {
  if (element !== null) return [element];
  if (nodeValue === null) return [];
  return [nodeName === '#comment' ? `<!--${nodeValue}-->` : nodeValue];
}
