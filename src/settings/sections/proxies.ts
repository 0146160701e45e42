/** Settings: proxies. */
import * as z from 'zod';
import {
  choice,
  type Definition,
  decimal,
  define,
  flag,
  optionalText,
  parseList,
  projectPath,
} from '../kinds.js';
import { PROXY_FORMS, parseProxy } from '../proxy-url.js';

const proxyUrl = z.string().transform((text, context) => {
  try {
    return parseProxy(text).url;
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
    return z.NEVER;
  }
}) as unknown as z.ZodType<string, string>;

export const proxySettings = {
  /**
   * Use proxies. False connects to every site directly, whatever the other settings and meta.proxy say.
   * Default: true.
   */
  HTTPPROXY_ENABLED: flag({ default: true }),
  /**
   * The proxy of http:// pages. The environment variable http_proxy sets it too. Pages of this machine
   * (localhost, 127.0.0.0/8) are requested directly. Default: null.
   */
  HTTP_PROXY: proxyOf('http'),
  /**
   * The proxy of https:// pages. The environment variable https_proxy sets it too. Otherwise as HTTP_PROXY.
   * Default: null.
   */
  HTTPS_PROXY: proxyOf('https'),
  /**
   * Hosts that are requested directly, separated by commas: a domain stands for itself and its subdomains,
   * 10.0.0.0/8 for the addresses of a network, * for every host. It applies to HTTP_PROXY, HTTPS_PROXY and
   * PROXIES. The environment variable no_proxy sets it too. Default: null.
   */
  NO_PROXY: optionalText({ isCommonName: true, environmentNames: ['no_proxy'] }),
  /**
   * Proxies of all requests that name none: a list, or the path of a file with one on each line. A proxy is
   * written as http://user:password@host:port (or https://, socks5://) or host:port:user:password. Default:
   * [].
   */
  PROXIES: proxyList(),
  /**
   * Which of the PROXIES a request uses: the next one in turn; always the same one for its domain; or always
   * the same one for its meta.cookiejar (without one, for its domain). Default: "rotate".
   */
  PROXY_SELECTION: choice({ of: ['rotate', 'domain', 'cookiejar'], default: 'rotate' }),
  /**
   * How long a node does not use a proxy that failed. Doubled with each further failure, up to 16 times.
   * Unit: seconds. Default: 30.
   */
  PROXY_REST: decimal({ default: 30, max: 86_400, unit: 'seconds' }),
  /**
   * Seeds in a start_urls key may name a proxy. Then anybody who can write there can route requests of the
   * crawl through any host. Default: false.
   */
  PROXY_FROM_SEEDS: flag({ default: false }),
};

function proxyOf(scheme: 'http' | 'https'): Definition<string | null> {
  return define(
    proxyUrl.nullable(),
    `a proxy, such as ${PROXY_FORMS}, or null`,
    {
      default: null,
      isCommonName: true,
      environmentNames: [`${scheme}_proxy`],
    },
    (text) => text,
  );
}

/** A list of proxies, or the path of a file of them. */
function proxyList(): Definition<string[] | string> {
  const type = z.preprocess(
    (value) => (typeof value === 'string' && isProxy(value) ? [value] : value),
    z.union([z.array(proxyUrl), z.string().min(1)]),
  ) as unknown as z.ZodType<string[] | string, string[] | string>;
  const definition = define(
    type,
    `a list of proxies, such as ${PROXY_FORMS}, or the path of a file with one proxy on each line`,
    {
      default: [],
    },
    (text) => (text.includes(',') || /^\s*(\[|$)/.test(text) || isProxy(text) ? parseList(text) : text),
  );
  return {
    ...definition,
    resolve: (value, dir) => (typeof value === 'string' ? projectPath(dir, value) : value),
  };
}

/** Whether a text is meant as one proxy, and not as the path of a file. */
function isProxy(text: string): boolean {
  return /:\/\/|@|:\d+(:|$)/.test(text);
}
