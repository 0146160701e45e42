/** Names near to a mistyped one, for every "did you mean". */
import { distance } from 'fastest-levenshtein';

/** Up to `max` of the names within a third of the word's length in edits, nearest first; case does not count. */
export function nearest(word: string, names: Iterable<string>, max = 1): string[] {
  const wanted = word.slice(0, 100).toLowerCase();
  const limit = Math.max(2, Math.floor(wanted.length / 3));
  return [...names]
    .map((name) => ({ name, edits: distance(wanted, name.toLowerCase()) }))
    .filter(({ edits }) => edits <= limit)
    .sort((a, b) => a.edits - b.edits || a.name.localeCompare(b.name))
    .slice(0, max)
    .map(({ name }) => name);
}

/** `; did you mean a or b?`, or nothing when no name is near. */
export function didYouMean(word: string, names: Iterable<string>, max = 1): string {
  const near = nearest(word, names, max);
  return near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`;
}
