/** A list and its detail pages: what only the list knows goes with the request, in cbKwargs or in meta. */
import { number, type Response, Spider } from 'crawlnode';

export default class Details extends Spider {
  name = 'details';
  startUrls = [`${this.args.site ?? 'http://127.0.0.1:8000'}/products`];

  *parse(response: Response) {
    for (const [position, row] of [...response.css('li.product')].entries()) {
      yield response.follow(row.css('a').at(0), this.parseProduct, {
        cbKwargs: { category: row.attr('data-category') },
        meta: { position },
      });
    }
  }

  *parseProduct(response: Response, { category }: { category: string | null }) {
    yield {
      category,
      position: response.meta.position,
      name: response.css('h1::text').get(),
      price: number(response.css('p.price::text').get()),
    };
  }
}
