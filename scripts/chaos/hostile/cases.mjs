/**
 * The hostile answers: each is bytes, or a function that is given the socket, with how its page must end: `item`, `done` (no
 * item and no failure), or the reason of its failure.
 */
import { setInterval as every } from 'node:timers';
import zlib from 'node:zlib';

const MB = 1024 * 1024;
const OK = 'HTTP/1.1 200 OK\r\n';
const HTML = 'content-type: text/html\r\n';
const chunked = 'transfer-encoding: chunked\r\n\r\n';
const latin1 = (text) => Buffer.from(text, 'latin1');

/** A whole answer. */
const page = (body, headers = '', start = OK) => {
  const bytes = Buffer.from(body);
  return Buffer.concat([latin1(`${start}${HTML}${headers}content-length: ${bytes.length}\r\n\r\n`), bytes]);
};
const head = (lines, body = 'ok') =>
  latin1(`${OK}${HTML}${lines}content-length: ${body.length}\r\n\r\n${body}`);
const encoded = (encoding, body) => page(body, `content-encoding: ${encoding}\r\n`);
const redirect = (location, status = '302 Found') =>
  page('', `location: ${location}\r\n`, `HTTP/1.1 ${status}\r\n`);
const status = (line, headers = '') => page('no page', headers, `HTTP/1.1 ${line}\r\n`);
/** Send `bytes` again and again: at once as fast as they are taken, or every so many ms. */
const pour = (first, bytes) => (socket) => {
  socket.write(first);
  const more = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on('drain', more);
  more();
};
const drip = (first, bytes, ms) => (socket) => {
  socket.write(first);
  const timer = every(() => socket.write(bytes), ms);
  socket.on('close', () => clearInterval(timer));
};

const zeros = (bytes) => Buffer.alloc(bytes);
/** A bomb of `bytes` packed piece by piece: gzip members may follow each other. */
const gzipBomb = (bytes) =>
  Buffer.concat(Array(bytes / (64 * MB)).fill(zlib.gzipSync(zeros(64 * MB), { level: 9 })));
const quality = (value) => ({ params: { [zlib.constants.BROTLI_PARAM_QUALITY]: value } });

const text = '<title>t</title>hello<p>world';
const small = zlib.gzipSync(text);

const bodies = {
  gzip_bomb: [encoded('gzip', gzipBomb(64 * MB)), 'too_large'],
  gzip_bomb_1g: [encoded('gzip', gzipBomb(1024 * MB)), 'too_large'],
  gzip_double: [encoded('gzip, gzip', zlib.gzipSync(gzipBomb(64 * MB))), 'too_large'],
  gzip_double_1g: [encoded('gzip, gzip', zlib.gzipSync(gzipBomb(1024 * MB))), 'too_large'],
  br_bomb: [encoded('br', zlib.brotliCompressSync(zeros(64 * MB), quality(5))), 'too_large'],
  deflate_bomb: [encoded('deflate', zlib.deflateSync(zeros(64 * MB))), 'too_large'],
  gzip_truncated: [encoded('gzip', small.subarray(0, 20)), 'body_truncated'],
  gzip_lie: [encoded('gzip', text), 'bad_encoding'],
  br_lie: [encoded('br', `${text} that is long enough`), 'bad_encoding'],
  gzip_trailing: [encoded('gzip', Buffer.concat([small, latin1('garbage')])), 'item'],
  gzip_members: [encoded('gzip', Buffer.concat([small, small])), 'item'],
  gzip_empty: [encoded('gzip', ''), 'item'],
  enc_stack9: [encoded(Array(9).fill('gzip').join(', '), small), 'bad_encoding'],
  enc_unknown: [encoded('wat', text), 'bad_encoding'],
  enc_proto: [encoded('__proto__', text), 'bad_encoding'],
  endless: [pour(`${OK}${HTML}\r\n`, zeros(MB)), 'too_large'],
  endless_chunked: [pour(`${OK}${chunked}`, latin1(`10000\r\n${'x'.repeat(0x10000)}\r\n`)), 'too_large'],
  endless_second: [pour(`${OK}${HTML}\r\n`, zeros(MB)), 'too_large'],
  slow_body: [drip(`${OK}content-length: 100000\r\n\r\n`, 'x', 200), 'timeout'],
  slow_chunks: [drip(`${OK}${chunked}`, '1\r\nx\r\n', 200), 'timeout'],
  slow_tiny_fast: [drip(`${OK}${chunked}`, '1\r\nx\r\n'.repeat(20), 20), 'timeout'],
  stall_body: [latin1(`${OK}content-length: 10\r\n\r\nhello`), 'timeout'],
  te_gzip: [
    Buffer.concat([
      latin1(`${OK}${HTML}transfer-encoding: gzip, chunked\r\n\r\n${small.length.toString(16)}\r\n`),
      small,
      latin1('\r\n0\r\n\r\n'),
    ]),
    'item',
  ],
};

