/** The value of Scrapy's `Request.url`, which its fingerprints are computed from. This URL is never sent. */
import { quoteField, unquoteField, utf8Bytes } from './percent-encoding.js';
import { safeUrlAsScrapy } from './safe-url.js';
import { joinParts, splitParams, splitUrl, type UrlParts } from './url-parts.js';

const AJAX_FIELD = '_escaped_fragment_';

/**
 * Escapes a URL with two rules of Scrapy that existing fingerprints depend on. An IPv6 address loses its brackets
 * (earlier w3lib). A fragment that begins with `!` moves into the query as `_escaped_fragment_`
 * (`scrapy.utils.url.escape_ajax`).
 * @throws InvalidRequestError (`invalid_url`) where `safeUrl` would.
 */
export function scrapyRequestUrl(url: string): string {
  const safe = safeUrlAsScrapy(url, { brackets: false });
  const at = safe.indexOf('#');
  return at >= 0 && safe[at + 1] === '!' ? escapeAjax(splitUrl(safe)) : safe;
}

function escapeAjax(parts: UrlParts): string {
  const [path, params] = splitParams(parts);
  return joinParts({
    ...parts,
    path: params === '' ? path : parts.path,
    query: withAjaxField(parts.query, utf8Bytes(parts.fragment.slice(1))),
    fragment: '',
  });
}

/** w3lib's `add_or_replace_parameter`: the first such field gets the new value, others go. */
function withAjaxField(query: string, fragment: string): string {
  const fields: string[] = [];
  const added = `${AJAX_FIELD}=${quoteField(fragment)}`;
  let replaced = false;
  for (const field of query.split('&')) {
    if (field === '') continue;
    const equals = field.indexOf('=');
    const name = asText(equals < 0 ? field : field.slice(0, equals));
    if (name !== AJAX_FIELD) fields.push(`${name}=${equals < 0 ? '' : asText(field.slice(equals + 1))}`);
    else if (!replaced) fields.push(added);
    replaced ||= name === AJAX_FIELD;
  }
  if (!replaced) fields.push(added);
  return fields.join('&');
}

/** Decodes as UTF-8 and quotes again. Invalid UTF-8 becomes U+FFFD, as in Python's `parse_qsl`. */
function asText(field: string): string {
  return quoteField(utf8Bytes(Buffer.from(unquoteField(field), 'latin1').toString('utf8')));
}
