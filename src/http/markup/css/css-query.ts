/**
 * CSS selectors with Scrapy's two pseudo-elements, compiled once: `::text` (the text nodes that are direct children)
 * and `::attr(name)`. After a blank, as in `li ::text` and `li *::text`, they are those of the element and of all below it. Matching is css-select's; relative to an element it is Scrapy's: the element itself may match,
 * and nothing outside it counts, so `row.css('table td')` finds no cell unless the row holds a table.
 */
import { compile } from 'css-select';
import { parse, type Selector, SelectorType } from 'css-what';
import { hasChildren, isCDATA, isTag, isText, type Text } from 'domhandler';
import { DomUtils } from 'htmlparser2';
import { UsageError } from '../../../errors.js';
import type { AnyNode, Document, Element, ElementTest } from '../markup-tree.js';
import { compileLinear } from './linear-selector.js';
import { countWalk } from './match-budget.js';

/** What a query finds: an element, or the text of a text node or attribute. */
export type Found = Element | string;

export interface CssQuery {
  /** Everything found at or below `root`, in document order. */
  /** @throws SelectorCostError on a page that makes the selector too costly */
  select(root: Document | Element): Found[];
}

/** Branches of one selector that take the same thing of what they match. */
interface Group {
  readonly take: 'element' | 'text' | { readonly attr: string };
  readonly branches: Selector[][];
  /** For selectors of one compound, which mean the same below any root. */
  readonly test: ElementTest | null;
}

/** Selectors are written in code, so few; the bound is for those put together from data. */
const MAX_CACHED = 500;
const cache = new Map<string, CssQuery>();

/**
 * @param xml names keep their case
 * @throws UsageError naming a selector that is not valid
 */
export function cssQuery(selector: string, xml: boolean): CssQuery {
  const key = xml ? `xml ${selector}` : selector;
  const known = cache.get(key);
  if (known) return known;
  const query = compileQuery(selector, xml);
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(key, query);
  return query;
}

function compileQuery(selector: string, xml: boolean): CssQuery {
  let groups: Group[];
  try {
    if (typeof selector !== 'string') throw new Error('it is no text');
    if (selector.trim() === '') throw new Error('it is empty');
    groups = groupsOf(parse(selector), xml);
    // What css-select does not know, such as `:frobnicate`, shows only in compiling.
    for (const group of groups) testOf(selector, group, null, xml);
  } catch (cause) {
    throw new UsageError(
      `The CSS selector ${JSON.stringify(selector)} is not valid: ${(cause as Error).message.replace(/found $/, 'found its end')}`,
      { cause },
    );
  }
  return {
    select(root) {
      const context = isTag(root) ? root : null;
      const tests = groups.map((group) => testOf(selector, group, context, xml));
      const walked = { nodes: 0 };
      const isOfElements = groups.length === 1 && groups[0]!.take === 'element';
      const found = isOfElements ? walkElements(root, tests[0]!, walked) : walk(root, groups, tests, walked);
      if (context !== null) countWalk(context, walked.nodes, selector);
      return found;
    },
  };
}

function groupsOf(branches: Selector[][], xml: boolean): Group[] {
  const groups = new Map<string, Group>();
  for (const branch of branches) {
    checkMistakes(branch);
    const take = takeOf(branch, xml);
    const kind = typeof take === 'string' ? take : `attr ${take.attr}`;
    const tokens = elementTokens(branch);
    const own = take === 'element' ? null : withoutDescendants(tokens);
    const together = [...(groups.get(kind)?.branches ?? []), tokens, ...(own === null ? [] : [own])];
    const test = together.every(isCompound) ? compileCompounds(together, xml) : null;
    groups.set(kind, { take, branches: together, test });
  }
  return [...groups.values()];
}

