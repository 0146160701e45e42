/** The tree of a page: htmlparser2's, with a bound on its depth. */
import type { AnyNode, ChildNode, Document, Element } from 'domhandler';
import { DomHandler, Parser } from 'htmlparser2';

export type { AnyNode, ChildNode, Document, Element };

/**
 * As in Chromium, elements nested deeper become siblings. A page of 40,000 nested tags would otherwise make every
 * walk up the tree quadratic and overflow the stack where text or markup is taken of it.
 */
export const MAX_DEPTH = 512;

/** @param xml parse as XML: names keep their case, nothing closes by itself, CDATA is text */
export function parseTree(markup: string, xml: boolean): Document {
  const handler = new ShallowDomHandler();
  const parser = new Parser(handler, { xmlMode: xml, decodeEntities: true });
  parser.end(markup);
  return handler.root;
}

class ShallowDomHandler extends DomHandler {
  /** Elements that are open but too deep to be on the stack. */
  #tooDeep = 0;

  override onopentag(name: string, attributes: Record<string, string>): void {
    super.onopentag(name, attributes);
    if (this.tagStack.length <= MAX_DEPTH) return;
    this.tagStack.pop();
    this.#tooDeep += 1;
  }

  override onclosetag(): void {
    if (this.#tooDeep > 0) {
      this.#tooDeep -= 1;
      this.lastNode = null;
    } else {
      super.onclosetag();
    }
  }
}
