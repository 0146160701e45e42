/** Functions of one statement are put where they are called, unless that would change what a script does. */
import { describe, expect, it } from 'vitest';
import { inlineScript } from '../src/frontier/redis/inline-script.js';

const declared = (text: string) => ({
  text,
  names: [/^local (?:function )?(\w+)/.exec(text)?.[1] as string],
});

function inlined(parts: readonly string[], verb: string): string {
  const script = inlineScript(parts.map(declared), verb);
  return [...script.declarations.map(({ text }) => text), script.verb].join('\n');
}

describe('a function of one statement', () => {
  it('that returns a value becomes that value, and is declared no more', () => {
    expect(inlined(['local function double(n) return n + n end'], 'return 2 * double(count)')).toBe(
      'return 2 * (count + count)',
    );
  });

  it('that does something becomes a statement, also within another that is put in its place', () => {
    const parts = [
      'local function note(d) d[1] = true end',
      'local function move(d)\n  note(d)\nend',
      'local function all() for i = 1, 2 do move(ds[i]) end end',
    ];
    expect(inlined(parts, 'all()')).toBe(
      'local function all() for i = 1, 2 do ds[i][1] = true end end\nall()',
    );
  });

  it('takes what is computed for it once only, and only where it uses it once', () => {
    const twice = 'local function twice(n) return n + n end';
    const once = "local function once(n) return 'n, ' .. n end";
    expect(inlined([twice], 'return twice(next())')).toBe(`${twice}\nreturn twice(next())`);
    expect(inlined([once], 'return once(next())')).toBe("return ('n, ' .. (next()))");
  });

  it('is called where a name in it means something else', () => {
    const parts = ['local total = 1', 'local function isTotal(n) return n == total end'];
    const verb = 'local total = 2\nreturn isTotal(total)';
    expect(inlined(parts, verb)).toBe([...parts, verb].join('\n'));
  });

  it('is called with several values of another call', () => {
    const pair = 'local function pair(a, b) return a .. b end';
    expect(inlined([pair], 'return pair(both())')).toBe(`${pair}\nreturn pair(both())`);
    expect(inlined([pair], "return pair('x, y)', b)")).toBe("return ('x, y)' .. b)");
  });
});
