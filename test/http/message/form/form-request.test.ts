/** Requests that submit a form of a page, by the rules of the HTML standard for form submission. */
import { Request, Response } from 'crawlnode';
import { describe, expect, it } from 'vitest';

const url = 'https://example.org/account/login?next=/';

function page(body: string): Response {
  const headers = { 'content-type': 'text/html; charset=utf-8' };
  return new Response({ url, status: 200, headers, body: Buffer.from(body), request: new Request(url) });
}

const bodyOf = (request: Request) => request.body?.toString() ?? null;

describe('a form', () => {
  it('is submitted with its hidden fields, and what is filled in', () => {
    const login = page(`<form action="../session" method="post">
      <input type="hidden" name="csrf" value="a+b"><input name="user"><input name="password" type="password">
      <button>Log in</button></form>`);
    const request = Request.fromForm(login, { formdata: { user: 'me', password: 'söcret' }, priority: 2 });
    expect(request).toMatchObject({ url: 'https://example.org/session', method: 'POST', priority: 2 });
    expect(bodyOf(request)).toBe('csrf=a%2Bb&user=me&password=s%C3%B6cret');
    expect(request.headers).toMatchObject({ 'Content-Type': 'application/x-www-form-urlencoded' });
  });

  it.each<[string, string, string]>([
    ['text without a value', '<input name=a>', 'a='],
    ['a control without a name', '<input value=1><input name="" value=2>', ''],
    ['boxes', '<input type=checkbox name=a checked><input type=checkbox name=b>', 'a=on'],
    ['radio buttons', '<input type=radio name=a value=1><input type=radio name=a value=2 checked>', 'a=2'],
    ['a list without a selection', '<select name=a><option>one<option value=2>two</select>', 'a=one'],
    ['a selected option', '<select name=a><option>1<option selected> t  wo </select>', 'a=t+wo'],
    ['several', '<select name=a multiple><option selected>1<option>2<option selected>3</select>', 'a=1&a=3'],
    ['several, none selected', '<select name=a multiple><option>1</select>', ''],
    ['a disabled option', '<select name=a><option disabled>1<option>2</select>', 'a=2'],
    [
      'an option of a group',
      '<select name=a><optgroup disabled><option>1</optgroup><option>2</select>',
      'a=2',
    ],
    ['lines of text', '<textarea name=a>\none\ntwo</textarea>', 'a=one%0D%0Atwo'],
    [
      'files, resets and plain buttons',
      '<input type=file name=a><input type=reset name=b><button type=button name=c>',
      '',
    ],
    ['disabled controls', '<input name=a disabled><fieldset disabled><input name=b></fieldset>', ''],
    [
      'the legend of a disabled fieldset',
      '<fieldset disabled><legend><input name=a></legend><input name=b></fieldset>',
      'a=',
    ],
    ['the first submit button', '<input type=submit name=a value=1><button name=b value=2>x</button>', 'a=1'],
    ['an image as button', '<input type=image name=a>', 'a.x=0&a.y=0'],
    ['the charset', '<input type=hidden name=_charset_>', '_charset_=UTF-8'],
    [
      'order of the document',
      '<input name=b value=2><select name=a><option>1</select><input name=c value=3>',
      'b=2&a=1&c=3',
    ],
  ])('%s', (_what, controls, expected) => {
    const request = Request.fromForm(page(`<form method=post>${controls}</form>`));
    expect(bodyOf(request) ?? '').toBe(expected);
    expect(request).toMatchObject({ url, method: 'POST' });
  });

  it('goes into the query with GET, in place of that of its action', () => {
    const request = Request.fromForm(
      page('<form action="/find?old=1#top"><input name=q value="a b"></form>'),
    );
    expect(request).toMatchObject({ url: 'https://example.org/find?q=a+b#top', method: 'GET', body: null });
  });

  it('is chosen by a selector, of the form or of anything inside', () => {
    const two = page(
      '<form><input name=a></form><form id=b method=post action=/b><input name=c><p class=in></form>',
    );
    for (const selector of ['#b', 'form:nth-of-type(2)', 'p.in']) {
      expect(Request.fromForm(two, { selector }).url).toBe('https://example.org/b');
    }
    expect(() => Request.fromForm(two, { selector: '#c' })).toThrow(
      'no form on https://example.org/account/login',
    );
  });

  it('takes linear time with many controls in a disabled fieldset, and in deep nesting', () => {
    const inputs = '<input name=a>'.repeat(200_000);
    expect(Request.fromForm(page(`<form><fieldset disabled>${inputs}`)).url).toBe(url);
    const [open, close] = ['<fieldset disabled>'.repeat(400), '</fieldset>'.repeat(400)];
    const nested = `<form><input name=b value=1>${open}${inputs}${close}`;
    expect(Request.fromForm(page(nested), { selector: 'input' }).url).toMatch(/login\?b=1$/);
  });

  it('gives each option to the innermost list around it, and counts texts within each other', () => {
    const [lists, options] = [
      '<select name=a multiple>'.repeat(400),
      '<option selected value=b />'.repeat(40_000),
    ];
    expect(new URL(Request.fromForm(page(`<form><svg>${lists}${options}`)).url).searchParams.size).toBe(
      40_000,
    );
    const xml = (body: string) => new Response({ url, headers: { 'content-type': 'text/xml' }, body });
    const areas = `<form>${'<textarea name="a">'.repeat(400)}${'x'.repeat(1_000_000)}${'</textarea>'.repeat(400)}</form>`;
    expect(() => Request.fromForm(xml(areas))).toThrow(expect.objectContaining({ code: 'too_complex' }));
  });

  it('has the controls that name it elsewhere in the page', () => {
    const request = Request.fromForm(
      page('<form id=f method=post><input name=a form=other></form><input name=b form=f value=1>'),
    );
    expect(bodyOf(request)).toBe('b=1');
  });

  it('is sent by the button that is clicked, which may say where and how', () => {
    const form = page(`<form action=/a><input name=q value=1><button name=go value=1>A</button>
      <button id=save name=go value=2 formaction=/save formmethod=post>Save</button></form>`);
    const saved = Request.fromForm(form, { click: '#save' });
    expect(saved).toMatchObject({ url: 'https://example.org/save', method: 'POST' });
    expect(bodyOf(saved)).toBe('q=1&go=2');
    expect(Request.fromForm(form, { click: false }).url).toBe('https://example.org/a?q=1');
    expect(() => Request.fromForm(form, { click: '#no' })).toThrow('no submit button of the form');
  });

  it('leaves out what is null, and repeats a list', () => {
    const form = page('<form method=post><input name=a value=1><input name=b value=2></form>');
    expect(bodyOf(Request.fromForm(form, { formdata: { a: null, c: ['x', 3] } }))).toBe('b=2&c=x&c=3');
  });

  it('is multipart where it asks for that, the same for the same fields', () => {
    const form = page('<form method=post enctype=multipart/form-data><input name=a value=é></form>');
    const [one, two] = [Request.fromForm(form), Request.fromForm(form)];
    const [, boundary] = /boundary=(.+)$/.exec(String(one.headers['Content-Type'])) ?? [];
    expect(bodyOf(one)).toBe(
      `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\né\r\n--${boundary}--\r\n`,
    );
    expect(bodyOf(two)).toBe(bodyOf(one));
  });

  it('refuses an unknown option', () => {
    const form = page('<form></form>');
    // @ts-expect-error Scrapy's name
    expect(() => Request.fromForm(form, { formname: 'login' })).toThrow('"formname" is no option');
  });
});
