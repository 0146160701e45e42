/** What downloader middleware may change in place, and what it may not. */
import { describe, expect, it } from 'vitest';
import { outgoingRequest } from '../../../src/http/message/outgoing-request.js';
import { Request } from '../../../src/http/message/request.js';

describe('a request on its way through middleware', () => {
  const stored = new Request('http://a.example/', { headers: { 'X-A': '1' }, meta: { n: 1 } });

  it('takes headers, cookies and meta, and the stored request stays as it is', () => {
    const outgoing = outgoingRequest(stored);
    outgoing.headers['x-a'] = '2';
    outgoing.cookies = { session: '1' };
    (outgoing.meta as Record<string, unknown>).n = 2;
    expect(outgoing).toMatchObject({ cookies: { session: '1' }, meta: { n: 2 } });
    expect(outgoing.headers['X-A']).toBe('2');
    expect(stored).toMatchObject({ headers: { 'X-A': '1' }, cookies: null, meta: { n: 1 } });
  });

  it.each(['url', 'method', 'body', 'meta', 'headers', 'priority', 'callback', 'dontFilter'])(
    'refuses another %s',
    (name) => {
      const outgoing = outgoingRequest(stored) as unknown as Record<string, unknown>;
      expect(() => {
        outgoing[name] = null;
      }).toThrow(TypeError);
    },
  );

  it('is copied by replace() with its changes', () => {
    const outgoing = outgoingRequest(stored);
    outgoing.headers['X-B'] = '2';
    expect(outgoing.replace({ url: 'http://b.example/' })).toMatchObject({
      url: 'http://b.example/',
      headers: { 'x-a': '1', 'x-b': '2' },
    });
  });
});
