/** The rules of RFC 6265 as a page meets them: what is sent where, what is taken, what is committed. */
import { describe, expect, it } from 'vitest';
import { CookieJars } from '../../../src/http/cookies/cookie-jars.js';
import { PageCookies } from '../../../src/http/cookies/page-cookies.js';
import type { CookieChange, StoredCookie } from '../../../src/http/cookies/stored-cookie.js';
import { decodeCookies, encodeCookies } from '../../../src/http/cookies/stored-cookie.js';
import type { RequestCookies } from '../../../src/http/message/request-cookies.js';

/** Jars that hold what pages have set, as if each were committed at once. */
class Browser {
  readonly jars = new CookieJars();
  readonly nowMs = Date.now();

  /** Visit a URL whose answer sets these cookies. @returns the Cookie header, and what is committed. */
  visit(url: string, setCookie: readonly string[] = [], given?: RequestCookies, jar = '', maxBytes = 0) {
    const page = new PageCookies(jar, this.jars.jar(jar), url);
    if (given !== undefined) page.give(given);
    const sent = page.header(maxBytes).text;
    const refused = page.receive(setCookie).map(({ why }) => why);
    const changes = page.changes();
    for (const change of changes) this.#commit(change);
    return { sent, refused, changes };
  }

  #commit({ jar, domain, path, name, text, expiresInMs, expiresAtMs }: CookieChange): void {
    const others = this.jars
      .jar(jar)
      .of(domain)
      .filter((one) => one.path !== path || one.name !== name);
    const until = expiresInMs === undefined ? (expiresAtMs ?? null) : this.nowMs + expiresInMs;
    const cookies: StoredCookie[] =
      text === null ? others : [...others, { path, name, text, expiresAtMs: until }];
    const version = this.jars.version + 1;
    this.jars.apply({
      version,
      latest: version,
      isAnew: false,
      nowMs: Date.now(),
      sets: [{ jar, domain, cookies }],
    });
  }
}

describe('a cookie of a request', () => {
  it('goes where its domain, path and secure say', () => {
    const browser = new Browser();
    const given = [
      { name: 'all', value: '1', domain: 'shop.com', path: '/', secure: false },
      { name: 'list', value: '2', domain: 'shop.com', path: '/list', secure: false },
      { name: 'safe', value: '3', domain: 'shop.com', path: '/', secure: true },
      { name: 'here', value: '4' },
    ];
    expect(browser.visit('https://www.shop.com/list/1', [], given).sent).toBe(
      'list=2; here=4; all=1; safe=3',
    );
    expect(browser.visit('https://www.shop.com/').sent).toBe('all=1; safe=3');
    expect(browser.visit('https://api.shop.com/list').sent).toBe('list=2; all=1; safe=3');
    expect(browser.visit('http://www.shop.com/list/2').sent).toBe('list=2; all=1');
  });

  it('is refused for a domain that its host is not in, or that is a public suffix', () => {
    const { jars } = new Browser();
    const page = new PageCookies('', jars.jar(''), 'https://www.shop.com/');
    const refused = page.give([
      { name: 'a', value: '1', domain: 'other.com' },
      { name: 'b', value: '2', domain: 'com' },
      { name: 'c', value: '3', domain: 'shop.com' },
    ]);
    expect(refused.map(({ header }) => header)).toEqual(['a=1', 'b=2']);
    expect(page.header(100).text).toBe('c=3');
  });
});

