/** Finds the encoding that a response declares in its Content-Type header, a meta tag or an XML declaration. */

/** How much of a page is searched. HTML suggests 1,024 bytes; w3lib, and so Scrapy, searches more. */
const HEAD_BYTES = 4096;

const IN_HEADER = /charset=([\p{L}\p{N}_-]+)/iu;
const COMMENT = /<!--.*?(?:-->|$)/gs;
// Not `\s`: it matches U+00A0 and others, which are letters in other single-byte encodings.
const TAG = /<[ \t-\r]*(?:(body)|(\?xml)[ \t-\r]|(meta))/gi;
const XML_ENCODING = /[^>]+?encoding[ \t-\r]*=[ \t-\r]*["']?[ \t-\r]*([\w-]+)/iy;
const META_CHARSET = /[ \t-\r]+charset[ \t-\r]*=[ \t-\r]*["']?[ \t-\r]*([\w-]+)/iy;
const HTTP_EQUIV = /[ \t-\r]+http-equiv[ \t-\r]*=[ \t-\r]*["']?[ \t-\r]*Content-Type(?:[ \t-\r]*["'])?/iy;
const CONTENT = /[ \t-\r]+content[ \t-\r]*=[^;]+;[ \t-\r]*charset=([\w-]+)(?:[ \t-\r]*["'])?/iy;
const ATTRIBUTE =
  /[ \t-\r]+[^=<>/\s"'\0-\x1f\x7f]+(?:[ \t-\r]*=[ \t-\r]*(?:'[^']*'|"[^"]*"|[^'" \t-\r]+))?/iy;

/**
 * The label in a Content-Type header, as written; null without one.
 * Source: w3lib 2.1's `http_content_type_encoding`, which sees neither `charset="gbk"` nor `charset= gbk`;
 * pages that Scrapy decodes by their own declaration must not decode otherwise here.
 */
export function headerCharset(contentType: string | null): string | null {
  return contentType === null ? null : (IN_HEADER.exec(contentType)?.[1] ?? null);
}

/**
 * The label in the first declaration within the first 4,096 bytes, as written: `<meta charset>`, `<meta
 * http-equiv content>` or `<?xml encoding>`, before `<body` and outside comments; null without one.
 *
 * Source: w3lib's `html_body_declared_encoding`, which does not skip comments. Its single expression is split here, so
 * that the cost of a hostile page is at most quadratic in the 4,096 bytes.
 */
export function declaredCharset(bytes: Buffer): string | null {
  const head = bytes.toString('latin1', 0, HEAD_BYTES).replace(COMMENT, '');
  if (!/charset|encoding/i.test(head)) return null;
  for (const tag of head.matchAll(TAG)) {
    const end = tag.index + tag[0].length;
    if (tag[1] !== undefined) return null;
    const label = tag[2] === undefined ? metaCharset(head, end) : matchAt(XML_ENCODING, head, end)?.[1];
    if (label) return label;
  }
  return null;
}

/** Reads the attributes of a meta tag until one attribute, or a pair of them, declares an encoding. */
function metaCharset(head: string, start: number): string | null {
  for (let at = start; ; ) {
    const label = pragmaCharset(head, at) ?? matchAt(META_CHARSET, head, at)?.[1];
    if (label) return label;
    const attribute = matchAt(ATTRIBUTE, head, at);
    if (!attribute) return null;
    at += attribute[0].length;
  }
}

/** `http-equiv="Content-Type"` and `content="…; charset=…"`, side by side, in either order. */
function pragmaCharset(head: string, at: number): string | null {
  const equiv = matchAt(HTTP_EQUIV, head, at);
  const content = matchAt(CONTENT, head, equiv ? at + equiv[0].length : at);
  if (!content) return null;
  if (equiv) return content[1] ?? null;
  return matchAt(HTTP_EQUIV, head, at + content[0].length) ? (content[1] ?? null) : null;
}

function matchAt(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at;
  return sticky.exec(text);
}
