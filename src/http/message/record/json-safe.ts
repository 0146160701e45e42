/** Copies values as JSON and names the field that JSON cannot represent. Used for meta, items and bodies. */
import { InvalidRequestError } from '../../../errors.js';
import type { JsonObject, JsonValue } from './request-record.js';

/** Deeper nesting is refused, since it could overflow the stack. */
export const MAX_JSON_DEPTH = 100;

/**
 * A copy of `value` as it would be after JSON: undefined fields and fields named `__proto__` are left out, and `-0`
 * becomes `0`.
 * @param path the name of the value in messages, such as `meta`
 * @throws InvalidRequestError naming the path of a value that JSON would lose or change, such as
 *   `meta.user.birthday is a Date`
 */
export function jsonCopy(value: unknown, path: string): JsonValue {
  return copy(value, path, []);
}

/** As `jsonCopy`, for a value that must be a plain object. */
export function jsonObjectCopy(value: unknown, path: string): JsonObject {
  if (!isPlainObject(value)) refuse(path, `${describe(value)}, not a plain object`);
  return copy(value, path, []) as JsonObject;
}

/**
 * Name a value inside `value` of which JSON.stringify leaves `{}`, such as a Map or a promise that nobody awaited. Other
 * instances of classes are written with their fields or by their toJSON.
 * @param value without cycles
 * @param path the name of the value in the message
 * @returns a message; null when there is none
 */
export function lostInJson(value: unknown, path: string): string | null {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return null;
  if (Array.isArray(value)) return firstLost(value.map((entry, at) => [`${path}[${at}]`, entry]));
  const fields = Object.entries(value);
  if (fields.length === 0 && !isPlainObject(value))
    return `${path} is ${describe(value)}, which does not survive JSON${hint(value)}`;
  return firstLost(fields.map(([key, field]) => [pathOf(path, key), field]));
}

/**
 * The least characters that a value takes as JSON: escapes may make them up to six times as many. It stops to count beyond `most`.
 * What is nested too deeply, such as a cycle, counts nothing: JSON.stringify names it.
 */
export function leastJsonChars(value: unknown, most: number, depth = 0): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 1;
  if (depth > MAX_JSON_DEPTH || 'toJSON' in value) return 0;
  let chars = 2;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && chars <= most; at++) {
      chars += 1 + leastJsonChars(value[at], most - chars, depth + 1);
    }
    return value.length === 0 ? chars : chars - 1;
  }
  for (const [key, field] of Object.entries(value)) {
    if (chars > most) break;
    if (isWritten(field)) chars += key.length + 3 + leastJsonChars(field, most - chars, depth + 1);
  }
  return chars;
}

const isWritten = (field: unknown): boolean =>
  field !== undefined && typeof field !== 'function' && typeof field !== 'symbol';

function firstLost(entries: readonly (readonly [path: string, value: unknown])[]): string | null {
  for (const [path, value] of entries) {
    const lost = lostInJson(value, path);
    if (lost !== null) return lost;
  }
  return null;
}

function copy(value: unknown, path: string, ancestors: readonly object[]): JsonValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) refuse(path, `${value}, which JSON cannot hold`);
      return value === 0 ? 0 : value;
    case 'object':
      return value === null ? null : copyObject(value, path, ancestors);
    default:
      return refuse(
        path,
        `${describe(value)}, which JSON cannot hold${typeof value === 'function' ? '; is () missing' : ''}`,
      );
  }
}

function copyObject(value: object, path: string, ancestors: readonly object[]): JsonValue {
  if (ancestors.includes(value)) refuse(path, 'part of a cycle');
  if (ancestors.length >= MAX_JSON_DEPTH) refuse(path, `nested more than ${MAX_JSON_DEPTH} levels deep`);
  const inner = [...ancestors, value];
  // Array.from, so that holes are visited and refused.
  if (Array.isArray(value)) return Array.from(value, (entry, i) => copy(entry, `${path}[${i}]`, inner));
  if (!isPlainObject(value)) refuse(path, `${describe(value)}, which does not survive JSON${hint(value)}`);
  if (Object.getOwnPropertySymbols(value).length > 0) refuse(path, 'an object with a symbol as key');

  const result: Record<string, JsonValue> = {};
  for (const [key, field] of Object.entries(value)) {
    if (field === undefined || key === '__proto__') continue;
    result[key] = copy(field, pathOf(path, key), inner);
  }
  return result;
}

function refuse(path: string, what: string): never {
  throw new InvalidRequestError(`${path} is ${what}.`);
}

/** An object literal, also from another realm or without prototype; not an instance of a class. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** What a value is, such as `a SelectorList`. */
export function describe(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'an array';
  if (typeof value !== 'object') return `a ${typeof value}`;
  // Generators have no constructor, but a tag.
  const name: unknown = value.constructor?.name || Object.prototype.toString.call(value).slice(8, -1);
  if (typeof name !== 'string' || name === '' || name === 'Object') return 'an instance of a class';
  return `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}`;
}

function hint(value: object): string {
  if (value instanceof Date) return '; give its toISOString()';
  if (value instanceof Map) return '; give Object.fromEntries(it)';
  if (value instanceof Set) return '; give an array of it';
  if (value instanceof Promise) return '; await it';
  if (value instanceof Uint8Array) return "; give it as base64 text, or as the request's body";
  if (value instanceof URL) return '; give its href';
  return '; give plain data';
}

function pathOf(path: string, key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}
