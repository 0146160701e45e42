/** The two readers of links and titles owe each other the same answers: htmlparser2's tokenizer is right. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainOutline } from '../../../src/http/markup/regex-outline.js';
import { tokenizedOutline } from '../../../src/http/markup/tokenizer-outline.js';

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
    '\x0f',
    '\u017f',
  ],
];

const markup = fc.array(fc.constantFrom(...pieces), { maxLength: 25 }).map((parts) => parts.join(''));

describe('links and titles of plain markup', () => {
  it('are those that the tokenizer finds, or left to it, whatever a page is made of', () => {
    let plain = 0;
    fc.assert(
      fc.property(markup, (html) => {
        const found = plainOutline(html);
        if (found === null) return;
        plain += 1;
        expect(found).toEqual(tokenizedOutline(html));
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
    ['a < that begins nothing', 'a < b <3 <<a href=1>', ['1']],
  ])('are found beside %s', (_, html, hrefs) => {
    expect(plainOutline(html)).toEqual({ hrefs, titles: [] });
  });

  it.each([
    ['a tag without an end', '<p>a<p b="c'],
    ['a comment without an end', '<a href=1><!-- <a href=2>'],
    ['a script without an end', '<script> <a href=2>'],
    ['a name that begins with =', '<p =a>'],
    ['an empty tag that has text otherwise', '<script src=a /> <a href=1>'],
    ['a title within the title', '<title>a<title></title>'],
    ['more attributes than an expression takes', `<p ${'x '.repeat(1_000)}>`],
  ])('are left to the tokenizer beside %s', (_, html) => {
    expect(plainOutline(html)).toBeNull();
  });

  it('take no more time than the length of a page that means harm: what could be read in two ways would take hours', () => {
    const length = 2_000_000;
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
        expect([null, tokenizedOutline(html)]).toContainEqual(plainOutline(html));
      }
    }
  });
});
