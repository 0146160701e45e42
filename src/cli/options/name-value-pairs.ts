/** `-a name=value`, as often as given. */
import { InvalidArgumentError } from 'commander';

export type Pairs = Record<string, string>;

/** Collects one more pair, for commander. */
export function addPair(text: string, pairs: Pairs = {}): Pairs {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Expected name=value.');
  return { ...pairs, [text.slice(0, at)]: text.slice(at + 1) };
}
