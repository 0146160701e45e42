/** Variables of the environment that look like settings and are none. They have no effect, which nobody would notice. */
import { nearest } from '../nearest.js';

/** Of short names too many are near to each other. */
const MIN_LENGTH = 8;
/** Variables of other programs seldom begin with the first word of a setting, so two edits are a misspelling then. */
const EDITS_WITH_SAME_WORD = 2;
/** In long names two edits are a misspelling also where the first word is misspelt; in others only one is. */
const LONG_NAME = 16;

/**
 * A warning for each variable that is a misspelling of a setting, or is its name with `_FILE`, as some images read secrets, or with
 * `CRAWLNODE_` before it.
 * @param names of all settings
 */
export function environmentTypos(env: Readonly<Record<string, unknown>>, names: readonly string[]): string[] {
  return Object.keys(env).flatMap((name) => {
    const word = firstWord(name);
    if (word === null || name.length < MIN_LENGTH || /[a-z]/.test(name) || names.includes(name)) return [];
    const wanted = name.replace(/^CRAWLNODE_|_FILE$/, '');
    if (wanted !== name && names.includes(wanted)) {
      const how = name.endsWith('_FILE')
        ? `, for example ${wanted}="$(cat FILE)" in the command that starts crawlnode`
        : '';
      return [`the environment: ${name} has no effect: set ${wanted}${how}`];
    }
    const alike = names.filter((each) => firstWord(each) === word);
    const [meant] = [
      ...nearest(name, alike, 1, EDITS_WITH_SAME_WORD),
      ...nearest(name, names, 1, name.length < LONG_NAME ? 1 : 2),
    ];
    return meant === undefined
      ? []
      : [`the environment: ${name} is not a setting and has no effect; did you mean ${meant}?`];
  });
}

/** `REDIS` of `REDIS_URL`; null where there is only one word. */
function firstWord(name: string): string | null {
  const end = name.indexOf('_');
  return end < 1 ? null : name.slice(0, end);
}
