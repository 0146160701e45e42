/** Seeds as Scrapy-Redis reads them: keys other than url, method and meta are form fields, and with GET the query of the URL. */
import { Request, type Response, Spider } from 'crawlnode';

export default class ScrapyRedisSeeds extends Spider {
  name = 'scrapy-redis-seeds';

  makeRequestFromData(data: string) {
    if (!data.trimStart().startsWith('{')) return super.makeRequestFromData(data); // a plain URL
    const { url, method = 'GET', meta = {}, ...formdata } = JSON.parse(data);
    return new Request(url, { method, meta, formdata });
  }

  *parse(response: Response) {
    yield { url: response.url, meta: response.meta, title: response.css('h1::text').get() };
  }
}
