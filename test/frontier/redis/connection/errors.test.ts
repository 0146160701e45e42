/** Which errors of a call to Redis are worth another try. */
import { describe, expect, it } from 'vitest';
import { translate, unreachable } from '../../../../src/frontier/redis/connection/errors.js';

describe('a server that cannot be used as Redis', () => {
  const at = (url: string) => ({ kind: 'standalone' as const, url, options: {} });
  const of = (url: string, message: string) => unreachable(at(url), new Error(message), 5_000);

  it('is told by what it may be: another protocol, no TLS, no such database', () => {
    const http = 'Protocol error, got "H" as reply type byte. Please report this.';
    expect(of('redis://a.example:80', http).message).toContain('what answers there is no Redis;');
    expect(of('rediss://a.example', 'no connection').message).toContain('and speaks TLS (rediss:// asks');
    expect(of('redis://a.example', 'no connection').message).not.toContain('TLS');
    const database = of('redis://a.example/99', 'ERR DB index is out of range');
    expect(database).toMatchObject({ message: expect.stringContaining('check REDIS_DB') });
    expect(database.code).not.toBe('unauthorized');
    expect(of('redis://a.example', 'NOAUTH Authentication required').code).toBe('unauthorized');
  });
});

describe('a call to Redis that fails', () => {
  it('is repeated where the connection broke, and not where it could never be sent', () => {
    expect(translate(new Error('Connection is closed.'))).toBeNull();
    const tooLarge = new RangeError('Maximum call stack size exceeded');
    expect(translate(tooLarge)).toBe(tooLarge);
  });
});
