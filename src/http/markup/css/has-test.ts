/** `:has(…)` with selectors of one compound, in time linear in the tree. Others are css-select's, within a budget. */
import { type Selector, SelectorType } from 'css-what';
import { isTag } from 'domhandler';
import { DomUtils } from 'htmlparser2';
import type { AnyNode, Element, ElementTest } from '../markup-tree.js';
import type { SiblingOrder } from './sibling-order.js';

const SIMPLE: ReadonlySet<SelectorType> = new Set([
  SelectorType.Tag,
  SelectorType.Universal,
  SelectorType.Attribute,
  SelectorType.Pseudo,
]);
const LEADING: ReadonlySet<SelectorType> = new Set([
  SelectorType.Child,
  SelectorType.Adjacent,
  SelectorType.Sibling,
]);

/** Whether a selector within `:has` is one compound, with or without `>`, `+` or `~` before it. */
export function isSimpleRelative(branch: readonly Selector[]): boolean {
  const compound = branch.slice(startsWithCombinator(branch) ? 1 : 0);
  return compound.length > 0 && compound.every((token) => SIMPLE.has(token.type) && !refersToScope(token));
}

/** @param branches for which `isSimpleRelative` holds */
export function hasTest(
  branches: readonly Selector[][],
  compileCompound: (compound: Selector[]) => ElementTest,
  order: SiblingOrder,
): ElementTest {
  const tests = branches.map((branch) => {
    if (!startsWithCombinator(branch)) return hasDescendant(compileCompound(branch));
    const test = compileCompound(branch.slice(1));
    switch (branch[0]!.type) {
      case SelectorType.Child:
        return hasChild(test);
      case SelectorType.Adjacent:
        return hasNext(test);
      default:
        return hasLater(test, order);
    }
  });
  return (element) => tests.some((test) => test(element));
}

function startsWithCombinator(branch: readonly Selector[]): boolean {
  return branch[0] !== undefined && LEADING.has(branch[0].type);
}

function refersToScope(token: Selector): boolean {
  if (token.type !== SelectorType.Pseudo) return false;
  return token.name === 'scope' || (Array.isArray(token.data) && token.data.flat().some(refersToScope));
}

function hasChild(test: ElementTest): ElementTest {
  return (element) => element.children.some((child) => isTag(child) && test(child));
}

function hasNext(test: ElementTest): ElementTest {
  return (element) => {
    const next = DomUtils.nextElementSibling(element);
    return next !== null && test(next);
  };
}

function hasLater(test: ElementTest, order: SiblingOrder): ElementTest {
  /** The last sibling that matches, by parent. */
  const lasts = new Map<AnyNode, Element | null>();
  return (element) => {
    const key = element.parent ?? element;
    let last = lasts.get(key);
    if (last === undefined) {
      last = DomUtils.getSiblings(element).filter(isTag).findLast(test) ?? null;
      lasts.set(key, last);
    }
    return last !== null && order.placeOf(last).index > order.placeOf(element).index;
  };
}

function hasDescendant(test: ElementTest): ElementTest {
  const searched = new Set<AnyNode>();
  const holders = new Set<AnyNode>();
  return (element) => {
    if (!searched.has(element)) search(element, test, searched, holders);
    return holders.has(element);
  };
}

/** Looks at everything below an element once, and notes all elements around what matches. */
function search(root: Element, test: ElementTest, searched: Set<AnyNode>, holders: Set<AnyNode>): void {
  const stack: Element[] = [root];
  for (let element = stack.pop(); element !== undefined; element = stack.pop()) {
    const isSearched = searched.has(element);
    const holds = isSearched && holders.has(element);
    if (element !== root && (holds || test(element))) noteAround(element, root, holders);
    if (isSearched) continue;
    searched.add(element);
    for (const child of element.children) if (isTag(child)) stack.push(child);
  }
}

function noteAround(element: Element, root: Element, holders: Set<AnyNode>): void {
  for (let node: AnyNode | null = element.parent; node !== null && !holders.has(node); node = node.parent) {
    holders.add(node);
    if (node === root) return;
  }
}