describe('a cookie', () => {
  it('goes to its host and path, the longer path first, and not to other hosts', () => {
    const browser = new Browser();
    browser.visit('https://www.shop.com/account/login', ['a=1', 'b=2; Path=/', 'c=3; Path=/account/orders']);
    expect(browser.visit('https://www.shop.com/account/orders/1').sent).toBe('c=3; a=1; b=2');
    expect(browser.visit('https://www.shop.com/').sent).toBe('b=2');
    expect(browser.visit('https://www.shop.com/accounts').sent).toBe('b=2');
    for (const other of [
      'https://shop.com/',
      'https://a.www.shop.com/',
      'https://evilwww.shop.com/',
      'https://127.0.0.1/',
    ]) {
      expect(browser.visit(other).sent).toBe('');
    }
  });

  it('of a domain goes to all its hosts, but not of a public suffix or of another domain', () => {
    const browser = new Browser();
    expect(browser.visit('https://www.shop.co.uk/', ['a=1; Domain=shop.co.uk']).refused).toEqual([]);
    expect(browser.visit('https://api.shop.co.uk/').sent).toBe('a=1');
    expect(browser.visit('https://shop.co.uk/').sent).toBe('a=1');
    expect(browser.visit('https://other.co.uk/').sent).toBe('');
    const { refused } = browser.visit('https://www.shop.co.uk/', [
      'b=1; Domain=co.uk',
      'c=1; Domain=other.com',
      'd=1; Domain=github.io',
      'e=1; Domain=api.shop.co.uk',
    ]);
    expect(refused).toHaveLength(4);
    expect(browser.visit('https://www.shop.co.uk/').sent).toBe('a=1');
    expect(browser.visit('https://me.github.io/', ['f=1; Domain=github.io']).refused).toHaveLength(1);
  });

  it('that is Secure goes over https alone, and is not taken over http', () => {
    const browser = new Browser();
    browser.visit('https://www.shop.com/', ['a=1; Secure; HttpOnly', 'b=2']);
    expect(browser.visit('https://www.shop.com/').sent).toBe('a=1; b=2');
    expect(browser.visit('http://www.shop.com/').sent).toBe('b=2');
    expect(browser.visit('http://www.shop.com/', ['c=1; Secure']).refused).toHaveLength(1);
    expect(browser.visit('https://www.shop.com/', ['__Host-d=1; Path=/']).refused).toHaveLength(1);
  });

  it('of an address without a name, with any port, is for that address', () => {
    const browser = new Browser();
    browser.visit('http://127.0.0.1:8080/', ['a=1']);
    browser.visit('http://[::1]:8080/', ['b=1']);
    expect(browser.visit('http://127.0.0.1:9090/x').sent).toBe('a=1');
    expect(browser.visit('http://[::1]/').sent).toBe('b=1');
    expect(browser.visit('http://127.0.0.2/').sent).toBe('');
  });

  it('expires by Max-Age before Expires, and is removed by an age of 0 or a date that is over', () => {
    const browser = new Browser();
    const url = 'https://www.shop.com/';
    const soon = new Date(browser.nowMs + 60_000).toUTCString();
    const { changes } = browser.visit(url, [
      `a=1; Max-Age=600; Expires=${soon}`,
      `b=1; Expires=${soon}`,
      'c=1',
      'd=1; Max-Age=99999999999',
    ]);
    expect(changes.map(({ expiresInMs }) => expiresInMs)).toEqual([
      600_000,
      undefined,
      undefined,
      400 * 86_400_000,
    ]);
    expect(changes.map(({ expiresAtMs }) => expiresAtMs)).toEqual([
      undefined,
      Date.parse(soon),
      undefined,
      undefined,
    ]);
    const over = browser.visit(url, [
      'a=; Max-Age=0',
      'b=; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
      'unknown=; Max-Age=-1',
    ]);
    expect(over.changes.map(({ name, text }) => [name, text])).toEqual([
      ['a', null],
      ['b', null],
    ]);
    expect(browser.visit(url).sent).toBe('c=1; d=1');
  });

  it("that has expired on the store's clock is not sent, whatever the clock of the node says", () => {
    const jars = new CookieJars();
    const storeNowMs = Date.now() + 3_600_000;
    const cookies = decodeCookies(
      encodeCookies([
        { path: '/', name: 'over', text: 'h=1', expiresAtMs: storeNowMs - 1_000 },
        { path: '/', name: 'valid', text: 'h=1', expiresAtMs: storeNowMs + 60_000 },
      ]),
    );
    jars.apply({
      version: 1,
      latest: 1,
      isAnew: false,
      nowMs: storeNowMs,
      sets: [{ jar: '', domain: 'a.example', cookies }],
    });
    expect(new PageCookies('', jars.jar(''), 'http://a.example/').header(100).text).toBe('valid=1');
  });

  it('that is unchanged is not written again, but one that is renewed late is', () => {
    const browser = new Browser();
    const url = 'https://www.shop.com/';
    browser.visit(url, ['a=1', 'b=1; Max-Age=1000']);
    expect(browser.visit(url, ['a=1', 'b=1; Max-Age=1000', 'b=1; Max-Age=1010']).changes).toEqual([]);
    expect(browser.visit(url, ['b=1; Max-Age=2000']).changes).toHaveLength(1);
    expect(browser.visit(url, ['a=1; Secure', 'b=2; Max-Age=2000']).changes).toHaveLength(2);
  });

  it('of a page replaces those that it set before, and the last header of one name wins', () => {
    const browser = new Browser();
    const { changes } = browser.visit('https://www.shop.com/', ['a=1', 'a=2', 'b=1', 'b=; Max-Age=0']);
    expect(changes.map(({ name, text }) => [name, text])).toEqual([['a', 'h=2']]);
  });

  it('that no header can carry later is not committed', () => {
    const browser = new Browser();
    const { changes } = browser.visit('https://www.shop.com/a%0Ab/c', [
      'a=1',
      'b=\x7f; Path=/',
      'c d=1; Path=/',
    ]);
    expect(changes.map(({ name, path }) => [name, path])).toEqual([['c d', '/']]);
    expect(browser.visit('https://www.shop.com/').sent).toBe('c d=1');
  });

  it('is at most 4 KB, with a path of 1,024 characters; a page sets 200', () => {
    const browser = new Browser();
    const url = 'https://www.shop.com/';
    expect(browser.visit(url, [`a=${'x'.repeat(4_095)}`]).refused).toEqual([]);
    expect(
      browser.visit(url, [`a=${'x'.repeat(4_096)}`, `a=1; Path=/${'x'.repeat(1_024)}`, '=1', 'nonsense'])
        .refused,
    ).toHaveLength(4);
    const many = browser.visit(
      url,
      Array.from({ length: 300 }, (_, n) => `c${n}=1`),
    );
    expect(many.changes).toHaveLength(200);
  });
});

