/** Whether a body can be markup, so that an image or an archive sent as text/html is not parsed. */

/** Content types that are never markup; their bytes are not checked. */
const NOT_MARKUP =
  /^(?:(?:audio|video|font)\/|image\/(?!svg)|application\/(?:pdf|zip|gzip|x-gzip|x-tar|json|javascript|x-javascript|wasm)\b|text\/(?:css|csv|javascript)\b|[^;]*\+json\b)/i;

const XML = /^(?:application\/xml|text\/xml|[^;]+\+xml)\b/i;
const XHTML = /^application\/xhtml\+xml\b/i;
const WIDE = /charset\s*=\s*["']?\s*(?:utf-?16|utf-?32|ucs-?2|iso-10646|unicode)/i;

const SNIFF_BYTES = 1024;
// A regular expression is fast from the first page on; V8 compiles a loop only after many runs.
const BINARY_DATA = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]/g;

/** @param contentType the Content-Type header, null when there is none */
export function isMarkup(body: Buffer, contentType: string | null): boolean {
  if (contentType !== null && NOT_MARKUP.test(contentType.trimStart())) return false;
  if (hasWideBom(body) || (contentType !== null && WIDE.test(contentType))) return true;
  const beginning = body.toString('latin1', 0, SNIFF_BYTES);
  return !beginning.startsWith('%PDF-') && !isBinary(beginning);
}

/** Whether a content type is XML that is not XHTML: a feed, a sitemap, SVG. */
export function isXml(contentType: string | null): boolean {
  return contentType !== null && XML.test(contentType.trimStart()) && !XHTML.test(contentType.trimStart());
}

/** Text in UTF-16 or UTF-32 has many NUL bytes, so it is recognized by its byte order mark. */
function hasWideBom(body: Buffer): boolean {
  return (
    body.length >= 2 && ((body[0] === 0xff && body[1] === 0xfe) || (body[0] === 0xfe && body[1] === 0xff))
  );
}

/**
 * Whether more than one byte in 50 is a "binary data byte" (WHATWG MIME Sniffing §3). A single one is not enough: real
 * pages have a stray control character, and would silently lose their links. Compressed data has one in ten.
 */
function isBinary(bytes: string): boolean {
  const binary = bytes.match(BINARY_DATA);
  return binary !== null && binary.length * 50 > bytes.length;
}