function takeOf(branch: readonly Selector[], xml: boolean): Group['take'] {
  const at = branch.findIndex((token) => token.type === SelectorType.PseudoElement);
  if (at === -1) return 'element';
  const token = branch[at]!;
  if (token.type !== SelectorType.PseudoElement) return 'element';
  if (at !== branch.length - 1) throw new Error(`::${token.name} can only stand at the end`);
  if (token.name === 'text' && token.data === null) return 'text';
  if (token.name === 'attr' && token.data) {
    const name = token.data.trim().replace(/^(["'])(.*)\1$/, '$2');
    if (!/^[^\s"']+$/.test(name)) throw new Error(`::attr(${token.data}) names no attribute`);
    return { attr: xml ? name : name.toLowerCase() };
  }
  throw new Error(`::${token.name} is not known here; there are ::text and ::attr(name)`);
}

/** The branch without its pseudo-element; `::text` alone, or after a combinator, is that of any element. */
function elementTokens(branch: readonly Selector[]): Selector[] {
  const tokens = branch.filter((token) => token.type !== SelectorType.PseudoElement);
  const last = tokens.at(-1);
  if (last === undefined || isCombinator(last))
    tokens.push({ type: SelectorType.Universal, namespace: null });
  return tokens;
}

/** `li` of `li *`; null for what ends otherwise. Source: parsel, whose `li ::text` has the texts of `li` too. */
function withoutDescendants(tokens: readonly Selector[]): Selector[] | null {
  const [combinator, any] = tokens.slice(-2);
  const isOfAll =
    combinator?.type === SelectorType.Descendant &&
    any?.type === SelectorType.Universal &&
    any.namespace === null &&
    tokens.length > 2;
  return isOfAll ? tokens.slice(0, -2) : null;
}

/** Refuses what css-what and css-select take, and what never matches anything that an author means. */
function checkMistakes(branch: readonly Selector[]): void {
  branch.forEach((token, at) => {
    if (token.type === SelectorType.Tag && /^[@$/!%&=?<]/.test(token.name)) {
      throw new Error(
        `Unexpected ${token.name[0]}${token.name.startsWith('@') ? ': write ::attr(name)' : ''}`,
      );
    }
    if (token.type !== SelectorType.Pseudo) return;
    const before = branch[at - 1];
    const isOfInput = before?.type === SelectorType.Tag && before.name === 'input';
    if (token.name === 'text' && !isOfInput) throw new Error(':text has two colons: ::text');
    if (token.name === 'attr') throw new Error(`:attr has two colons: ::attr(${token.data ?? 'name'})`);
  });
}

function isCombinator(token: Selector): boolean {
  return !isSimple(token) && token.type !== SelectorType.Pseudo;
}

function isSimple(token: Selector): boolean {
  return (
    token.type === SelectorType.Tag ||
    token.type === SelectorType.Universal ||
    token.type === SelectorType.Attribute
  );
}

function isCompound(tokens: readonly Selector[]): boolean {
  return tokens.every(isSimple);
}

/**
 * Compiled anew for each root where there are combinators or pseudo-classes: what such a test remembers of a tree holds
 * only below one root and while nobody changes the tree.
 */
function testOf(selector: string, group: Group, context: Element | null, xml: boolean): ElementTest {
  return group.test ?? compileLinear(selector, group.branches, context, xml);
}

function compileCompounds(branches: Selector[][], xml: boolean): ElementTest {
  // css-select reorders what it is given.
  const copy = branches.map((tokens) => [...tokens]);
  return compile<AnyNode, Element>(copy, { xmlMode: xml });
}

/** What a query has looked at. */
interface Walked {
  nodes: number;
}

/** Elements only. */
function walkElements(root: Document | Element, test: ElementTest, walked: Walked): Element[] {
  return DomUtils.findAll(
    (element) => {
      walked.nodes += 1;
      return test(element);
    },
    [root],
  );
}

/** Elements, attributes and text nodes in document order; a loop, as pages may be nested deeper than the call stack. */
function walk(
  root: Document | Element,
  groups: readonly Group[],
  tests: readonly ElementTest[],
  walked: Walked,
): Found[] {
  const found: Found[] = [];
  const textOf = new Set<AnyNode | null>();
  const stack: AnyNode[] = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    walked.nodes += 1;
    if (isText(node)) {
      if (textOf.has(elementAround(node))) found.push(node.data);
      continue;
    }
    if (isTag(node)) {
      for (let i = 0; i < groups.length; i++) {
        if (!tests[i]!(node)) continue;
        const { take } = groups[i]!;
        if (take === 'element') found.push(node);
        else if (take === 'text') textOf.add(node);
        else if (Object.hasOwn(node.attribs, take.attr)) found.push(node.attribs[take.attr]!);
      }
    }
    if (!hasChildren(node)) continue;
    for (let i = node.children.length - 1; i >= 0; i--) stack.push(node.children[i]!);
  }
  return found;
}

function elementAround(text: Text): AnyNode | null {
  return text.parent !== null && isCDATA(text.parent) ? text.parent.parent : text.parent;
}
