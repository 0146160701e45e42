/** The refresh rules of a spider: what they match, their periods, and what is said of rules that are none. */
import { describe, expect, it } from 'vitest';
import { Request } from '../../src/http/message/request.js';
import { inRun, linkRules, runFor } from '../../src/node/links/filter-links.js';
import { Refresh } from '../../src/spider/refresh.js';

const LIST = 'https://a.example/list/1';
const FINGERPRINT = 'f'.repeat(40);
const refresh = (...rules: unknown[]) => new Refresh(rules, 'news');
const inPeriod = (rules: Refresh, url: string, run: string, atS: number) =>
  rules.inPeriod(FINGERPRINT, url, run, atS * 1000);

describe('a refresh rule', () => {
  it('leaves alone what it does not match, in patterns of any kind', () => {
    for (const allow of [/\/list\//, '/list/', [/nothing/, '/list/'], /\/list\//g]) {
      const rules = refresh({ allow });
      for (const _ of [1, 2]) expect(rules.matches(LIST)).toBe(true);
      expect(inPeriod(rules, 'https://a.example/page/1', 'one', 0)).toBe(FINGERPRINT);
      expect(inPeriod(rules, LIST, 'one', 0)).toMatch(/^[0-9a-f]{40}$/);
    }
  });

  it('without "every" makes a request new once a run', () => {
    const rules = refresh({ allow: /list/ });
    expect(inPeriod(rules, LIST, 'one', 0)).toBe(inPeriod(rules, LIST, 'one', 10_000_000));
    expect(inPeriod(rules, LIST, 'one', 0)).not.toBe(inPeriod(rules, LIST, 'two', 0));
  });

  it('with "every" makes a request new once in each period, whatever the run', () => {
    const rules = refresh({ allow: /list/, every: 60 });
    expect(inPeriod(rules, LIST, 'one', 120)).toBe(inPeriod(rules, LIST, 'two', 179.9));
    expect(inPeriod(rules, LIST, 'one', 120)).not.toBe(inPeriod(rules, LIST, 'one', 180));
    expect(rules.periodOf(LIST, 'one', 150_000)).toBe('60 s from 1970-01-01T00:02:00.000Z');
  });

  it('goes before those that follow it', () => {
    const rules = refresh({ allow: /list\/1$/ }, { allow: /list/, every: 60 });
    expect(rules.periodOf(LIST, 'one', 0)).toBe('run one');
    expect(rules.periodOf('https://a.example/list/2', 'one', 0)).toMatch(/^60 s/);
  });

  it.each([
    [/list/, 'must be a list of rules'],
    [[/list/], 'refresh[0] of the spider "news" must be an object'],
    [['list'], 'must be an object'],
    [
      [{ allow: /a/ }, { alow: /list/ }],
      'refresh[1] of the spider "news" has no field "alow"; did you mean allow?',
    ],
    [[{}], 'allow must be a regular expression'],
    [[{ allow: [] }], 'allow must be a regular expression'],
    [[{ allow: [7] }], 'allow must be a regular expression'],
    [[{ allow: '(' }], 'Unterminated group'],
    [[{ allow: /a/, every: 0 }], 'every must be a number of seconds above 0, not 0'],
    [[{ allow: /a/, every: '60' }], 'every must be a number of seconds'],
    [[{ allow: /a/, every: Number.NaN }], 'every must be a number of seconds'],
  ])('that is none is refused with what it should be: %o', (rules, message) => {
    expect(() => new Refresh(rules, 'news')).toThrow(message);
    expect(() => new Refresh(rules, 'news')).toThrow(expect.objectContaining({ code: 'spider' }));
  });
});

describe('the rules of a spider in a run', () => {
  const options = {
    depthLimit: 0,
    depthPriority: 0,
    urlLengthLimit: 0,
    fingerprint: () => FINGERPRINT,
    proxyFromSeeds: false,
    allowPrivateAddresses: true,
  };
  const request = new Request(LIST);

  it("mix the period into the fingerprint, be it the spider's own", () => {
    const own = { name: 'news', refresh: [{ allow: /list/ }], fingerprint: () => 'a'.repeat(40) };
    const rules = linkRules(own, options, 'host', null);
    expect(rules.fingerprint(request)).toBe('a'.repeat(40));
    const [one, two] = ['one', 'two'].map((run) => inRun(rules, run).fingerprint(request));
    expect(one).toMatch(/^[0-9a-f]{40}$/);
    expect(new Set(['a'.repeat(40), one, two]).size).toBe(3);
  });

  it('are the same where the spider has none', () => {
    const rules = linkRules({ name: 'news' }, options, 'host', null);
    expect(inRun(rules, 'one')).toBe(rules);
  });

  it('of what is pushed from outside are those of the run that is on, or of the time after the last', () => {
    const counts = { pages: 0, items: 0, failed: 0, errorPages: 0, counters: {}, hasGoodPage: false };
    const run = { id: 'one', startedAt: 0, ...counts, endedAt: null };
    expect(runFor(null)).toBe('');
    expect(runFor({ ...run, closed: null })).toBe('one');
    expect(runFor({ ...run, closed: 'finished' })).toBe('after one');
  });
});
