/** A number of things, as an option takes it. */
import { InvalidArgumentError } from 'commander';

/** Parses one for commander. */
export function atLeastOne(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 1) return number;
  throw new InvalidArgumentError('Expected a whole number, at least 1.');
}
