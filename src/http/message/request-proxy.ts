/** The proxy that a request names in its `meta.proxy`, as in Scrapy. */
import { InvalidRequestError, messageOf } from '../../errors.js';
import { PROXY_FORMS, parseProxy } from '../../settings/proxy-url.js';
import type { Meta } from './request-meta.js';

/**
 * The meta of a request with its proxy in one spelling. Null stands for a direct connection.
 * @param proxy the option of the request, which replaces `meta.proxy`; undefined when it is not given.
 * @throws InvalidRequestError without the text of the proxy, which may hold a password.
 */
export function withProxy(meta: Meta, proxy: string | null | undefined): Meta {
  const named: unknown = proxy === undefined ? meta.proxy : proxy;
  if (named === null) return { ...meta, proxy: null };
  try {
    return { ...meta, proxy: parseProxy(named as string).url };
  } catch (error) {
    const reason = typeof named === 'string' ? messageOf(error) : `it is ${typeof named}, not text`;
    throw new InvalidRequestError(`meta.proxy is not a proxy such as ${PROXY_FORMS}: ${reason}.`);
  }
}

/**
 * A request without the proxy it names, which a stranger may have written. `meta.proxy_ignored` is set, for the counter and
 * for the spider.
 */
export function withoutProxy(meta: Meta): Meta {
  const { proxy: _proxy, ...rest } = meta;
  return { ...rest, proxy_ignored: true };
}
