/** A list of numbered pages: the first one says how many there are, and all others are requested at once. */
import { type Response, Spider } from 'crawlnode';

export default class Pagination extends Spider {
  name = 'pagination';
  startUrls = [`${this.args.site ?? 'http://127.0.0.1:8000'}/products`];

  *parse(response: Response) {
    const pages = Number(response.css('p.pages::text').reFirst(/of (\d+)/));
    for (let page = 2; page <= pages; page++) yield response.follow(`?page=${page}`, this.parsePage);
    yield* this.parsePage(response);
  }

  *parsePage(response: Response) {
    for (const product of response.css('li.product a')) {
      yield { name: product.css('::text').get(), url: response.urljoin(product.attr('href') ?? '') };
    }
  }
}
