/** The tree of a page or of an XML document, built in time linear in its length and bounded in depth. */
import type { AnyNode, ChildNode, Document, Element } from 'domhandler';
import { DomHandler, Parser } from 'htmlparser2';
import { MAX_DEPTH } from './html/open-elements.js';
import { buildHtmlTree, type HtmlTree } from './html/tree-builder.js';

export type { AnyNode, ChildNode, Document, Element, HtmlTree };

/** @param xml parse as XML: names keep their case, nothing closes by itself, CDATA is text, and there is no `base` */
export function parseTree(markup: string, xml: boolean): HtmlTree {
  return xml ? { document: parseXml(markup), baseHref: null } : buildHtmlTree(markup);
}

/** The rest of a document that nests deeper than any real one is left out: htmlparser2 takes time quadratic in the depth. */
function parseXml(markup: string): Document {
  const handler = new XmlHandler();
  const parser = new Parser(handler, { xmlMode: true, decodeEntities: true });
  handler.onTooDeep = () => parser.pause();
  parser.end(markup);
  return handler.root;
}

class XmlHandler extends DomHandler {
  onTooDeep: () => void = () => {};

  override onopentag(name: string, attributes: Record<string, string>): void {
    super.onopentag(name, attributes);
    if (this.tagStack.length > MAX_DEPTH) this.onTooDeep();
  }
}
