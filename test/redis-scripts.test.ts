/** How the scripts are put together: what a call does not come to is not made, and every script is one that Redis takes. */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Dupefilter } from '../src/frontier/frontier.js';
import { deferRareFunctions } from '../src/frontier/redis/rare-functions.js';
import { luaFolder, scriptOf, type Verb } from '../src/frontier/redis/scripts.js';
import { trimScript } from '../src/frontier/redis/trim-script.js';
import { redisOfFile } from './helpers/redis-of-file.js';

const { admin } = await redisOfFile();

const parts = [
  `local made, sum = {}, 0
local BY = 2
local function twice(n) return n * BY end
local function addTwice(n) -- rarely: adding
  made[#made + 1] = 'addTwice'
  sum = sum + twice(n)
end
local function half(n) return n / BY end
local function takeHalf(n) -- rarely: taking
  addTwice(-half(half(n)))
end
local function add(n)
  if n > 0 then addTwice(n) else takeHalf(-n) end
  return sum
end`,
];

function parted(verb: string): ReturnType<typeof deferRareFunctions> {
  const { declarations, verb: body } = trimScript(parts, verb);
  return deferRareFunctions(declarations, body);
}

const verdict = (verb: string): Promise<unknown> => {
  const { declarations, verb: body } = parted(verb);
  return admin.eval([...declarations.map(({ text }) => text), body].join('\n'), 0);
};

describe('a script', () => {
  it('does the same whether its functions are made at once or when they are called', async () => {
    expect(await verdict('return add(3)')).toBe(6);
    expect(await verdict('add(3)\nreturn add(4)')).toBe(14);
    expect(await verdict('add(3)\nreturn { add(-8), #made, made[1] }')).toEqual([2, 2, 'addTwice']);
    expect(await verdict('addTwice(3)\ntakeHalf(8)\nreturn { sum, #made }')).toEqual([2, 2]);
  });

  it('makes of functions that are rarely called, and of what only they need, none before', () => {
    const { declarations, verb } = parted("return add(1) .. 'half'");
    expect(declarations.flatMap(({ names }) => names)).toEqual(['rare', 'made', 'sum', 'add']);
    expect(verb).toMatch(/function make_taking\(\)\nlocal function half/);
    expect(verb).toMatch(/return add\(1\) \.\. 'half'$/);
  });

  it('makes those at once that the verb itself calls', () => {
    const { declarations } = parted('takeHalf(1)');
    expect(declarations.map(({ names }) => names)).toContainEqual(['takeHalf']);
  });

  it('has no two declarations of a name', () => {
    const { declarations } = trimScript(
      [...parts, 'local function twice(n) return n end'],
      'return twice(1)',
    );
    expect(() => deferRareFunctions(declarations, 'return twice(1)')).toThrow('two parts declare twice');
  });

  it('of every verb is one that Redis takes, with every dupefilter', async () => {
    const dupefilters: Dupefilter[] = [
      { class: 'RFPDupeFilter' },
      { class: 'TimedRFPDupeFilter', expireMs: 1000 },
      { class: 'StateDupeFilter' },
      { class: 'CompactDupeFilter' },
      { class: 'BloomDupeFilter', capacity: 1000, errorRate: 0.001 },
    ];
    const verbs = readdirSync(luaFolder).filter((file) => file.endsWith('.lua'));
    for (const dupefilter of dupefilters) {
      for (const verb of verbs) {
        const { source, sha } = scriptOf(verb.slice(0, -'.lua'.length) as Verb, dupefilter);
        expect(await admin.script('LOAD', source)).toBe(sha);
      }
    }
  });
});
