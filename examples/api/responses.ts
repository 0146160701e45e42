/** Responses: examples of the API page (docs/reference/api.md). */
import {
  glob,
  type LinkOptions,
  type Patterns,
  Request,
  Response,
  type ResponseParts,
  type SavedPage,
  type Selector,
  SelectorList,
  type XPathVariables,
} from 'crawlnode';

//#region Response
interface Page {
  page: number;
}

/** `Response<Page>` types `response.meta`. */
export function* parse(response: Response<Page>) {
  yield {
    url: response.url,
    status: response.status,
    page: response.meta.page,
    title: response.css('title::text').get(),
    heading: response.xpath('//h1/text()').get(),
    type: response.header('content-type'),
  };
}
//#endregion

//#region ResponseParts
const body = Buffer.from('<h1>Lamp</h1>');
const parts: ResponseParts = {
  ...{ url: 'https://shop.example/lamp', status: 200, headers: { 'content-type': 'text/html' } },
  ...{ body, request: new Request('https://shop.example/lamp') },
};
export const heading = new Response(parts).css('h1::text').get(); // Lamp
//#endregion

//#region SavedPage
const where: SavedPage = { url: 'https://shop.example/lamp', meta: { page: 1 } };
/** A saved page, for a test of a spider. */
export const savedPage = (file: string) => Response.fromFile(file, where);
//#endregion

//#region LinkOptions, Patterns, glob
const wanted: Patterns = [/\/product\//, glob('https://shop.example/category/*')];
const options: LinkOptions = { allow: wanted, deny: /\?sort=/, selector: 'main' };
export const productLinks = (response: Response): string[] => response.links(options);
//#endregion

//#region SelectorList, Selector
/** The rows of a table; a selection is a list, and each of its elements a selection of one. */
export function rowsOf(table: SelectorList): (string | null)[][] {
  return table.css('tr').map((row: Selector) => row.css('td').map((cell) => cell.css('::text').get()));
}
export const isSelection = (value: unknown): boolean => value instanceof SelectorList;
//#endregion

//#region XPathVariables
const variables: XPathVariables = { name: 'Lamp' };
export const priceOfLamp = (response: Response) =>
  response.xpath('//tr[td[1] = $name]/td[2]/text()', variables).get();
//#endregion