const closing = (bytes) => (socket) => socket.end(latin1(bytes));

const framing = {
  cl_short: [closing(`${OK}content-length: 100\r\n\r\nshort`), 'body_truncated'],
  cl_long: [latin1(`${OK}content-length: 3\r\n\r\ntoo long`), 'item'],
  cl_one_more: [latin1(`${OK}${HTML}content-length: ${text.length - 1}\r\n\r\n${text}`), 'item'],
  cl_dup: [latin1(`${OK}content-length: 3\r\ncontent-length: 5\r\n\r\nhello`), 'bad_framing'],
  cl_te: [latin1(`${OK}content-length: 3\r\n${chunked}5\r\nhello\r\n0\r\n\r\n`), 'item'],
  cl_neg: [latin1(`${OK}content-length: -5\r\n\r\nhello`), 'bad_framing'],
  cl_huge: [latin1(`${OK}content-length: 99999999999999999999999\r\n\r\nhello`), 'bad_framing'],
  cl_10g: [latin1(`${OK}content-length: 10000000000\r\n\r\nhello`), 'too_large'],
  chunk_bad: [closing(`${OK}${chunked}zz\r\nhello\r\n0\r\n\r\n`), 'bad_framing'],
  chunk_huge: [latin1(`${OK}${chunked}fffffffffff\r\nhello`), 'timeout'],
  chunk_trunc: [closing(`${OK}${chunked}500\r\nhel`), 'body_truncated'],
  chunk_noend: [closing(`${OK}${chunked}5\r\nhello\r\n`), 'body_truncated'],
  chunk_ext_flood: [closing(`${OK}${chunked}5;${'x'.repeat(100_000)}\r\nhello\r\n0\r\n\r\n`), 'bad_framing'],
  trailer_flood: [
    closing(`${OK}${chunked}5\r\nhello\r\n0\r\n${'x-a: b\r\n'.repeat(50_000)}\r\n`),
    'headers_too_large',
  ],
  s204_body: [latin1('HTTP/1.1 204 No Content\r\ncontent-length: 4\r\n\r\nbody'), 'item'],
  smuggle: [Buffer.concat([page(text), page('<title>smuggled</title>')]), 'item'],
  rst: [
    (socket) => {
      socket.write(`${OK}content-length: 100\r\n\r\nhel`);
      setTimeout(() => socket.resetAndDestroy(), 20);
    },
    'body_truncated',
  ],
  close_now: [(socket) => socket.destroy(), 'connection_reset'],
  no_response: [() => {}, 'timeout'],
  ...Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`silent_${n}`, [() => {}, 'timeout']])),
};

