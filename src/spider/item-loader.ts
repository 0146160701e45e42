/**
 * Build an item from selectors and processors:
 *
 * ```ts
 * yield loadItem(response, {
 *   name: field('h1::text', first, trim),
 *   price: field('.price::text', first, number),
 *   tags: field('.tag::text', each(trim)),
 *   image: field('img::attr(src)', first, absoluteUrl),
 *   stock: field('.stock::text', first, number, orElse(0)),
 *   shop: 'example',
 * });
 * ```
 */
import { CrawlnodeError, messageOf } from '../errors.js';
import type { SelectorList } from '../http/markup/selector.js';
import { Response } from '../http/message/response.js';
import type { Processor } from './item-processors.js';

/** What the selectors are applied to: a page, or a part of it. */
export type Selectable = { css(selector: string): SelectorList };

/** Gives the value of a field. */
export type Field<T> = (within: Selectable, page: Response) => T;

/** A field with the same value in every item. */
type Constant =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly unknown[]
  | { readonly [name: string]: unknown };

/** The item that the fields describe. A field that is not a function is its own value. */
export type LoadedItem<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends (...args: never[]) => infer Value ? Value : Fields[Name];
};

/** The texts that a selector finds, passed through processors one after the other. */
export function field(selector: string): Field<string[]>;
export function field<A>(selector: string, a: Processor<string[], A>): Field<A>;
export function field<A, B>(selector: string, a: Processor<string[], A>, b: Processor<A, B>): Field<B>;
export function field<A, B, C>(
  selector: string,
  a: Processor<string[], A>,
  b: Processor<A, B>,
  c: Processor<B, C>,
): Field<C>;
export function field<A, B, C, D>(
  selector: string,
  a: Processor<string[], A>,
  b: Processor<A, B>,
  c: Processor<B, C>,
  d: Processor<C, D>,
): Field<D>;
export function field(selector: string, ...processors: readonly Processor<never, unknown>[]): Field<unknown> {
  return (within, page) =>
    processors.reduce<unknown>(
      (value, processor) => processor(value as never, page),
      within.css(selector).getAll(),
    );
}

/**
 * Build an item.
 * @param within a part of the page that selectors are applied to, such as a row; the whole page unless told
 * @throws CrawlnodeError `invalid_item` that names the field whose processor threw
 */
export function loadItem<const Fields extends Readonly<Record<string, Field<unknown> | Constant>>>(
  page: Response,
  fields: Fields,
  within: Selectable = page,
): LoadedItem<Fields> {
  if (!(page instanceof Response))
    throw new CrawlnodeError('invalid_item', 'the first argument of loadItem() is the response');
  const entries = Object.entries(fields).map(([name, value]) => {
    if (typeof value !== 'function') return [name, value];
    try {
      return [name, (value as Field<unknown>)(within, page)];
    } catch (error) {
      throw new CrawlnodeError('invalid_item', `${name}: ${messageOf(error)}`, { cause: error });
    }
  });
  return Object.fromEntries(entries) as LoadedItem<Fields>;
}
