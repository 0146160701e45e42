/**
 * A login with a CSRF token. Its session belongs to the crawl, so any node can fetch the pages behind it:
 *
 *     crawlnode crawl login -a user=me -a password=secret -o quotes.jsonl --workers 4 --exit-when-done
 */
import { Request, type Response, Spider } from 'crawlnode';

export default class Login extends Spider {
  name = 'login';
  startUrls = [`${this.args.site ?? 'https://quotes.toscrape.com'}/login`];
  customSettings = { DOWNLOAD_DELAY: 0.5 };

  /** The form: its hidden token belongs to the cookie that came with it. */
  *parse(response: Response) {
    yield new Request(response.url, {
      formdata: {
        csrf_token: response.css('input[name=csrf_token]').attr('value') ?? '',
        username: this.args.user ?? 'me',
        password: this.args.password ?? 'secret',
      },
      callback: this.parseHome,
    });
  }

  /** Where the login leads. Its cookie is in the jar, so the requests from here on are those of a user. */
  *parseHome(response: Response) {
    if (response.css('a[href="/logout"]').get() === null) throw new Error('the login was not accepted');
    yield* this.parseQuotes(response);
  }

  *parseQuotes(response: Response) {
    for (const quote of response.css('div.quote')) {
      yield { text: quote.css('span.text::text').get(), author: quote.css('small.author::text').get() };
    }
    yield* response.followAll('a[href^="/author/"]', this.parseAuthor);
    yield* response.followAll('li.next a', this.parseQuotes);
  }

  parseAuthor(response: Response) {
    return {
      name: response.css('h3.author-title::text').get()?.trim(),
      born: response.css('span.author-born-date::text').get(),
    };
  }
}
