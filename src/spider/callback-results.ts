/**
 * Iterates the results of a callback: a single value, an iterable, a promise, or a nesting of these. What a generator
 * returns counts like what it yields.
 */
import { SelectorList } from '../http/markup/selector.js';
import { Request } from '../http/message/request.js';

/** The results of a callback, which is called when the first one is requested. */
export async function* resultsOfCall(call: () => unknown): AsyncGenerator<unknown> {
  yield* resultsOf(call());
}

/** @param given what a callback returned or yielded. */
export async function* resultsOf(given: unknown): AsyncGenerator<unknown> {
  const value = await given;
  if (value === undefined || value === null) return;
  const list = listIn(value);
  if (list === null) yield value;
  else for await (const each of valuesOf(list)) yield* resultsOf(each);
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
