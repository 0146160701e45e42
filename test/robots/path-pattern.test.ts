/** Path patterns of robots.txt against a regular expression that says the same. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesPath, parsePathPattern } from '../../src/robots/path-pattern.js';

const letters = (alphabet: readonly string[], maxLength: number) =>
  fc.array(fc.constantFrom(...alphabet), { maxLength }).map((all) => all.join(''));

describe('a path pattern', () => {
  it('matches what the same regular expression matches', () => {
    fc.assert(
      fc.property(letters(['a', 'b', '*', '$'], 8), letters(['a', 'b', '$'], 10), (pattern, path) => {
        const body = pattern.replace(/\$$/, '').replace(/[$]/g, '\\$').replace(/\*+/g, '.*');
        const expected = new RegExp(`^${body}${pattern.endsWith('$') ? '$' : ''}`, 's').test(path);
        expect(matchesPath(parsePathPattern(pattern), path)).toBe(expected);
      }),
      { numRuns: 5_000 },
    );
  });

  it('of 50,000 wildcards is decided for a path of 50,000 characters', () => {
    const pattern = parsePathPattern(`/${'a*'.repeat(50_000)}x$`);
    expect(matchesPath(pattern, `/${'a'.repeat(50_000)}`)).toBe(false);
  });
});
