/** Pages that do not answer with 200: one status reaches the callback, and the errback gets what failed after all retries. */
import { type Failure, type Response, Spider } from 'crawlnode';

export default class Statuses extends Spider {
  name = 'statuses';
  startUrls = [`${this.args.site ?? 'http://127.0.0.1:8000'}/links`];
  customSettings = { RETRY_TIMES: 0 };

  *parse(response: Response) {
    yield* response.followAll('a', this.parsePage, {
      meta: { handle_httpstatus_list: [404] },
      errback: this.onFailure,
    });
  }

  *parsePage(response: Response) {
    yield { url: response.url, status: response.status, title: response.css('h1::text').get() };
  }

  *onFailure({ request, status }: Failure) {
    yield { url: request.url, status, failed: true };
  }
}
