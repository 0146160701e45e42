/** Regular expressions by which users select URLs. */
import { UsageError } from '../../errors.js';

/** A regular expression, its source as text, or a list of them. */
export type Patterns = RegExp | string | readonly (RegExp | string)[];

/**
 * Whether one of the patterns matches, anywhere in an absolute URL.
 * @param where the patterns were given, for the message. @throws UsageError for a text that is no regular expression.
 */
export function matcher(patterns: Patterns, where: string): (url: string) => boolean {
  const list = Array.isArray(patterns) ? patterns : [patterns];
  const expressions = list.map((pattern) => compileOne(pattern, where));
  return (url) => expressions.some((expression) => expression.test(url));
}

function compileOne(pattern: RegExp | string, where: string): RegExp {
  try {
    // With the flags g or y, a test would start where the last match ended.
    if (pattern instanceof RegExp) {
      return /[gy]/.test(pattern.flags)
        ? new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''))
        : pattern;
    }
    return new RegExp(pattern);
  } catch (cause) {
    throw new UsageError(`${where}: ${(cause as Error).message}`, { cause });
  }
}