const headers = {
  slow_headers: [drip(OK, 'x-a: b\r\n', 200), 'timeout'],
  slow_first_line: [drip('', 'H', 500), 'not_http'],
  flood_1xx: [latin1('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000)), 'bad_response'],
  slow_1xx: [drip('', 'HTTP/1.1 102 Processing\r\n\r\n', 500), 'timeout'],
  one_1xx: [Buffer.concat([latin1('HTTP/1.1 100 Continue\r\n\r\n'), page(text)]), 'item'],
  s101: [latin1('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'), 'bad_response'],
  header_flood: [head(`x-a: ${'y'.repeat(200_000)}\r\n`), 'headers_too_large'],
  header_many: [head(Array.from({ length: 2_500 }, (_, n) => `${n}:\r\n`).join('')), 'item'],
  header_cookies: [head('set-cookie: a=b\r\n'.repeat(800)), 'item'],
  header_proto: [head('__proto__: x\r\nconstructor: y\r\n'), 'item'],
  header_ctl: [head('x-a: \u0001\r\n'), 'item'],
  header_esc: [head('x-a: \u001b[31m\r\n'), 'item'],
  header_nul: [head('x-a: a\u0000b\r\n'), 'item'],
  header_nocolon: [head('nocolon\r\n'), 'bad_header'],
  header_latin1: [head('x-a: \xe4\xf6\r\n'), 'item'],
  header_fold: [head('x-a: one\r\n two\r\n'), 'item'],
  reason_flood: [page(text, '', `HTTP/1.1 200 ${'y'.repeat(100_000)}\r\n`), 'headers_too_large'],
  lf_only: [latin1(page(text).toString('latin1').replaceAll('\r\n', '\n')), 'item'],
  http09: [closing(`<html>${text}`), 'not_http'],
  http09_endless: [pour('', latin1('<p>no head'.repeat(1000))), 'not_http'],
  ssh_banner: [latin1('SSH-2.0-OpenSSH_9.2\r\n'), 'not_http'],
  h2_preface: [latin1('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), 'not_http'],
  http10: [closing(`HTTP/1.0 200 OK\r\n${HTML}\r\n${text}`), 'item'],
};

const statuses = {
  status_999: [status('999 Denied'), 'done'],
  status_000: [status('000 None'), 'done'],
  status_nan: [status('abc OK'), 'bad_status'],
  status_1234: [status('1234 OK'), 'bad_status'],
  s304: [latin1('HTTP/1.1 304 Not Modified\r\n\r\n'), 'done'],
  s206: [status('206 Partial Content'), 'item'],
  s300: [status('300 Multiple Choices'), 'done'],
  s404: [status('404 Not Found'), 'done'],
  s429: [status('429 Too Many Requests', 'retry-after: 1\r\n'), 'http_status'],
  s429_huge: [status('429 Too Many Requests', 'retry-after: 99999999\r\n'), 'http_status'],
  s503: [status('503 Unavailable'), 'http_status'],
  redir_loop: [redirect('/redir_loop'), 'done'],
  redir_chain: [(socket, path) => socket.write(redirect(`${path}x`)), 'max_redirects'],
  redir_js: [redirect('javascript:alert(1)'), 'done'],
  redir_file: [redirect('file:///etc/passwd'), 'done'],
  redir_data: [redirect('data:text/html,hi'), 'done'],
  redir_bad: [redirect('http://['), 'done'],
  redir_noloc: [status('302 Found'), 'done'],
  redir_empty: [redirect(''), 'done'],
  redir_long: [redirect(`/${'x'.repeat(5_000)}`), 'done'],
  redir_toolong: [redirect(`/${'x'.repeat(50_000)}`), 'headers_too_large'],
  redir_metadata: [redirect('http://169.254.169.254/latest/meta-data'), 'done'],
  redir_endless: [
    pour(
      `HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\n${chunked}`,
      latin1(`10000\r\n${'x'.repeat(0x10000)}\r\n`),
    ),
    'too_large',
  ],
};

const repeat = (times, piece, before = '<title>n</title>') => page(before + piece.repeat(times));

const markup = {
  binary: [page(Buffer.concat([latin1('\x89PNG\r\n\x1a\n'), zeros(100_000)])), 'item'],
  charset_unknown: [page(text, 'content-type: text/html; charset=wat\r\n'), 'item'],
  charset_proto: [page(text, 'content-type: text/html; charset=__proto__\r\n'), 'item'],
  utf16: [page(Buffer.from(`\ufeff${text}`, 'utf16le')), 'item'],
  nul_bytes: [page('<ti\u0000tle>x</title><title>a\u0000b</title><a href="/o\u0000k">x</a>'), 'item'],
  title_esc: [page('<title>\u001b[31mRED\u001b]0;pwned\u0007\u202egnp</title>'), 'item'],
  giant_title: [page(`<title>${'T'.repeat(5_000_000)}</title>`), 'item'],
  nested: [repeat(40_000, '<div>'), 'item'],
  nested_inline: [repeat(20_000, '<b><i>'), 'item'],
  attrs_50k: [
    page(`<title>n</title><p ${Array.from({ length: 50_000 }, (_, n) => `a${n}=b`).join(' ')}>`),
    'item',
  ],
  attr_unclosed: [page(`<title>n</title><a href="${'x'.repeat(3_000_000)}`), 'item'],
  comment_unclosed: [repeat(100_000, '<a href=/ok>', '<title>n</title><!--'), 'item'],
  script_unclosed: [repeat(100_000, '<a href=/ok>', '<title>n</title><script>'), 'item'],
  lt_5m: [repeat(5_000_000, '<', ''), 'item'],
  amp_4m: [repeat(4_000_000, '&'), 'item'],
  same_links: [repeat(100_000, '<a href="/ok">x</a>'), 'item'],
  links_100k: [
    page(
      `<title>m</title>${Array.from({ length: 100_000 }, (_, n) => `<a href="/leaf?${n}">x</a>`).join('')}`,
    ),
    'item',
  ],
  links_1m: [
    page(
      `<title>m</title>${Array.from({ length: 1_000_000 }, (_, n) => `<a href="/leaf/number/${n}">a link</a>\n`).join('')}`,
    ),
    'item',
  ],
  url_100k: [page(`<title>x</title><a href="/ok?${'a'.repeat(100_000)}">x</a>`), 'item'],
  base_js: [page('<base href="javascript:1"><title>x</title><a href="ok">x</a>'), 'item'],
  base_file: [page('<base href="file:///etc/"><title>x</title><a href="passwd">x</a>'), 'item'],
  json_deep: [page('['.repeat(1_000_000), 'content-type: application/json\r\n'), 'item'],
  xml_bomb: [
    page('<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><l>&b;</l>'),
    'item',
  ],
  meta_bad: [page('<meta charset="wat"><title>x</title>'), 'item'],
};

/** @type {Record<string, [answer: Buffer | ((socket: import('node:net').Socket, path: string) => void), ending: string]>} */
export const cases = { ...bodies, ...framing, ...headers, ...statuses, ...markup };
