/** `-a name=value`, which may repeat. */
import { InvalidArgumentError } from 'commander';

export type Pairs = Record<string, string>;

/** An argument parser for commander that adds a pair to the previous ones. */
export function addPair(text: string, pairs: Pairs = {}): Pairs {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Expected name=value.');
  const name = text.slice(0, at);
  if (Object.hasOwn(pairs, name)) throw new InvalidArgumentError(`${name} is given twice.`);
  return { ...pairs, [name]: text.slice(at + 1) };
}
