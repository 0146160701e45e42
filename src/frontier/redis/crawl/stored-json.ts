/** JSON values of the store, which others can write to: what is damaged, or of another type, counts as not there. */
import type { Dupefilter, Shape } from '../../frontier.js';

/** A JSON value; null where there is none, or a text that is something else. */
export function storedJson(text: string | null | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}

/** The fields of a JSON object; none of a text that is something else. */
export function storedObject(text: string | null | undefined): Readonly<Record<string, unknown>> {
  const value = storedJson(text);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : {};
}

/** A field that is text; undefined for any other. */
export function textField(object: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** A field that is a number; undefined for any other. */
export function numberField(object: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The shape of a crawl without its dupefilter, as `meta.shape` has it; null where none can be read. */
export function storedShape(text: string | undefined): Omit<Shape, 'dupefilter'> | null {
  const shape = storedObject(text || undefined);
  return textField(shape, 'queueClass') === undefined
    ? null
    : (shape as unknown as Omit<Shape, 'dupefilter'>);
}

/** The agreed dupefilter of a crawl, as `meta.dupefilter` has it; null where none can be read. */
export function storedDupefilter(text: string | undefined): Dupefilter | null {
  const dupefilter = storedObject(text || undefined);
  return textField(dupefilter, 'class') === undefined ? null : (dupefilter as unknown as Dupefilter);
}
