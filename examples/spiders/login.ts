/** A login by the form of the site, whose hidden CSRF token is sent along. The session belongs to the crawl, so to all nodes. */
import { Request, type Response, Spider } from 'crawlnode';

export default class Login extends Spider {
  name = 'login';
  startUrls = [`${this.args.site ?? 'http://127.0.0.1:8000'}/login`];

  *parse(response: Response) {
    yield Request.fromForm(response, {
      formdata: { username: 'me', password: this.args.password ?? 'secret' },
      callback: this.parseHome,
    });
  }

  *parseHome(response: Response) {
    const account = response.css('a.account');
    if (account.length === 0) throw new Error('the login was not accepted');
    yield* response.followAll(account, this.parseAccount);
  }

  *parseAccount(response: Response) {
    yield { secret: response.css('p.secret::text').get() };
  }
}
