/** Where elements stand among their siblings: each parent is counted once, not once for each of its children. */
import { isTag } from 'domhandler';
import { DomUtils } from 'htmlparser2';
import type { AnyNode, Element } from '../markup-tree.js';

export interface SiblingPlace {
  /** From 0. */
  readonly index: number;
  /** Counted from the last, from 0. */
  readonly indexFromEnd: number;
}

/** Valid while nobody changes the tree: one for each query. */
export class SiblingOrder {
  readonly #all = new Map<AnyNode, Map<Element, SiblingPlace>>();
  readonly #ofType = new Map<AnyNode, Map<Element, SiblingPlace>>();

  /** Among all element siblings. */
  placeOf(element: Element): SiblingPlace {
    return placeIn(this.#all, element, placesOf);
  }

  /** Among the siblings of the same name. */
  placeOfType(element: Element): SiblingPlace {
    return placeIn(this.#ofType, element, placesByName);
  }
}

function placeIn(
  counted: Map<AnyNode, Map<Element, SiblingPlace>>,
  element: Element,
  count: (siblings: readonly Element[]) => Map<Element, SiblingPlace>,
): SiblingPlace {
  const key = element.parent ?? element;
  let places = counted.get(key);
  if (places === undefined) {
    places = count(DomUtils.getSiblings(element).filter(isTag));
    counted.set(key, places);
  }
  return places.get(element)!;
}

function placesOf(
  siblings: readonly Element[],
  places = new Map<Element, SiblingPlace>(),
): Map<Element, SiblingPlace> {
  for (const [index, sibling] of siblings.entries()) {
    places.set(sibling, { index, indexFromEnd: siblings.length - 1 - index });
  }
  return places;
}

function placesByName(siblings: readonly Element[]): Map<Element, SiblingPlace> {
  const byName = new Map<string, Element[]>();
  for (const sibling of siblings) {
    const named = byName.get(sibling.name);
    if (named === undefined) byName.set(sibling.name, [sibling]);
    else named.push(sibling);
  }
  const places = new Map<Element, SiblingPlace>();
  for (const named of byName.values()) placesOf(named, places);
  return places;
}
