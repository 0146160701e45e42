/** Parsers of option values, for commander. */
import { InvalidArgumentError } from 'commander';

/** A positive count. */
export function atLeastOne(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 1) return number;
  throw new InvalidArgumentError('Expected a whole number, at least 1, such as 20 or 1e6.');
}

/** A rate, or another number that need not be whole. */
export function aboveZero(text: string): number {
  const number = Number(text);
  if (Number.isFinite(number) && number > 0) return number;
  throw new InvalidArgumentError('Expected a number above 0, such as 2000 or 0.5.');
}

/** A port to listen on; 0 is any free one. */
export function portNumber(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('Expected a whole number from 0 to 65535.');
}

/** A list with commas, whose option may also be repeated. */
export function commaList(text: string, before?: string): string {
  return before === undefined ? text : `${before},${text}`;
}

/** An option that may be repeated. Adds to the list itself: with a copy for each value, tens of thousands would take seconds. */
export function collect(text: string, all: string[] = []): string[] {
  all.push(text);
  return all;
}

export type Pairs = Record<string, string>;

/** `name=value`, whose option may be repeated. Like `collect`, it adds to `pairs` itself. */
export function addPair(text: string, pairs: Pairs = {}): Pairs {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Expected name=value.');
  const name = text.slice(0, at);
  if (Object.hasOwn(pairs, name)) throw new InvalidArgumentError(`${name} is given twice.`);
  // Not an assignment, which would set the prototype where the name is __proto__.
  Object.defineProperty(pairs, name, {
    ...{ value: text.slice(at + 1), enumerable: true, writable: true, configurable: true },
  });
  return pairs;
}