describe('the cookies of a request', () => {
  it('go with it beside those of the jar, whose namesakes they replace, and stay for later requests', () => {
    const browser = new Browser();
    const url = 'https://www.shop.com/';
    browser.visit(url, ['lang=de', 'sid=1']);
    expect(browser.visit(url, [], { lang: 'en', currency: 'EUR' }).sent).toBe('lang=en; sid=1; currency=EUR');
    expect(browser.visit(url).sent).toBe('sid=1; lang=en; currency=EUR');
    expect(browser.visit('http://www.shop.com/').sent).toBe('sid=1');
    expect(browser.visit(url, [], { lang: 'en', currency: 'EUR' }).changes).toEqual([]);
  });

  it('are replaced by those that the answer sets', () => {
    const browser = new Browser();
    const url = 'https://www.shop.com/';
    const { changes } = browser.visit(url, ['lang=fr; Path=/; Secure'], { lang: 'en' });
    expect(changes.map(({ name, text }) => [name, text])).toEqual([['lang', 'hs=fr']]);
  });
});

describe('many cookies', () => {
  it('are sent up to a length, and the largest are left out first', () => {
    const browser = new Browser();
    const url = 'https://www.shop.com/';
    browser.visit(url, ['a=1', `b=${'x'.repeat(30)}`, `c=${'x'.repeat(50)}`, 'd=2']);
    const sent = (maxBytes: number) => browser.visit(url, [], undefined, '', maxBytes).sent;
    expect(sent(96)).toBe(`a=1; b=${'x'.repeat(30)}; c=${'x'.repeat(50)}; d=2`);
    expect(sent(95)).toBe(`a=1; b=${'x'.repeat(30)}; d=2`);
    expect(sent(41)).toBe('a=1; d=2');
    expect(sent(2)).toBe('');
  });

  it('name the host that set them, where it is a subdomain of theirs', () => {
    const setBy = (url: string, cookie: string) =>
      new Browser().visit(url, [cookie]).changes.map((change) => change.setBy);
    expect(setBy('https://a.shop.com/', 'x=1; Domain=shop.com')).toEqual(['a.shop.com']);
    expect(setBy('https://shop.com/', 'x=1; Domain=shop.com')).toEqual([undefined]);
    expect(setBy('https://a.shop.com/', 'x=1')).toEqual([undefined]);
    expect(setBy('http://[::1]/', 'x=1')).toEqual([undefined]);
  });
});

describe('jars', () => {
  it('are apart from each other', () => {
    const browser = new Browser();
    const url = 'https://www.shop.com/';
    browser.visit(url, ['sid=1'], undefined, 'one');
    browser.visit(url, ['sid=2'], undefined, 'two');
    expect(browser.visit(url, [], undefined, 'one').sent).toBe('sid=1');
    expect(browser.visit(url, [], undefined, 'two').sent).toBe('sid=2');
    expect(browser.visit(url).sent).toBe('');
  });

  it('leave out what somebody else has put into the store and no header can carry', () => {
    const stored = JSON.stringify([
      ['/', 'good', 'h=1', 0],
      ['/', 'bad', 'h=1\r\nHost: evil', 0],
      ['/', 'b;d', 'h=1', 0],
      ['x', 'bad', 'h=1', 0],
      ['/', 'bad', '=1', 'soon'],
      ['/', 'bad', 'zz=1', 0],
      'bad',
      null,
    ]);
    expect(decodeCookies(stored).map(({ name }) => name)).toEqual(['good']);
    expect(decodeCookies('{')).toEqual([]);
    expect(decodeCookies('{"a":1}')).toEqual([]);
  });
});
