/** A page that loads more while one scrolls: the spider asks the API behind it. */
import { type Response, Spider } from 'crawlnode';

type Page = { quotes: { text: string; author: string }[]; has_next: boolean; page: number };

export default class InfiniteScroll extends Spider {
  name = 'infinite-scroll';
  startUrls = [`${this.args.site ?? 'http://127.0.0.1:8000'}/api/quotes?page=1`];

  *parse(response: Response) {
    const { quotes, has_next: hasNext, page } = response.json<Page>();
    for (const { text, author } of quotes) yield { text, author };
    if (hasNext) yield response.follow(`?page=${page + 1}`, this.parse);
  }
}
