/** The options of proxies from the settings, and the file that lists them. */
import { readBoundedFile } from '../../bounded-file.js';
import type { ProxyOptions } from '../../downloader/proxies/proxy-routes.js';
import { messageOf, SettingsError } from '../../errors.js';
import { parseProxy } from '../../settings/proxy-url.js';
import type { Settings } from '../../settings/schema.js';

const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** @throws SettingsError when the file of PROXIES cannot be read, or a line of it is no proxy. */
export function proxyOptionsOf(settings: Settings): ProxyOptions {
  const { HTTPPROXY_ENABLED: enabled, PROXIES } = settings;
  return {
    enabled,
    pool: typeof PROXIES !== 'string' ? PROXIES : enabled ? proxiesOfFile(PROXIES) : [],
    selection: settings.PROXY_SELECTION,
    restMs: Math.round(settings.PROXY_REST * 1000),
    http: settings.HTTP_PROXY,
    https: settings.HTTPS_PROXY,
    noProxy: settings.NO_PROXY,
    domainKey: settings.DOMAIN_KEY,
  };
}

/** One proxy on each line; empty lines, and what begins with `#`, are left out. */
function proxiesOfFile(file: string): string[] {
  let text: string;
  try {
    text = readBoundedFile(file, MAX_FILE_BYTES).toString();
  } catch (error) {
    throw new SettingsError(`PROXIES: ${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  const proxies = text.split(/\r?\n/).flatMap((line, n) => {
    const entry = line.replace(/^\uFEFF/, '').trim();
    if (entry === '' || entry.startsWith('#')) return [];
    try {
      return [parseProxy(entry).url];
    } catch (error) {
      throw new SettingsError(`PROXIES: line ${n + 1} of ${file} is not a proxy: ${messageOf(error)}`);
    }
  });
  if (proxies.length > 0) return proxies;
  throw new SettingsError(`PROXIES: ${file} lists no proxy, and requests would be sent directly`);
}
