/** The meta refresh of a page, by the recorded results of w3lib. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { metaRefresh } from '../../../src/http/markup/meta-refresh.js';

interface Case {
  readonly id: string;
  readonly html: string;
  readonly url: string;
  readonly refresh_delay: number | null;
  readonly refresh_url: string | null;
}

const file = new URL('../../fixtures/vectors/html-base-refresh.public.json', import.meta.url);
const cases: readonly Case[] = JSON.parse(readFileSync(file, 'utf8')).cases;
const page = 'http://example.com/dir/page.html?x=1';

describe('metaRefresh', () => {
  it('is what w3lib finds in every recorded page', () => {
    const wrong = cases.filter((c) => {
      const found = metaRefresh(c.html, c.url);
      return (found?.url ?? null) !== c.refresh_url || (found?.delay ?? null) !== c.refresh_delay;
    });
    expect(wrong).toEqual([]);
  });

  it.each([
    ['<meta http-equiv="refresh" content="5;url=/next">', { delay: 5, url: 'http://example.com/next' }],
    ['<META CONTENT=".5; URL=next" HTTP-EQUIV=Refresh>', { delay: 0.5, url: 'http://example.com/dir/next' }],
    [
      '<meta http-equiv="refresh" content="1; url=a&amp;b&#x3d;c&nosuch;">',
      { delay: 1, url: 'http://example.com/dir/a&b=c' },
    ],
    [
      '<meta http-equiv="x"><meta http-equiv="refresh" content="0; url=?p=2">',
      { delay: 0, url: 'http://example.com/dir/page.html?p=2' },
    ],
    [
      '<base href="http://other/"><meta http-equiv="refresh" content="0; url=a">',
      { delay: 0, url: 'http://example.com/dir/a' },
    ],
    ['<meta http-equiv="refresh" content="0; url=http://[broken/">', null],
    ['<meta http-equiv="refresh" content="5">', null],
    ['<meta http-equiv="refresh" content="soon; url=/next">', null],
    ['<!-- <meta http-equiv="refresh" content="5;url=/next"> -->', null],
    ['<noscript><meta http-equiv="refresh" content="5;url=/next"></noscript>', null],
    ['<script>document.write(\'<meta http-equiv="refresh" content="5;url=/next">\')</script>', null],
    [`${' '.repeat(4096)}<meta http-equiv="refresh" content="5;url=/next">`, null],
  ])('of a page with %s', (html, expected) => {
    expect(metaRefresh(html, page)).toEqual(expected);
  });
});
