/** Variables of the environment that look like settings and are none. They have no effect, which nobody would notice. */
import { nearest } from '../nearest.js';

const MAX_EDITS = 2;
/** Of short names too many are near to each other. */
const MIN_LENGTH = 8;

/**
 * A warning for each variable that begins with the first word of a setting and is a misspelling of it, or is its name with
 * `_FILE`, as some images read secrets.
 * @param names of all settings
 */
export function environmentTypos(env: Readonly<Record<string, unknown>>, names: readonly string[]): string[] {
  return Object.keys(env).flatMap((name) => {
    const word = firstWord(name);
    if (word === null || name.length < MIN_LENGTH || names.includes(name)) return [];
    const ofFile = name.replace(/_FILE$/, '');
    if (ofFile !== name && names.includes(ofFile)) {
      return [
        `the environment: ${name} has no effect: set ${ofFile}, for example ${ofFile}="$(cat FILE)" in the command that starts crawlnode`,
      ];
    }
    const alike = names.filter((each) => firstWord(each) === word);
    const [meant] = nearest(name, alike, 1, MAX_EDITS);
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
