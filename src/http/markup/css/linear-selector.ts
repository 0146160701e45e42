/**
 * Selectors compiled so that matching takes time linear in the size of the tree. css-select tests what stands alone
 * (names, attributes, `:contains`); it compares each sibling with all others for `~`, `:nth-child` and `:has(+ a)`, and
 * climbs to the root for each descendant. Such parts are taken out of a selector here and replaced by a pseudo-class
 * that remembers its answers; css-select knows it by its documented option `pseudos`.
 */
import { compile } from 'css-select';
import { type Selector, SelectorType } from 'css-what';
import { isTag } from 'domhandler';
import { DomUtils } from 'htmlparser2';
import nthCheck from 'nth-check';
import type { AnyNode, Element, ElementTest } from '../markup-tree.js';
import { hasTest, isSimpleRelative } from './has-test.js';
import { BudgetedAdapter } from './match-budget.js';
import { SiblingOrder } from './sibling-order.js';

/** The name of the pseudo-class that stands for a test made here; no selector can be written with it. */
const OWN = ' own';

/**
 * The test of a list of selectors. It remembers what it found of a tree, so it holds while nobody changes that.
 * @param selector as the spider wrote it, for errors
 * @param branches as css-what parsed them, without pseudo-elements
 * @param context the element to which selectors are relative; null for the document
 * @param xml names keep their case
 * @returns a test that throws SelectorCostError on a page that makes the selector too costly
 * @throws Error where css-select does not know a selector
 */
export function compileLinear(
  selector: string,
  branches: readonly (readonly Selector[])[],
  context: Element | null,
  xml: boolean,
): ElementTest {
  return new LinearCompiler(selector, context, xml).compile(branches);
}

class LinearCompiler {
  readonly #context: Element | null;
  readonly #xml: boolean;
  readonly #order = new SiblingOrder();
  readonly #adapter: BudgetedAdapter;
  readonly #tests: ElementTest[] = [];

  constructor(selector: string, context: Element | null, xml: boolean) {
    this.#adapter = new BudgetedAdapter(selector);
    this.#context = context;
    this.#xml = xml;
  }

  compile(branches: readonly (readonly Selector[])[], context = this.#context): ElementTest {
    const rewritten = branches.map((branch) => this.#rewrite(branch));
    const options = {
      xmlMode: this.#xml,
      adapter: this.#adapter.methods,
      pseudos: {
        [OWN]: (element: Element, index: string | null | undefined) => this.#tests[Number(index)]!(element),
      },
    };
    // A list as context, even of one, lets the context itself match.
    return compile<AnyNode, Element>(rewritten, options, context === null ? undefined : [context]);
  }

  /** One branch, with its last `~` or descendant combinator and all before it as a test of its own. */
  #rewrite(branch: readonly Selector[]): Selector[] {
    const at = branch.findLastIndex(
      ({ type }) => type === SelectorType.Sibling || type === SelectorType.Descendant,
    );
    if (at <= 0) return branch.map((token) => this.#rewriteToken(token));
    const outer = this.compile([branch.slice(0, at)]);
    const test = branch[at]!.type === SelectorType.Sibling ? this.#after(outer) : within(outer);
    return [this.#own(test), ...branch.slice(at + 1).map((token) => this.#rewriteToken(token))];
  }

  #rewriteToken(token: Selector): Selector {
    if (token.type !== SelectorType.Pseudo) return { ...token };
    const { name, data } = token;
    if (name === 'has' && Array.isArray(data) && data.every(isSimpleRelative)) {
      const compileAlone = (compound: Selector[]) => this.compile([compound], null);
      return this.#own(hasTest(data, compileAlone, this.#order));
    }
    if (Array.isArray(data)) return { ...token, data: data.map((inner) => this.#rewriteInner(name, inner)) };
    const test = this.#siblingTest(name, data);
    return test === null ? { ...token } : this.#own(test);
  }

  /** Of `:not(…)`, `:is(…)` and the like. Within `:has(…)` combinators count from the element that is tested. */
  #rewriteInner(name: string, branch: Selector[]): Selector[] {
    return name === 'has' ? branch.map((token) => this.#rewriteToken(token)) : this.#rewrite(branch);
  }

  #siblingTest(name: string, data: string | null): ElementTest | null {
    const order = this.#order;
    if (data === null) {
      switch (name) {
        case 'last-child':
          return (element) => order.placeOf(element).indexFromEnd === 0;
        case 'only-child':
          return (element) => isOnly(order.placeOf(element));
        case 'first-of-type':
          return (element) => order.placeOfType(element).index === 0;
        case 'last-of-type':
          return (element) => order.placeOfType(element).indexFromEnd === 0;
        case 'only-of-type':
          return (element) => isOnly(order.placeOfType(element));
        default:
          return null;
      }
    }
    if (!name.startsWith('nth-')) return null;
    const isNth = nthCheck(data);
    switch (name) {
      case 'nth-child':
        return (element) => isNth(order.placeOf(element).index);
      case 'nth-last-child':
        return (element) => isNth(order.placeOf(element).indexFromEnd);
      case 'nth-of-type':
        return (element) => isNth(order.placeOfType(element).index);
      case 'nth-last-of-type':
        return (element) => isNth(order.placeOfType(element).indexFromEnd);
      default:
        return null;
    }
  }

  /** Whether an earlier sibling matches. */
  #after(earlier: ElementTest): ElementTest {
    /** The first sibling that matches, by parent. */
    const firsts = new Map<AnyNode, Element | null>();
    return (element) => {
      const key = element.parent ?? element;
      let first = firsts.get(key);
      if (first === undefined) {
        first = DomUtils.getSiblings(element).filter(isTag).find(earlier) ?? null;
        firsts.set(key, first);
      }
      return first !== null && this.#order.placeOf(first).index < this.#order.placeOf(element).index;
    };
  }

  #own(test: ElementTest): Selector {
    return { type: SelectorType.Pseudo, name: OWN, data: String(this.#tests.push(test) - 1) };
  }
}

/** Whether an ancestor matches. */
function within(outer: ElementTest): ElementTest {
  /** Whether an element or one around it matches. */
  const known = new Map<AnyNode, boolean>();
  return ({ parent }) => {
    const climbed: AnyNode[] = [];
    let answer = false;
    for (let node: AnyNode | null = parent; node !== null && isTag(node); node = node.parent) {
      const before = known.get(node);
      answer = before ?? outer(node);
      if (before !== undefined) break;
      climbed.push(node);
      if (answer) break;
    }
    for (const node of climbed) known.set(node, answer);
    return answer;
  };
}

function isOnly({ index, indexFromEnd }: { index: number; indexFromEnd: number }): boolean {
  return index === 0 && indexFromEnd === 0;
}
