/** Regular expressions by which users select URLs. */
import { UsageError } from '../../errors.js';

/** A regular expression, its source as text, or a list of them. */
export type Patterns = RegExp | string | readonly (RegExp | string)[];

/**
 * The regular expression of a glob, as wherever patterns of URLs are taken: `*` is any text without a slash, `**` any text,
 * `{a,b}` one of several; all else stands for itself, whatever its case.
 * ```ts
 * yield* response.followAll(response.links({ allow: glob('https://shop.example/product/*') }), this.parseProduct);
 * ```
 * @param pattern of the whole URL
 */
export function glob(pattern: string): RegExp {
  const source = pattern.replace(/\*\*\/|\*\*|\*|\{[^{}]*\}|[^*{]+|\{/g, (part) => {
    if (part === '**/') return '(?:.*/)?';
    if (part === '**') return '.*';
    if (part === '*') return '[^/]*';
    if (!part.startsWith('{') || part === '{') return literal(part);
    return `(?:${part.slice(1, -1).split(',').map(literal).join('|')})`;
  });
  return new RegExp(`^${source}$`, 'i');
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

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
