/** Option values that are a positive count. */
import { InvalidArgumentError } from 'commander';

/** An argument parser for commander. */
export function atLeastOne(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 1) return number;
  throw new InvalidArgumentError('Expected a whole number, at least 1.');
}
