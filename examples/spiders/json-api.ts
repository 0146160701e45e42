/** A JSON API that is asked with POST, page by page. */
import { Request, type Response, Spider } from 'crawlnode';

type Found = { results: { id: number; name: string; price: number }[]; has_next: boolean };

export default class JsonApi extends Spider {
  name = 'json-api';
  startUrls = [this.search(1)];

  search(page: number) {
    const url = `${this.args.site ?? 'http://127.0.0.1:8000'}/api/search`;
    return new Request(url, { json: { query: this.args.query ?? 'desk', page }, cbKwargs: { page } });
  }

  *parse(response: Response, { page }: { page: number }) {
    const { results, has_next: hasNext } = response.json<Found>();
    for (const { id, name, price } of results) yield { id, name, price };
    if (hasNext) yield this.search(page + 1);
  }
}
