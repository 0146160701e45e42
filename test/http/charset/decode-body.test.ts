/** From bytes and a Content-Type to text, by the recorded answers of w3lib. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBody } from '../../../src/http/charset/decode-body.js';
import { Response } from '../../../src/http/message/response.js';

interface Case {
  readonly id: string;
  readonly content_type: string | null;
  readonly body_base64: string;
  readonly expected_text: string;
}

const file = new URL('../../fixtures/vectors/encoding.public.json', import.meta.url);
const cases: readonly Case[] = JSON.parse(readFileSync(file, 'utf8')).cases;

const latin = (text: string) => Buffer.from(text, 'latin1');
const page = (head: string) => latin(`<html><head>${head}</head><body>\xcc\xe8\xf0</body></html>`);
const bodyOf = (text: string) => /<body>(.*)<\/body>/.exec(text)?.[1];

describe('decodeBody', () => {
  it('is what w3lib makes of every recorded page', () => {
    const wrong = cases.filter(
      (c) => decodeBody(Buffer.from(c.body_base64, 'base64'), c.content_type) !== c.expected_text,
    );
    expect(wrong).toEqual([]);
  });

  it.each(['latin1', 'ISO-8859-1', 'us-ascii', 'windows-1252', 'ISO_8859-1'])(
    'takes %s for windows-1252, quotes and euro sign included',
    (label) => {
      expect(decodeBody(latin('\x80 \x93caf\xe9\x94'), `text/html; charset=${label}`)).toBe('€ “café”');
    },
  );

  it.each(['text/html; charset=windows-1252', 'text/html'])(
    'takes little memory for a page that is all quotes, as %s',
    (type) => {
      const before = process.resourceUsage().maxRSS;
      const url = 'http://a.example/';
      const body = Buffer.alloc(28_000_000, 0x93);
      const { text } = new Response({ url, headers: { 'content-type': type }, body });
      expect([text.length, text.slice(-2)]).toEqual([28_000_000, '““']);
      expect(process.resourceUsage().maxRSS - before).toBeLessThan(500_000);
    },
  );

  it('believes a byte order mark before the header, and the header before the page', () => {
    const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('<meta charset=gbk>é')]);
    expect(decodeBody(marked, 'text/html; charset=koi8-r')).toBe('<meta charset=gbk>é');
    expect(bodyOf(decodeBody(page('<meta charset=koi8-r>'), 'text/html; charset=windows-1251'))).toBe('Мир');
  });

  it('reads UTF-32, which only a byte order mark announces', () => {
    const text = [0xff, 0xfe, 0, 0, 0x41, 0, 0, 0, 0x00, 0xf6, 1, 0, 0, 0xd8, 0, 0, 1];
    expect(decodeBody(Buffer.from(text), null)).toBe('A\u{1f600}\ufffd\ufffd');
  });

  it.each([
    '<meta charset=windows-1251>',
    "<META CHARSET = 'Windows-1251' />",
    '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
    '<meta content="text/html;charset=windows-1251" http-equiv=content-type>',
    '<meta http-equiv=Content-Type content=text/html;charset=windows-1251>',
    '<meta name="a>b" content=\'x\' charset="cp1251">',
    '<?xml version="1.0" encoding="windows-1251"?>',
    '<!-- <meta charset=koi8-r> --><meta charset=windows-1251>',
    '<meta charset=utf-99><meta name=x content="charset=koi8-r">',
  ])('obeys %s, or goes on where it declares nothing known', (head) => {
    const expected = head.includes('1251') ? 'Мир' : '\ufffd\ufffd\ufffd';
    expect(bodyOf(decodeBody(page(head), 'text/html'))).toBe(expected);
  });

  it('looks for a declaration in the first 4,096 bytes and before the body', () => {
    const far = page(`${' '.repeat(4096)}<meta charset=windows-1251>`);
    expect(bodyOf(decodeBody(far, null))).toBe('\ufffd\ufffd\ufffd');
    const late = latin('<body>\xcc<meta charset=windows-1251></body>');
    expect(decodeBody(late, null)).toContain('\ufffd');
  });

  it('falls back from a label nobody knows to the next declaration, then to UTF-8', () => {
    expect(bodyOf(decodeBody(page('<meta charset=windows-1251>'), 'text/html; charset=none'))).toBe('Мир');
    expect(decodeBody(Buffer.from('é'), 'text/html; charset=none')).toBe('é');
    expect(decodeBody(Buffer.from('é'), 'text/html; charset=base64')).toBe('é');
  });

  it('of a response without a declaration is windows-1252 where it is not UTF-8, unless most of it is', () => {
    const textOf = (body: Buffer, type = 'text/html') =>
      new Response({ url: 'http://a.example/', body, headers: { 'content-type': type } }).text;
    expect(textOf(latin('<h1>caf\xe9 \x80</h1>'))).toBe('<h1>café €</h1>');
    expect(textOf(Buffer.from('<h1>café</h1>'))).toBe('<h1>café</h1>');
    expect(textOf(latin('caf\xe9'), 'text/html; charset=utf-8')).toBe('caf\ufffd');
    const oneBadByte = Buffer.concat([Buffer.from('é und ü und '), Buffer.from([0xe9])]);
    expect(textOf(oneBadByte)).toBe('é und ü und \ufffd');
    const linked = new Response({ url: 'http://a.example/', body: latin('<a href="/caf\xe9">') });
    expect(linked.links()).toEqual(['http://a.example/caf%C3%A9']);
  });

  it('takes a page that says in ASCII that it is UTF-16 for UTF-8', () => {
    expect(decodeBody(Buffer.from('<meta charset=utf-16>é'), null)).toBe('<meta charset=utf-16>é');
  });

  it('never throws, whatever the bytes and the header', () => {
    const label = fc.constantFrom(
      'utf-8',
      'utf-16',
      'utf-32',
      'gb18030',
      'shift_jis',
      'big5',
      'l1',
      'zlib',
      '',
      'é',
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), label, (bytes, charset) => {
        expect(typeof decodeBody(Buffer.from(bytes), `text/html; charset=${charset}`)).toBe('string');
        expect(typeof decodeBody(Buffer.from(bytes), null)).toBe('string');
      }),
    );
  });
});
