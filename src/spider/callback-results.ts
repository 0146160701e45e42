/**
 * Iterates the results of a callback: a single value, an iterable, a promise, or a nesting of these. What a generator
 * returns counts like what it yields.
 */
import { CrawlnodeError } from '../errors.js';
import { SelectorList } from '../http/markup/selector.js';
import { Request } from '../http/message/request.js';

/** The results of a callback, which is called when the first one is requested. */
export async function* resultsOfCall(call: () => unknown): AsyncGenerator<unknown> {
  yield* resultsOf(call());
}

/** Lists may come from a page, as `response.json()` does; thousands within each other would overflow the stack. */
const MAX_NESTED_LISTS = 100;

/**
 * @param given what a callback returned or yielded.
 * @throws CrawlnodeError `invalid_item` for lists that are nested too deep
 */
export async function* resultsOf(given: unknown, depth = 0): AsyncGenerator<unknown> {
  const value = await given;
  if (value === undefined || value === null) return;
  const list = listIn(value);
  if (list === null) {
    yield value;
    return;
  }
  if (depth > MAX_NESTED_LISTS) {
    throw new CrawlnodeError(
      'invalid_item',
      `the callback yields lists that are nested more than ${MAX_NESTED_LISTS} levels deep`,
    );
  }
  for await (const each of valuesOf(list)) yield* resultsOf(each, depth + 1);
}

async function* valuesOf(list: Iterable<unknown> | AsyncIterable<unknown>): AsyncGenerator<unknown> {
  const iterator = Symbol.asyncIterator in list ? list[Symbol.asyncIterator]() : list[Symbol.iterator]();
  let isOver = false;
  try {
    while (!isOver) {
      isOver = true; // an iterator whose next() throws is over
      const next = await iterator.next();
      isOver = next.done === true;
      yield next.value;
    }
  } finally {
    if (!isOver) await iterator.return?.();
  }
}

/** A selection is iterable too, but yielding one is a mistake. It is passed on, so that the check of items reports it. */
function listIn(value: NonNullable<unknown>): Iterable<unknown> | AsyncIterable<unknown> | null {
  if (typeof value !== 'object' || value instanceof Request || value instanceof SelectorList) return null;
  if (Symbol.asyncIterator in value) return value as AsyncIterable<unknown>;
  return Symbol.iterator in value ? (value as Iterable<unknown>) : null;
}
