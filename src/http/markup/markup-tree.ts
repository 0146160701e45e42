/** The tree of a page or of an XML document, built in time linear in its length and bounded in depth. */
import type { AnyNode, ChildNode, Document, Element } from 'domhandler';
import { type NodeBudget, shareBudget } from '../node-budget.js';
import { CountingDomHandler, XmlParser } from './counting-dom-handler.js';
import { MAX_DEPTH } from './html/open-elements.js';
import { buildHtmlTree, type HtmlTree } from './html/tree-builder.js';

export type { AnyNode, ChildNode, Document, Element, HtmlTree };

/** Whether an element is wanted. */
export type ElementTest = (element: Element) => boolean;

/**
 * @param xml parse as XML: names keep their case, nothing closes by itself, CDATA is text, and there is no `base`
 * @throws TooComplexError
 */
export function parseTree(markup: string, xml: boolean, budget: NodeBudget): HtmlTree {
  const tree = xml ? { document: parseXml(markup, budget), baseHref: null } : buildHtmlTree(markup, budget);
  shareBudget(tree.document, budget);
  return tree;
}

/** The rest of a document that nests deeper than any real one is left out: htmlparser2 takes time quadratic in the depth. */
function parseXml(markup: string, budget: NodeBudget): Document {
  const handler = new XmlHandler(budget);
  const parser = new XmlParser(handler, () => budget);
  handler.onTooDeep = () => parser.pause();
  parser.end(markup);
  return handler.root;
}

class XmlHandler extends CountingDomHandler {
  onTooDeep: () => void = () => {};

  override onopentag(name: string, attributes: Record<string, string>): void {
    super.onopentag(name, attributes);
    if (this.tagStack.length > MAX_DEPTH) this.onTooDeep();
  }
}
