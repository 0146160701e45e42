/** HTML form fields as `application/x-www-form-urlencoded` text, byte for byte as by Python's urlencode(doseq=True). */
import { InvalidRequestError } from '../../../errors.js';

type FormValue = string | number | boolean;

/** Fields by name (a list repeats the name), or name and value pairs in order, such as `URLSearchParams`. */
export type FormData =
  | Readonly<Record<string, FormValue | readonly FormValue[]>>
  | Iterable<readonly [string, FormValue]>;

/**
 * Encode form fields. URLSearchParams does not write them because it differs from Python on `~` and `*`, and the body
 * is part of a request's fingerprint.
 * @throws InvalidRequestError naming a field that is not text, a number or a boolean
 */
export function encodeForm(form: FormData): string {
  return pairsOf(form)
    .map(([name, value]) => `${quotePlus(name)}=${quotePlus(value)}`)
    .join('&');
}

function pairsOf(form: FormData): (readonly [string, string])[] {
  if (typeof form !== 'object' || form === null) {
    throw new InvalidRequestError('formdata is neither an object nor a list of [name, value] pairs.');
  }
  const fields: Iterable<readonly [string, unknown]> = Symbol.iterator in form ? form : Object.entries(form);
  const pairs: (readonly [string, string])[] = [];
  for (const field of fields) {
    const [name, value] = field;
    for (const one of Array.isArray(value) ? value : [value]) pairs.push([String(name), textOf(one, name)]);
  }
  return pairs;
}

function textOf(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)))
    return String(value);
  throw new InvalidRequestError(`formdata.${name} is not text, a number, a boolean or a list of them.`);
}

/** Python's quote_plus: everything but `A–Z a–z 0–9 _ . - ~` is escaped, a space becomes `+`. */
function quotePlus(text: string): string {
  // A lone surrogate would make encodeURIComponent throw. Buffer replaces it by U+FFFD.
  const wellFormed = /\p{Surrogate}/u.test(text) ? Buffer.from(text).toString() : text;
  return encodeURIComponent(wellFormed)
    .replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
}
