/** Which errors of a call to Redis are worth another try. */
import { describe, expect, it } from 'vitest';
import { translate } from '../../../../src/frontier/redis/connection/errors.js';

describe('a call to Redis that fails', () => {
  it('is repeated where the connection broke, and not where it could never be sent', () => {
    expect(translate(new Error('Connection is closed.'))).toBeNull();
    const tooLarge = new RangeError('Maximum call stack size exceeded');
    expect(translate(tooLarge)).toBe(tooLarge);
  });
});
