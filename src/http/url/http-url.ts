/** Checks the URL of a request: it must be absolute, http or https, and have a valid host. */
import { InvalidRequestError } from '../../errors.js';
import { parseUrl } from './parse-url.js';
import { SAFE_URL, safeUrl } from './safe-url.js';

const NO_HOST = /^https?:(?!\/\/)|^https?:\/\/(?:[^/?#]*@)?(?::\d*)?(?:[/?#]|$)/i;
/** A host and port without a scheme, such as `localhost:8080/x`; a URL parser reads the host as a scheme. */
const HOST_AND_PORT = /^[a-z0-9.-]+:\d+(?:[/?#]|$)/i;
const SCHEME = /^([a-z][a-z0-9+.-]*):/i;

/**
 * The URL as Scrapy would escape it (`safe_url_string`).
 * @throws InvalidRequestError naming the URL and what is wrong with it
 */
export function checkUrl(url: unknown): string {
  if (typeof url === 'string' && SAFE_URL.test(url)) return url;
  if (typeof url !== 'string' && !(url instanceof URL)) {
    throw new InvalidRequestError(
      `The URL of a request must be text, not ${url === null ? 'null' : typeof url}.`,
    );
  }
  const given = String(url);
  const safe = safeUrl(given);
  if (SAFE_URL.test(safe)) return safe;

  const scheme = SCHEME.exec(safe)?.[1]?.toLowerCase();
  if (scheme === undefined || HOST_AND_PORT.test(safe)) {
    refuse(given, 'it has no scheme; give an absolute URL such as https://example.org/');
  }
  if (scheme !== 'http' && scheme !== 'https')
    refuse(given, `only http and https are crawled, not ${scheme}`);
  if (NO_HOST.test(safe)) refuse(given, 'it has no host');
  if (parseUrl(safe) === null) refuse(given, 'no client can fetch it: its host or port is not valid');
  return safe;
}

/** Masks the user info of the URL in the message. */
function refuse(url: string, why: string): never {
  const shown = url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1***@').slice(0, 200);
  throw new InvalidRequestError(`The URL ${JSON.stringify(shown)} cannot be requested: ${why}.`);
}
