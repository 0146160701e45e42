/** Builds the tree of an XML document from the events of htmlparser2, and counts its nodes. */
import { DomHandler } from 'domhandler';
import { type Handler, Parser } from 'htmlparser2';
import { type NodeBudget, PARTS_PER_NODE } from '../node-budget.js';

/** Character references of an attribute that count as a node: its value is put together of them, and the parser keeps all parts. */
const REFERENCES_PER_NODE = 2;

/** htmlparser2 for XML, which also counts the character references in attributes. */
export class XmlParser extends Parser {
  readonly #budget: () => NodeBudget;

  /** @param budget of the place that is being read */
  constructor(handler: Partial<Handler>, budget: () => NodeBudget) {
    super(handler, { xmlMode: true, decodeEntities: true });
    this.#budget = budget;
  }

  override onattribentity(codepoint: number): void {
    this.#budget().spend(1 / REFERENCES_PER_NODE);
    super.onattribentity(codepoint);
  }
}

export class CountingDomHandler extends DomHandler {
  budget: NodeBudget;

  constructor(budget: NodeBudget) {
    super();
    this.budget = budget;
  }

  /** The parser collects the attributes of a tag before it tells of the element. */
  onattribute(): void {
    this.budget.spend(1);
  }

  override onopentag(name: string, attributes: Record<string, string>): void {
    this.budget.spend(1);
    super.onopentag(name, attributes);
  }

  override ontext(text: string): void {
    this.budget.spend(this.lastNode === null ? 1 : 1 / PARTS_PER_NODE);
    super.ontext(text);
  }

  override oncomment(text: string): void {
    this.budget.spend(1);
    super.oncomment(text);
  }

  override oncdatastart(): void {
    this.budget.spend(2);
    super.oncdatastart();
  }

  override onprocessinginstruction(name: string, text: string): void {
    this.budget.spend(1);
    super.onprocessinginstruction(name, text);
  }
}
