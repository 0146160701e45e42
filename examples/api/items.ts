/** Items and their fields: examples of the API page (docs/reference/api.md). */
import {
  absoluteUrl,
  decimalComma,
  each,
  type Field,
  field,
  first,
  type ItemOf,
  type ItemSchema,
  type JsonObject,
  type JsonValue,
  join,
  type LoadedItem,
  loadItem,
  number,
  orElse,
  type Processor,
  type Request,
  type Response,
  type Selectable,
  Spider,
  trim,
} from 'crawlnode';
import { z } from 'zod';

//#region ItemOf, ItemSchema
const product = z.object({ name: z.string(), price: z.number().nullable() });
const schema: ItemSchema = product; // any library that implements Standard Schema

export class Shop extends Spider {
  override name = 'shop';
  override startUrls = ['https://shop.example/'];
  override item = schema;

  // An item without a price does not compile, and at run time it fails its page.
  override *parse(response: Response): Generator<ItemOf<typeof product> | Request> {
    yield { name: response.css('h1::text').get(''), price: number(response.css('.price::text').get()) };
    yield* response.followAll('a.product', this.parse);
  }
}
//#endregion

//#region loadItem, field, LoadedItem, first, each, join, trim, number, absoluteUrl, orElse
const fields = {
  name: field('h1::text', first, trim),
  price: field('.price::text', first, number), // '1,299.50 €' is 1299.5
  tags: field('.tag::text', each(trim)),
  text: field('p::text', join(' '), trim),
  image: field('img::attr(src)', first, absoluteUrl),
  stock: field('.stock::text', first, number, orElse(0)),
  shop: 'example',
};
export type Product = LoadedItem<typeof fields>;

export function* parseProduct(response: Response): Generator<Product> {
  yield loadItem(response, fields);
}
//#endregion

//#region Selectable
/** Each row of a table as an item. */
export function* parseRows(response: Response) {
  const rows: Iterable<Selectable> = response.css('table tr');
  for (const row of rows) yield loadItem(response, { name: field('td::text', first, trim) }, row);
}
//#endregion

//#region decimalComma
export const germanPrice = field('.preis::text', first, decimalComma); // '1.299,50 €' is 1299.5
//#endregion

//#region Processor, Field
const lowerCase: Processor<string | null, string | null> = (text) => text?.toLowerCase() ?? null;
export const brand: Field<string | null> = field('.brand::text', first, trim, lowerCase);
//#endregion

//#region JsonObject, JsonValue
/** What is stored of an item: values that JSON can represent. */
export const stored: JsonObject = { name: 'Lamp', price: 9.5, tags: ['new'] };
export const price: JsonValue | undefined = stored.price;
//#endregion
