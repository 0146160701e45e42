/** Functions on URLs and texts: examples of the API page (docs/reference/api.md). */
import {
  baseUrl,
  canonicalizeUrl,
  decodeBody,
  fingerprint,
  metaRefresh,
  parseRobots,
  Request,
  type Robots,
} from 'crawlnode';

//#region canonicalizeUrl
export const canonical = canonicalizeUrl('https://shop.example/?b=2&a=1#top'); // https://shop.example/?a=1&b=2
//#endregion

//#region fingerprint
export const id: string = fingerprint(new Request('https://shop.example/?b=2&a=1')); // 40 hex digits
export const withHeader = fingerprint(new Request('https://shop.example/'), { includeHeaders: ['Accept'] });
//#endregion

//#region decodeBody
export const text = decodeBody(Buffer.from([0x63, 0x61, 0x66, 0xe9]), 'text/html; charset=latin1'); // café
//#endregion

//#region baseUrl
export const base = baseUrl('<base href="/shop/">', 'https://shop.example/a'); // https://shop.example/shop/
//#endregion

//#region metaRefresh
const page = '<meta http-equiv="refresh" content="5; url=/next">';
export const refresh = metaRefresh(page, 'https://shop.example/a'); // after 5 s, https://shop.example/next
//#endregion

//#region parseRobots, Robots
const robots: Robots = parseRobots('User-agent: *\nDisallow: /private\nCrawl-delay: 2');
export const isAllowed = robots.isAllowed('https://shop.example/private/1', 'my-crawler'); // false
export const delaySeconds = robots.crawlDelay('my-crawler'); // 2
//#endregion
