/** Fields that no item of a spider has a value for: often a misspelt property, or a selector that matches nothing. */
import type { Spider } from './spider.js';

/** Few items may rightly have null in a field, and null is seen in them. An undefined field is not seen, so one item is enough. */
const MANY_ITEMS = 10;
/** Items that have more names than this in all use data as names. */
const MAX_NAMES = 200;

interface Fields {
  items: number;
  readonly filled: Set<string>;
  /** Fields without a value so far, and whether one of them was undefined. */
  readonly empty: Map<string, boolean>;
}

const fieldsBySpider = new WeakMap<Spider, Fields>();

/** @param item as it was yielded: its copy has no undefined fields */
export function noteFields(spider: Spider, item: object): void {
  let fields = fieldsBySpider.get(spider);
  if (fields === undefined) {
    fields = { items: 0, filled: new Set(), empty: new Map() };
    fieldsBySpider.set(spider, fields);
  }
  const { filled, empty } = fields;
  fields.items += 1;
  if (filled.size + empty.size > MAX_NAMES) return;
  for (const [name, value] of Object.entries(item)) {
    if (filled.has(name)) continue;
    if (value === undefined || value === null) {
      empty.set(name, value === undefined || empty.get(name) === true);
    } else {
      filled.add(name);
      empty.delete(name);
    }
  }
}

/** The names of the fields that had a value in no item of this spider, which is one of a node. */
export function fieldsWithoutValue(spider: Spider): string[] {
  const fields = fieldsBySpider.get(spider);
  if (fields === undefined || fields.filled.size + fields.empty.size > MAX_NAMES) return [];
  const isMany = fields.items >= MANY_ITEMS;
  return [...fields.empty].flatMap(([name, wasUndefined]) => (wasUndefined || isMany ? [name] : []));
}
