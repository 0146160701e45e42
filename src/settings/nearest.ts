/** Names near to a mistyped one, for every "did you mean". */
import { distance } from 'fastest-levenshtein';

/**
 * Up to `max` of the names that the word may be a mistyped form of, nearest first; case does not count. A name is near within
 * a third of the word's length in edits, at least one; two letters in each other's place count as one.
 */
export function nearest(word: string, names: Iterable<string>, max = 1): string[] {
  const wanted = word.slice(0, 100).toLowerCase();
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  return [...names]
    .map((name) => ({ name, edits: editsBetween(wanted, name.toLowerCase()) }))
    .filter(({ edits }) => edits <= limit)
    .sort((a, b) => a.edits - b.edits || a.name.localeCompare(b.name))
    .slice(0, max)
    .map(({ name }) => name);
}

function editsBetween(one: string, other: string): number {
  const edits = distance(one, other);
  const isSwap = edits === 2 && one.length === other.length && sorted(one) === sorted(other);
  return isSwap ? 1 : edits;
}

const sorted = (text: string) => [...text].sort().join('');

/** `; did you mean a or b?`, or nothing when no name is near. */
export function didYouMean(word: string, names: Iterable<string>, max = 1): string {
  const near = nearest(word, names, max);
  return near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`;
}
