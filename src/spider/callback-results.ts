/** What a callback gives, one by one: a single value, an iterable, a promise, or a nesting of these. */
import { SelectorList } from '../http/markup/selector.js';
import { Request } from '../http/message/request.js';

/** The results of a callback that is called when the first one is asked for. */
export async function* resultsOfCall(call: () => unknown): AsyncGenerator<unknown> {
  yield* resultsOf(call());
}

/** @param given what a callback returned or yielded. */
export async function* resultsOf(given: unknown): AsyncGenerator<unknown> {
  const value = await given;
  if (value === undefined || value === null) return;
  const list = listIn(value);
  if (list === null) yield value;
  else for await (const each of list) yield* resultsOf(each);
}

/** A selection is iterable too, but yielding one is a mistake. It is passed on, so that the check of items reports it. */
function listIn(value: NonNullable<unknown>): Iterable<unknown> | AsyncIterable<unknown> | null {
  if (typeof value !== 'object' || value instanceof Request || value instanceof SelectorList) return null;
  if (Symbol.asyncIterator in value) return value as AsyncIterable<unknown>;
  return Symbol.iterator in value ? (value as Iterable<unknown>) : null;
}
