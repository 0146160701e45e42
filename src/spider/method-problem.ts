/** Detects fields of a spider whose callback is not one of its methods. */
import { isMethodOf } from './callbacks.js';
import type { Spider } from './spider.js';

/**
 * A message about the callback in a field; null when it is a method, the name of one, or absent. Also detects a misspelt
 * method such as `this.parsItem`, which JavaScript evaluates to undefined.
 * @param where the object with the field, for the message.
 * @param without the purpose of leaving the field out
 */
export function methodProblem(
  field: 'callback' | 'errback',
  holder: object,
  where: string,
  spider: Spider,
  without = '',
): string | null {
  if (!(field in holder)) return null;
  const method = (holder as Record<string, unknown>)[field];
  if (method === undefined) {
    const instead = without === '' ? '' : ` ${without}`;
    return `the ${field} of ${where} is undefined: is its name misspelt? Leave ${field} out${instead}`;
  }
  if (typeof method === 'function') return null;
  if (typeof method !== 'string')
    return `the ${field} of ${where} is ${kindOf(method)}; give a method or its name`;
  return isMethodOf(spider, method)
    ? null
    : `the ${field} of ${where}, ${JSON.stringify(method)}, is not a method of the spider`;
}

/**
 * Whether the `parse` of a spider replaces that of its kind without calling it. The text of a method shows what it calls.
 * @param original the `parse` of its kind.
 * @param others further methods whose call shows that the author knows what to do
 */
export function replacesParse(
  { parse }: Spider,
  original: (...given: never) => unknown,
  others: readonly string[] = [],
): boolean {
  if (typeof parse !== 'function' || parse === original) return false;
  const text = Function.prototype.toString.call(parse);
  return !['super.parse', ...others].some((call) => text.includes(call));
}

/** What a value is, for a message. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return 'a list';
  if (value instanceof RegExp) return 'a regular expression';
  return typeof value === 'object' ? 'an object' : `of type ${typeof value}`;
}
