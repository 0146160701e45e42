/** Options that may be repeated. */
import { expect, it } from 'vitest';
import { addPair, collect } from '../../../src/cli/options/option-parsers.js';

it('are added to one list, not to a copy for each', () => {
  const [pairs, all] = [addPair('a=1'), collect('a')];
  expect(addPair('__proto__=2', pairs)).toBe(pairs);
  expect(Object.entries(pairs)).toEqual([
    ['a', '1'],
    ['__proto__', '2'],
  ]);
  expect(() => addPair('a=2', pairs)).toThrow('a is given twice');
  expect(collect('b', all)).toBe(all);
  expect(all).toEqual(['a', 'b']);
});
