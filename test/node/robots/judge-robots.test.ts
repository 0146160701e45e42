/** What an answer to robots.txt means, and what of its text is kept. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crawlDelayMs, judgeRobots, rulesOf } from '../../../src/node/robots/judge-robots.js';
import { parseRobots } from '../../../src/robots/parse-robots.js';

const url = 'https://a.test/robots.txt';
const rules = 'User-agent: *\nDisallow: /private';
const judge = (status: number, headers: Record<string, string> = {}, hops = 0, body = rules) =>
  judgeRobots({ url, status, headers, body: Buffer.from(body) }, hops);

describe('an answer to robots.txt', () => {
  it('has the rules when it is a success', () => {
    expect(judge(200)).toEqual({ kind: 'rules', text: rules });
  });

  it('allows everything when there is no such file for us', () => {
    for (const status of [400, 401, 403, 404, 410, 429, 304]) {
      expect(judge(status)).toEqual({ kind: 'rules', text: '' });
    }
  });

  it('forbids everything for now when the server fails', () => {
    for (const status of [500, 502, 503, 599, 999]) {
      expect(judge(status)).toEqual({ kind: 'failed', why: `${url} answered ${status}` });
    }
  });

  it('leads elsewhere, at most five times', () => {
    const to = judge(301, { location: 'http://b.test/r#top' }, 4);
    expect(to.kind === 'redirect' && to.to.href).toBe('http://b.test/r');
    expect(judge(301, { location: 'http://b.test/r' }, 5)).toEqual({ kind: 'rules', text: '' });
  });

  it('allows everything when it leads nowhere', () => {
    for (const location of ['ftp://a.test/robots.txt', 'http://']) {
      expect(judge(302, { location })).toEqual({ kind: 'rules', text: '' });
    }
    expect(judge(302)).toEqual({ kind: 'rules', text: '' });
  });
});

describe('the rules of a robots.txt', () => {
  const kept = (text: string | Buffer, type: string | null = null) =>
    rulesOf(Buffer.from(text as string), type);

  it('are none in an HTML page, whatever is written in it', () => {
    expect(kept(`<!DOCTYPE html>\n<pre>\n${rules}\n</pre>`)).toBe('');
    expect(kept(`\uFEFF\n  <html>\n${rules}`)).toBe('');
  });

  it('are read behind a byte order mark, in UTF-8 and UTF-16', () => {
    expect(kept(`\uFEFF${rules}`)).toBe(rules);
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(rules, 'utf16le')]);
    expect(rulesOf(utf16, 'text/plain')).toBe(rules);
  });

  it('are without what means nothing to a crawler', () => {
    const text = `# hello\n${rules.replace('\n', '\r\n')} # why\r\n\r\nSitemap: https://a.test/s.xml\nHost: a.test\ncrawl-delay 3`;
    expect(kept(text)).toBe('User-agent: *\nDisallow: /private # why\ncrawl-delay 3');
  });

  it('are those of the first 500 KiB, without a line that is cut there', () => {
    const line = 'Disallow: /aaaaaaaa\n';
    const text = kept(`User-agent: *\n${line.repeat(40_000)}`);
    expect(text.length).toBeLessThanOrEqual(500 * 1024);
    expect(text.length).toBeGreaterThan(500 * 1024 - 30);
    expect(text.endsWith('\nDisallow: /aaaaaaaa')).toBe(true);
  });

  it('have no NUL, which no store keeps', () => {
    const text = kept('User-agent: *\nDisallow: /a\0b');
    expect(text).not.toContain('\0');
    expect(parseRobots(text).isAllowed('/a%00b', 'crawlnode')).toBe(false);
  });

  it('mean the same as the whole text', () => {
    const line = fc.constantFrom(
      ...[
        'User-agent: *',
        'useragent crawlnode',
        ' User agent : other # x',
        'Disallow: /',
        'disallow /a',
        'Allow:/a/b',
      ],
      ...[
        'Allow: ',
        'Crawl-delay: 2',
        'Crawl-delay:x',
        'Sitemap: https://a.test/',
        'Host: a.test',
        '# Disallow: /',
        '',
      ],
      ...['Disallowed: /', 'no rule', '<p>', 'Disallow', 'Disallow:/ä*$'],
    );
    const text = fc.tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom('\n', '\r', '\r\n'));
    fc.assert(
      fc.property(text, fc.constantFrom('/', '/a', '/a/b', '/ä', '/x'), ([lines, end], path) => {
        const whole = lines.join(end);
        const parsed = parseRobots(whole);
        const again = parseRobots(rulesOf(Buffer.from(whole), null));
        for (const agent of ['crawlnode', 'other', 'third']) {
          expect(again.isAllowed(path, agent)).toBe(parsed.isAllowed(path, agent));
          expect(again.crawlDelay(agent)).toBe(parsed.crawlDelay(agent));
        }
      }),
    );
  });
});

describe('a Crawl-delay', () => {
  const delay = (value: string, capMs = 60_000) =>
    crawlDelayMs(parseRobots(`User-agent: *\nCrawl-delay: ${value}`), 'crawlnode', capMs);

  it('is in seconds, and cut to the longest that is obeyed', () => {
    expect(delay('2')).toBe(2_000);
    expect(delay('0.5')).toBe(500);
    expect(delay('86400')).toBe(60_000);
    expect(delay('10', 0)).toBe(0);
  });

  it('is none when it is negative, or no number', () => {
    expect(delay('-5')).toBe(0);
    expect(delay('soon')).toBe(0);
  });
});
