/** robots.txt by RFC 9309; the vectors of Protego and Google's parser are scored by a script of their own. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRobots } from '../../src/robots/parse-robots.js';

const allowed = (text: string, url: string, userAgent = 'crawlnode') =>
  parseRobots(text).isAllowed(url, userAgent);

describe('a robots.txt', () => {
  it('allows everything where it has no rules: empty, or an HTML page', () => {
    expect(allowed('', 'http://a.test/x')).toBe(true);
    expect(allowed('<!doctype html>\n<p style="color: red">User-agent: none here</p>', '/x')).toBe(true);
  });

  it('holds for the crawler that it names, else for every crawler', () => {
    const text = 'User-agent: *\nDisallow: /\n\nUser-agent: CrawlNode\nDisallow: /private';
    expect(allowed(text, '/open')).toBe(true);
    expect(allowed(text, '/private/x')).toBe(false);
    expect(allowed(text, '/open', 'otherbot')).toBe(false);
  });

  it('reads the product token of a whole User-Agent value', () => {
    const text = 'User-agent: crawlnode/2.0 (news)\nDisallow: /';
    expect(allowed(text, '/x', 'crawlnode/0.1 (+https://example.test)')).toBe(false);
    expect(allowed(text, '/x', 'crawlnodes/0.1')).toBe(true);
  });

  it('joins the groups that name the same crawler', () => {
    const text =
      'User-agent: crawlnode\nDisallow: /a\n\nUser-agent: other\nDisallow: /\n\nUser-agent: crawlnode\nDisallow: /b';
    expect(['/a', '/b', '/c'].map((path) => allowed(text, path))).toEqual([false, false, true]);
  });

  it('lets the longest pattern hold, and of two that are equally long the one that allows', () => {
    const text = 'User-agent: *\nDisallow: /shop\nAllow: /shop/open\nDisallow: /x\nAllow: /x';
    expect(['/shop', '/shop/open/1', '/x'].map((path) => allowed(text, path))).toEqual([false, true, true]);
  });

  it('takes * for any text and $ for the end', () => {
    const text = 'User-agent: *\nDisallow: /*.php$\nDisallow: /a*b*c';
    expect(['/i.php', '/i.php?x', '/a1b2c3', '/a1c2b'].map((path) => allowed(text, path))).toEqual([
      false,
      true,
      false,
      true,
    ]);
  });

  it('compares escapes as RFC 9309 says: é is %C3%A9, %7E is ~, %2f is not /', () => {
    const text = 'User-agent: *\nDisallow: /café\nDisallow: /%7Eme\nDisallow: /a%2fb';
    expect(
      ['/caf%c3%a9', '/~me', '/a%2Fb', '/a/b'].map((path) => allowed(text, `http://h.test${path}`)),
    ).toEqual([false, false, false, true]);
  });

  it('looks at the query of a URL, not at its fragment', () => {
    const text = 'User-agent: *\nDisallow: /*?id=';
    expect(allowed(text, 'http://h.test?id=1')).toBe(false);
    expect(allowed(text, 'http://h.test/#?id=1')).toBe(true);
  });

  it('is read with a byte order mark, any line end, comments, and without a colon', () => {
    const text = '\uFEFFuser agent * # all\rDISALLOW /a # no\r\nDisallow:/b\nDisallow:';
    expect(['/a', '/b', '/c'].map((path) => allowed(text, path))).toEqual([false, false, true]);
  });

  it('is read with the misspelt keys that the parser of Google accepts', () => {
    for (const key of ['Disalow', 'Dissallow', 'Dissalow', 'Diasllow', 'Disallaw', 'Disallowed']) {
      expect([key, allowed(`User-agent: *\n${key}: /a`, '/a')]).toEqual([key, false]);
    }
    expect(allowed('Useragent: *\nDisallow: /\nAllowed: /a', '/a')).toBe(true);
    expect(allowed('User-agent: *\nDisllow: /a', '/a')).toBe(true);
    expect(parseRobots('Site-map: https://a.test/s.xml').sitemaps).toEqual(['https://a.test/s.xml']);
  });

  it('allows a folder whose index page it allows', () => {
    const text = 'User-agent: *\nDisallow: /\nAllow: /docs/index.html\nAllow: /index.htm';
    expect(['/docs/', '/docs/index.html', '/'].map((path) => allowed(text, path))).toEqual([
      true,
      true,
      true,
    ]);
    expect(['/docs', '/docs/a', '/index', '/a'].map((path) => allowed(text, path))).toEqual([
      ...[false, false, false, false],
    ]);
    expect(allowed('User-agent: *\nDisallow: /docs/index.html', '/docs/')).toBe(true);
  });

  it('names sitemaps, and a pause in seconds', () => {
    const robots = parseRobots(
      'Sitemap: https://a.test/s.xml\nUser-agent: *\nCrawl-delay: 2.5\nCrawl-delay: soon',
    );
    expect(robots.sitemaps).toEqual(['https://a.test/s.xml']);
    expect(robots.crawlDelay('crawlnode')).toBe(2.5);
    expect(parseRobots('User-agent: a\nCrawl-delay: 1').crawlDelay('b')).toBeNull();
  });

  it('is not confused by names of object members', () => {
    expect(allowed('User-agent: constructor\nDisallow: /', '/', '__proto__')).toBe(true);
  });

  it('answers for any text and any URL', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), fc.string({ maxLength: 40 }), (line, url) => {
        const robots = parseRobots(`User-agent: *\nDisallow: ${line}\n${line}`);
        expect(typeof robots.isAllowed(url, line)).toBe('boolean');
      }),
    );
  });
});
