/** What the module of REQUEST_MODULE answers, and which answers are refused. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Request } from '../../../src/http/message/request.js';
import {
  isRequestModuleError,
  LoadedRequestModule,
  type RequestModule,
} from '../../../src/http/message/request-module.js';

const request = new Request('http://a.example/product?id=7', { priority: 3 });
const load = (members: object) =>
  new LoadedRequestModule('./requests.ts', { id: 'v1', ...members } as RequestModule);
const refusal = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    expect(isRequestModuleError(error)).toBe(true);
    return (error as Error).message;
  }
  throw new Error('nothing was refused');
};

describe('fingerprint', () => {
  const of = (given: unknown) => load({ fingerprint: () => given }).fingerprint!(request);

  it('a text is hashed, 40 hex digits and 20 bytes are the fingerprint', () => {
    expect(of('product 7')).toBe(createHash('sha1').update('product 7').digest('hex'));
    expect(of('AB'.repeat(20))).toBe('ab'.repeat(20));
    expect(of(new Uint8Array(20).fill(255))).toBe('ff'.repeat(20));
  });

  it.each([
    ['', '""'],
    [undefined, 'undefined'],
    [null, 'null'],
    [7, '7'],
    [new Uint8Array(19), '19 bytes'],
    [Promise.resolve('x'), 'a promise'],
    [{}, 'an object'],
  ])('%j is refused', (given, shown) => {
    expect(refusal(() => of(given))).toBe(
      `fingerprint() of ./requests.ts gave ${shown}; it must give a text that is not empty, or 20 bytes`,
    );
  });

  it('an error in it names the module', () => {
    const { fingerprint } = load({
      fingerprint: () => {
        throw new TypeError('no id');
      },
    });
    expect(refusal(() => fingerprint!(request))).toBe('fingerprint() of ./requests.ts threw an error: no id');
  });
});

describe('priority', () => {
  it('gets the request and its depth', () => {
    const { priority } = load({
      priority: (of: Request, { depth }: { depth: number }) => of.priority * 10 + depth,
    });
    expect(priority!(request, 2)).toBe(32);
    expect(Object.is(load({ priority: () => -0 }).priority!(request, 0), 0)).toBe(true);
  });

  it.each([1.5, Number.NaN, 2 ** 31, -(2 ** 31) - 1, '5', undefined, Promise.resolve(1)])(
    '%j is refused',
    (given) => {
      expect(refusal(() => load({ priority: () => given }).priority!(request, 0))).toContain(
        'it must give a whole number from -2147483648 to 2147483647',
      );
    },
  );
});

it('is one of the two, or both', () => {
  expect(load({ priority: () => 1 })).toMatchObject({ fingerprint: null });
  expect(load({ fingerprint: () => 'x' })).toMatchObject({ priority: null });
  expect(JSON.stringify({ module: load({ priority: () => 1 }) })).toBe('{"module":"./requests.ts"}');
});
