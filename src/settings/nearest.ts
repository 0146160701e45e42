/** Find the names nearest to a mistyped one, for "did you mean" hints. */
import { distance } from 'fastest-levenshtein';

/**
 * Up to `max` names that the word may be a misspelling of, nearest first, ignoring case. A name is near when its edit
 * distance is at most a third of the length of the word, and at least one edit is allowed. Two swapped letters are one edit.
 * @param maxEdits a lower limit
 */
export function nearest(word: string, names: Iterable<string>, max = 1, maxEdits = Infinity): string[] {
  const wanted = word.slice(0, 100).toLowerCase();
  const limit = Math.min(maxEdits, Math.max(1, Math.floor(wanted.length / 3)));
  return [...names]
    .map((name) => ({ name, edits: editsBetween(wanted, name.toLowerCase(), limit) }))
    .filter(({ edits }) => edits <= limit)
    .sort((a, b) => a.edits - b.edits || a.name.localeCompare(b.name))
    .slice(0, max)
    .map(({ name }) => name);
}

/** Infinity where there are surely more than `limit`: most names are told apart by their length. */
function editsBetween(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) > limit) return Number.POSITIVE_INFINITY;
  const edits = distance(one, other);
  const isSwap = edits === 2 && one.length === other.length && sortedLetters(one) === sortedLetters(other);
  return isSwap ? 1 : edits;
}

const sortedLetters = (text: string) => [...text].sort().join('');

/** `; did you mean a or b?`, or nothing when no name is near. */
export function didYouMean(word: string, names: Iterable<string>, max = 1): string {
  const near = nearest(word, names, max);
  return near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`;
}
