/** What each method of a spider middleware sees and may do. */
import { describe, expect, it } from 'vitest';
import { IgnoreRequest } from '../../../src/errors.js';
import { Request } from '../../../src/http/message/request.js';
import type { Response } from '../../../src/http/message/response.js';
import type { SpiderMiddleware } from '../../../src/node/middleware/spider-middleware.js';
import type { Failure } from '../../../src/spider/run-callback.js';
import { crawlThrough, page, status } from './chains.js';

const home = { '/': page('<a href=/a>') };
const twoItems = {
  *parse() {
    yield [{ n: 1 }, { n: 2 }];
  },
};
const failing = {
  *parse() {
    yield { n: 1 };
    throw new RangeError('half way');
  },
};

const tagging = (calls: string[], name: string): SpiderMiddleware => ({
  processSpiderInput: () => void calls.push(`input ${name}`),
  async *processSpiderOutput(_response, results) {
    for await (const result of results) {
      calls.push(`output ${name}`);
      yield result instanceof Request ? result : { ...result, [name]: true };
    }
  },
});

describe('spider middleware', () => {
  it('sees responses by number, and results one by one the other way', async () => {
    const calls: string[] = [];
    const { items } = await crawlThrough({
      routes: home,
      methods: twoItems,
      spider: { 100: tagging(calls, 'low'), 900: tagging(calls, 'high') },
    });
    expect(items).toEqual([
      { n: 1, high: true, low: true },
      { n: 2, high: true, low: true },
    ]);
    expect(calls).toEqual([
      ...['input low', 'input high'],
      ...['output high', 'output low', 'output high', 'output low'],
    ]);
  });

  it('adds and drops results, requests too', async () => {
    const { asked, items } = await crawlThrough({
      routes: { ...home, '/added': page('') },
      methods: { parse: (response: Response) => response.followAll('a') },
      spider: {
        543: {
          async *processSpiderOutput(response, results) {
            for await (const result of results) if (!(result instanceof Request)) yield result;
            if (response.request.depth === 0) yield* [{ added: true }, response.follow('/added')!];
          },
        },
      },
    });
    expect(asked).toEqual(['/', '/added']);
    expect(items).toEqual([{ added: true }]);
  });

  it('may end a page well whose callback threw, beside what it yielded before', async () => {
    const errors: unknown[] = [];
    const { items, failed } = await crawlThrough({
      routes: home,
      methods: failing,
      spider: {
        100: tagging([], 'outer'),
        500: {
          ...tagging([], 'own'),
          processSpiderException: (_response, error) => {
            errors.push(error);
            return [{ rest: true }];
          },
        },
        900: { processSpiderException: () => undefined },
      },
    });
    expect(errors).toMatchObject([{ name: 'RangeError', message: 'half way' }]);
    expect(items).toEqual([
      { n: 1, own: true, outer: true },
      { rest: true, outer: true },
    ]);
    expect(failed).toEqual([]);
  });

  it('leaves an error to the page when nothing takes it: nothing is committed', async () => {
    const { items, failed } = await crawlThrough({
      routes: home,
      methods: failing,
      spider: { 500: { processSpiderException: () => null }, 600: tagging([], 'own') },
    });
    expect(items).toEqual([]);
    expect(failed).toMatchObject([
      { reason: 'callback_error', detail: expect.stringContaining('RangeError: half way') },
    ]);
  });

  it('that throws in its output goes to the modules with lower numbers, not to itself', async () => {
    const caught: unknown[] = [];
    const catching =
      (name: string): NonNullable<SpiderMiddleware['processSpiderException']> =>
      (_response, error) =>
        void caught.push(`${name}: ${error.message}`);
    const { failed } = await crawlThrough({
      routes: home,
      methods: twoItems,
      spider: {
        100: { processSpiderException: catching('outer') },
        500: {
          // biome-ignore lint/correctness/useYield: it throws first.
          async *processSpiderOutput() {
            throw new Error('a bug');
          },
          processSpiderException: catching('own'),
        },
        900: { processSpiderException: catching('inner') },
      },
    });
    expect(caught).toEqual(['outer: a bug']);
    expect(failed).toMatchObject([
      {
        reason: 'middleware_error',
        detail: expect.stringContaining('./middlewares/at-500.ts: processSpiderOutput: Error: a bug'),
      },
    ]);
  });

  it('that returns nothing from processSpiderOutput fails the page', async () => {
    const { failed } = await crawlThrough({
      routes: home,
      methods: twoItems,
      spider: { 500: { processSpiderOutput: () => undefined as never } },
    });
    expect(failed).toMatchObject([{ detail: expect.stringContaining('yield the results') }]);
  });

  it('refuses a response: its errback is called, and its results pass the output', async () => {
    const { items, failed } = await crawlThrough({
      routes: home,
      start: { errback: 'lost' },
      methods: { parse: () => [], lost: ({ reason }: Failure) => ({ reason }) },
      spider: {
        100: tagging([], 'seen'),
        500: {
          processSpiderInput: () => {
            throw new Error('not wanted');
          },
        },
      },
    });
    expect(items).toEqual([{ reason: 'middleware_error', seen: true }]);
    expect(failed).toMatchObject([{ reason: 'middleware_error' }]);
  });

  it('drops a response with IgnoreRequest: the page is done and counted with an example', async () => {
    const { snapshot, deadEnds } = await crawlThrough({
      routes: home,
      methods: twoItems,
      spider: {
        500: {
          processSpiderInput: async () => {
            throw new IgnoreRequest();
          },
        },
      },
    });
    expect(snapshot).toMatchObject({ done: 1, failed: 0, items: 0 });
    expect(deadEnds).toMatchObject([{ what: 'dropped by ./middlewares/at-500.ts', count: 1 }]);
  });

  it('does not see a status that goes to no callback, but sees what its errback yields', async () => {
    const calls: string[] = [];
    const { items } = await crawlThrough({
      routes: { '/': status(404) },
      start: { errback: 'lost' },
      methods: { parse: () => [], lost: (failure: Failure) => ({ status: failure.status }) },
      spider: { 500: tagging(calls, 'seen') },
    });
    expect(items).toEqual([{ status: 404, seen: true }]);
    expect(calls).toEqual(['output seen']);
  });
});
