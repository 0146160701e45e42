/**
 * Counts the values of a JSON text before it is parsed: 60 MB of `{},` would take 1.9 GB. Only texts that may be over the limit
 * are read, which takes a tenth of the time of parsing them.
 */
import type { NodeBudget } from './node-budget.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;
const BRACE_END = 0x7d;

/** An array or object takes the memory of two values: it, and the place of its elements. */
const VALUES_PER_LIST = 2;
/**
 * V8 describes the names of an object for all objects with the same names. 594,000 names, 60 in an object and each of them only once,
 * took 450 MB to parse. An object with more names than these is a table instead, where a name takes no more than a value.
 */
const VALUES_PER_NEW_NAME = 8;
const DESCRIBED_NAMES = 128;
/** The shortest text for its values: in `"abc":1,` the name counts as ten. */
const MOST_VALUES_PER_CHARACTER = 2;

/** @throws TooComplexError when there are more values than the budget has */
export function spendJsonValues(text: string, budget: NodeBudget): void {
  if (text.length * MOST_VALUES_PER_CHARACTER <= budget.most) return;
  const names = new SeenNames();
  /** Of each object that is open: how many names it has so far. */
  const open: number[] = [];
  let stringFrom = 0;
  let stringTo = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      stringFrom = at + 1;
      stringTo = stringEnd(text, stringFrom);
      at = stringTo;
    } else if (code === COMMA) budget.spend(1);
    else if (code === COLON) {
      const count = (open.pop() ?? 0) + 1;
      open.push(count);
      const isNew = count <= DESCRIBED_NAMES && names.add(text, stringFrom, stringTo);
      budget.spend(isNew ? 1 + VALUES_PER_NEW_NAME : 1);
    } else if (code === BRACKET || code === BRACE) {
      budget.spend(VALUES_PER_LIST);
      if (code === BRACE) open.push(0);
    } else if (code === BRACE_END) open.pop();
  }
}

const HASH_BITS = 22;

/** Which names were seen, by a hash: of half a million, some thousands are taken for ones that were seen. */
class SeenNames {
  readonly #bits = new Uint8Array(2 ** (HASH_BITS - 3));

  /** @param from where the name begins in the text, and `to` where it ends @returns whether it is new */
  add(text: string, from: number, to: number): boolean {
    let hash = 0;
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    const bit = (hash ^ (hash >>> HASH_BITS)) & (2 ** HASH_BITS - 1);
    const mask = 1 << (bit & 7);
    const isNew = (this.#bits[bit >> 3]! & mask) === 0;
    this.#bits[bit >> 3]! |= mask;
    return isNew;
  }
}

/** The index of the quote that ends a string; the length of the text where none does. */
function stringEnd(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end !== -1; end = text.indexOf('"', end + 1)) {
    let start = end;
    while (start > from && text.charCodeAt(start - 1) === BACKSLASH) start -= 1;
    if ((end - start) % 2 === 0) return end;
  }
  return text.length;
}
