/**
 * Processors: plain functions that turn the texts of a selector into the value of a field. They pass null on, so a field
 * that is not on the page stays null until `orElse` gives it a value.
 */
import type { Response } from '../http/message/response.js';
import { withSingleSpaces } from '../http/text-memory.js';

/** Makes a value of a field from the one before. The page is that of the item. */
export type Processor<From, To> = (value: From, page: Response) => To;

/** The first of the values that is neither null nor an empty text; null without one. */
export function first<T>(values: readonly T[]): T | null {
  return values.find((value) => value !== null && value !== undefined && value !== '') ?? null;
}

/** Apply a processor to each value; those that become null are left out. */
export function each<From, To>(
  processor: Processor<From, To>,
): Processor<readonly From[], NonNullable<To>[]> {
  return (values, page) =>
    values.map((value) => processor(value, page)).filter((value) => value !== null && value !== undefined);
}

/** The texts as one, with this between them. */
export function join(separator = ' '): Processor<readonly string[], string> {
  return (values) => values.join(separator);
}

/** Without white space at its ends, and with one space for each run of it inside. */
export function trim(text: string | null): string | null {
  return text === null ? null : withSingleSpaces(text, /\s+/g).trim();
}

/**
 * The first number in a text, such as 1234.5 of `from $1,234.50`; null without one. A comma stands between thousands and a
 * point before decimals; for the other way round see `decimalComma`.
 */
export function number(text: string | null | undefined): number | null {
  return readNumber(text, /[-−]?(?:\d{1,3}(?:[,'\s]\d{3})+(?!\d)|\d+)(?:\.\d+)?|[-−]?\.\d+/);
}

/** The same where a comma stands before decimals: 1234.5 of `ab 1.234,50 €`. */
export function decimalComma(text: string | null | undefined): number | null {
  return number(aroundFirstDigit(text).replace(/[.,]/g, (sign) => (sign === ',' ? '.' : ',')));
}

/** A link of the page as an absolute URL; null for a text that is none. */
export function absoluteUrl(link: string | null, page: Response): string | null {
  if (link === null) return null;
  try {
    return new URL(page.urljoin(link.trim())).href;
  } catch {
    return null;
  }
}

/** A value for a field that is null, an empty text or an empty list. */
export function orElse<const Default>(fallback: Default): <T>(value: T) => NonNullable<T> | Default {
  return (value) => {
    const isEmpty = value === null || value === undefined || value === '';
    return isEmpty || (Array.isArray(value) && value.length === 0) ? fallback : value;
  };
}

/** A number begins at most two characters before its first digit. What follows more than 1,000 digits does not change it. */
function aroundFirstDigit(text: string | null | undefined): string {
  const at = text?.search(/\d/) ?? -1;
  return at === -1 ? '' : text!.slice(Math.max(0, at - 2), at + 2_000);
}

function readNumber(text: string | null | undefined, pattern: RegExp): number | null {
  const [found] = pattern.exec(aroundFirstDigit(text)) ?? [];
  return found === undefined ? null : Number(found.replace(/[,'\s]/g, '').replace('−', '-'));
}
