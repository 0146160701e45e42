/** What a node makes of a dupefilter follows from its description alone, for every class. */
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { refuseIncompatible } from '../../src/cli/backup/backup-compatibility.js';
import { classOf, expires, expiresAt } from '../../src/frontier/dupefilter-classes.js';
import { Request } from '../../src/http/message/request.js';
import { seenLinksOf } from '../../src/node/links/seen-links.js';
import { conditionalRequestsOf } from '../../src/node/recrawl/conditional-requests.js';
import { comesAgain } from '../../src/node/seeds/seed-requests.js';
import { everyDupefilter } from '../helpers/frontier/every-dupefilter.js';
import { defaultShape } from '../helpers/open-options.js';

const page = new Request('http://a.example/');
const fingerprint = () => '';

describe.each(everyDupefilter)('a $class', (dupefilter) => {
  const comesBack = expires(dupefilter);

  it(comesBack ? 'has start pages pushed again' : 'has start pages pushed once', () => {
    expect(comesAgain({ fingerprint } as never, dupefilter)(page)).toBe(comesBack);
  });

  it(`has ${comesBack ? '' : 'no '}conditional requests`, () => {
    const deps = { frontier: { validators: async () => [] }, refresh: null, fingerprint };
    const found = conditionalRequestsOf({ ...deps, dupefilter, log: pino({ level: 'silent' }) });
    expect(found !== null).toBe(comesBack);
  });

  it('takes a link for seen only before its fingerprint expires', () => {
    const seen = seenLinksOf({}, dupefilter)!;
    // Like a page, it asks by the monotonic clock. Only the expiry is an instant of the calendar.
    const nowMs = performance.now();
    const dateMs = Date.now();
    seen.learn([{ found: { request: page } }], '1', { sentMs: nowMs, nowMs });
    seen.age(nowMs);
    expect(seen.has(page)).toBe(true);
    seen.age(nowMs + (expiresAt(dupefilter, dateMs) ?? dateMs + 365 * 86_400_000) - dateMs);
    expect(seen.has(page)).toBe(!comesBack);
  });

  it('gives its fingerprints to another class only when they are complete', () => {
    const backup = { shape: { ...defaultShape, dupefilter }, bloomEngine: null } as never;
    for (const other of everyDupefilter) {
      const restore = () =>
        refuseIncompatible(backup, ['dupefilter'], { ...defaultShape, dupefilter: other }, 'redis');
      if (other === dupefilter || classOf(dupefilter).isExact) expect(restore).not.toThrow();
      else expect(restore).toThrow(/does not store complete fingerprints/);
    }
  });
});
