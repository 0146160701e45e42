/** The two readers of links and titles owe each other the same answers: `HtmlReader` is right. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wholeOutline } from '../../../../src/http/markup/html/outline.js';
import { PageText, TextForm } from '../../../../src/http/markup/html/page-text.js';
import { plainOutline } from '../../../../src/http/markup/html/plain-outline.js';

/** What both find, decoded; null where the expressions leave a page to the reader. */
function plainly(html: string) {
  const text = new PageText(html);
  const plain = plainOutline(text.html, Number.POSITIVE_INFINITY);
  if (plain === null) return null;
  return {
    hrefs: plain.hrefs.map((href) => text.valueOf(href)),
    titles: plain.titles.map((title) => text.textOf(title, TextForm.escapable)),
    baseHref: null,
  };
}

function wholly(html: string) {
  const { hrefs, titles, baseHref } = wholeOutline(new PageText(html), Number.POSITIVE_INFINITY);
  return { hrefs, titles, baseHref };
}

/** What markup is made of, whole and broken. */
const pieces = [
  ...[
    '<',
    '>',
    '"',
    "'",
    '=',
    '/',
    '!',
    '?',
    '-',
    '&',
    ' ',
    '\n',
    '\t',
    '\f',
    '\r',
    '\v',
    '\xa0',
    'a',
    'x',
    'é',
  ],
  ...['-->', '<!--', '<!-->', '<!--->', '<!', '<!>', '<!doctype html>', '<?', '<?xml?>', '<![CDATA[', ']]>'],
  ...[
    '</',
    '</>',
    '</ a>',
    '</a>',
    '</p x="y">',
    '<p',
    '<p ',
    '<p>',
    '<p/>',
    '<p a=b>',
    '<p =a>',
    '<p a==b>',
  ],
  ...[
    '<p "a>">',
    '<p a="<a href=1>">',
    '<abbr>',
    '<table>',
    '<svg>',
    '<scriptx>',
    '<\x0fp>',
    'href',
    'HREF',
    '=x',
  ],
  ...['<a', '<a ', '<a href=x>', '<a href="x>y">', "<A HREF='q'>", '<area href=z/>', '<a href>', '<a href=>'],
  ...[
    '<a href= >',
    '<a href ="">',
    '<a x=1 href=2 href=3>',
    '<a/href=4>',
    '<a href="1"x>',
    '<a hrefs=5>',
    '="',
    "='",
  ],
  ...[
    '<title>',
    '<title/>',
    '<title a="/">',
    '</title>',
    '</TITLE x>',
    '<title>T</title>',
    '<title>T&amp;</title>',
  ],
  ...[
    '<title>a<b</title>',
    '<script>',
    '<script/>',
    '<script src=a/>',
    '<script src="a" / >',
    '</script',
    '</SCRIPT >',
  ],
  ...[
    '<style>',
    '</style\n>',
    '<textarea>',
    '</textarea>',
    '<xmp>',
    '</xmp/>',
    '\x1c',
    '\x1c/script>',
    '\0',
    '<!-- <script>',
    '--!>',
    '<!-->',
    '<iframe>',
    '</iframe>',
    '<noembed>',
    '<noframes/>',
    '<plaintext>',
    '<svg/>',
    '</svg>',
    '<path d="M0"/>',
    '<g>',
    '</g>',
    '<text>',
    '<desc>',
    '<foreignObject>',
    '<math>',
    '<mi>',
    '<base href=/x>',
    '</p a=">">',
    '</x/>',
    '\x0f',
    '\u017f',
  ],
];

const markup = fc.array(fc.constantFrom(...pieces), { maxLength: 25 }).map((parts) => parts.join(''));

describe('links and titles of plain markup', () => {
  it('are those that the reader finds, or left to it, whatever a page is made of', () => {
    let plain = 0;
    fc.assert(
      fc.property(markup, (html) => {
        const found = plainly(html);
        if (found === null) return;
        plain += 1;
        expect(found).toEqual(wholly(html));
      }),
      { numRuns: 40_000 },
    );
    expect(plain).toBeGreaterThan(1_000);
  });

  it.each([
    [
      'quotes of both kinds and none',
      `<a href="1"><a href='2'><a href=3 ><AREA title=x HREF = "4" />`,
      ['1', '2', '3', '4'],
    ],
    ['what quotes hide', `<p title="<a href='no'>"><a title='>' href="yes">`, ['yes']],
    ['comments', '<!-- <a href=no> --><!--><a href=1><!---><a href=2>', ['1', '2']],
    [
      'scripts, styles and texts',
      '<script>"<a href=no>"</script><style>a</style><textarea><a href=no></textarea>',
      [],
    ],
    ['a link of more attributes than most', `<a ${'x="1" '.repeat(40)}href=1>`, ['1']],
    [
      'more tags than one expression takes',
      '<p>'.repeat(1_000) + '<a href=1>'.repeat(300),
      Array(300).fill('1'),
    ],
    [
      'scripts that end nowhere but at the end tag',
      '<script/><a href=no></script/><script><!--<script></script><a href=no>--></script><a href=1>',
      ['1'],
    ],
    ['icons', '<svg class=i><g><path d="M0 0"/><!-- > --></g></svg><a href=1><svg /></svg>', ['1']],
    ['an end tag with attributes', '</p class><a href=1></p/>', ['1']],
    ['a < that begins nothing', 'a < b <3 <<a href=1>', ['1']],
  ])('are found beside %s', (_, html, hrefs) => {
    expect(plainOutline(html, Number.POSITIVE_INFINITY)).toEqual({ hrefs, titles: [] });
  });

  it.each([
    ['a tag without an end', '<p>a<p b="c'],
    ['a comment without an end', '<a href=1><!-- <a href=2>'],
    ['a name that begins with =', '<p =a>'],
    ['a base', '<base href=/x>'],
    ['an end tag with a quoted >', '</p a=">">'],
    ['a style in SVG', '<svg><style><a href=1></style></svg>'],
    ['SVG without an end', '<svg><path d="M0"/><a href=1>'],
    ['more attributes than an expression takes', `<p ${'x '.repeat(1_000)}>`],
  ])('are left to the reader beside %s', (_, html) => {
    expect(plainOutline(html, Number.POSITIVE_INFINITY)).toBeNull();
  });

  it('take no more time than the length of a page that means harm: what could be read in two ways would take hours', () => {
    const length = 500_000;
    const endless = [
      '<',
      '< ',
      '<p',
      '<p ',
      '<p a',
      '<p a=',
      '<p a="',
      '<a href=',
      '<!--',
      '<!a',
      '<script>',
      '<title>',
    ];
    for (const start of endless) {
      for (const filling of ['a', ' ', 'a ', '"', '/', 'a=b ', start]) {
        const html = start + filling.repeat(length / filling.length);
        expect([null, wholly(html)]).toContainEqual(plainly(html));
      }
    }
  });
});
