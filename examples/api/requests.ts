/** Requests: examples of the API page (docs/reference/api.md). */
import {
  type Callback,
  type CbKwargs,
  type CookieInput,
  type Failure,
  type FollowOptions,
  type FormData,
  type FormRequestOptions,
  type Headers,
  type HeadersInput,
  type Meta,
  Request,
  type RequestCookie,
  type RequestCookies,
  type RequestOptions,
  type Response,
  Spider,
} from 'crawlnode';

//#region Request, RequestOptions, CbKwargs, Failure
export class Api extends Spider {
  override name = 'api';

  override *start() {
    const options: RequestOptions = {
      json: { q: 'lamp' }, // sent as JSON, with POST
      cbKwargs: { page: 1 },
      callback: this.parsePage,
      errback: this.onFailure,
      priority: 10,
    };
    yield new Request('https://api.example/search', options);
  }

  *parsePage(response: Response, { page }: CbKwargs) {
    const { results } = response.json<{ results: { id: number }[] }>();
    for (const { id } of results) yield { id, page };
  }

  onFailure({ request, reason, status }: Failure) {
    this.log.warn({ url: request.url, reason, status }, 'a search that failed');
  }
}
//#endregion

//#region Meta
/** Keys that crawlnode reads, with Scrapy's names and units, and one of your own. */
const meta: Meta = { download_timeout: 5, max_retry_times: 1, handle_httpstatus_list: [404], shelf: 'A' };
export const impatient = new Request('https://slow.example/', { meta });
//#endregion

//#region Callback
/** A request for the same page with another method of the spider. */
export const again = (request: Request, callback: Callback): Request =>
  request.replace({ callback, dontFilter: true });
//#endregion

//#region FollowOptions
const asAjax: FollowOptions = { headers: { 'X-Requested-With': 'XMLHttpRequest' }, priority: 5 };

export class Scroll extends Spider {
  override name = 'scroll';
  override startUrls = ['https://quotes.toscrape.com/scroll'];
  override *parse(response: Response) {
    yield response.follow('/api/quotes?page=1', this.parseQuotes, asAjax);
  }
  *parseQuotes(response: Response) {
    yield* response.json<{ quotes: { text: string }[] }>().quotes;
  }
}
//#endregion

//#region FormRequestOptions
const credentials: FormRequestOptions = { selector: '#login', formdata: { user: 'me', password: 'secret' } };

export class Account extends Spider {
  override name = 'account';
  override startUrls = ['https://shop.example/login'];
  override *parse(response: Response) {
    yield Request.fromForm(response, { ...credentials, callback: this.parseAccount });
  }
  *parseAccount(response: Response) {
    yield { balance: response.css('.balance::text').get() };
  }
}
//#endregion

//#region FormData
const search: FormData = { q: 'lamp', colour: ['red', 'blue'] }; // a list repeats its field
export const found = new Request('https://shop.example/search', { method: 'GET', formdata: search });
//#endregion

//#region HeadersInput, Headers
const given: HeadersInput = { Accept: 'application/json' };
const request = new Request('https://api.example/', { headers: given });

/** Headers of a response have names in lower case; a repeated one is a list. */
export const typeOf = (headers: Headers): string => String(headers['content-type'] ?? 'none');
export const accepts = request.headers.Accept;
//#endregion

//#region CookieInput, RequestCookie, RequestCookies
const cookies: CookieInput[] = [{ name: 'lang', value: 'en', domain: 'shop.example', path: '/' }];
const english = new Request('https://shop.example/', { cookies });

/** What a request has: values by name, or a list where one of them has a domain, a path or `secure`. */
export function cookieNames(sent: RequestCookies | null = english.cookies): string[] {
  if (sent === null) return [];
  return Array.isArray(sent) ? sent.map(({ name }: RequestCookie) => name) : Object.keys(sent);
}
//#endregion
