/**
 * Which addresses a request may connect to. A public site must not make a crawler send requests to its own machine or
 * network (SSRF). The check is on the connected address, so host names, redirects and changing DNS records cannot evade it.
 */
import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isLinkLocalAddress, isPrivateAddress, isPrivateHost } from '../http/url/private-hosts.js';
import { DownloadError } from './download-error.js';

/**
 * - `public`: the public internet only;
 * - `private`: also private addresses, but not link-local ones, where cloud providers serve credentials;
 * - `any`: every address (ALLOW_PRIVATE_ADDRESSES).
 */
export type Reach = 'public' | 'private' | 'any';

/** @param address an IP address. @returns the refusal, or null when connecting is allowed. */
export function refusalOf(address: string, reach: Reach): DownloadError | null {
  if (reach === 'any') return null;
  if (isLinkLocalAddress(address)) {
    return refused(
      `${address} is a link-local address; only ALLOW_PRIVATE_ADDRESSES lets a crawl connect there`,
    );
  }
  if (reach === 'private' || !isPrivateAddress(address)) return null;
  return refused(
    `${address} is a private address, and what led here is not (ALLOW_PRIVATE_ADDRESSES allows it)`,
  );
}

/**
 * The refusal of a URL whose host is written as an address, or is `localhost`. Of a request through a proxy nothing else can be
 * checked, since the proxy resolves the name.
 */
export function refusalOfUrl(url: string, reach: Reach): DownloadError | null {
  if (reach === 'any' || !isPrivateHost(url)) return null;
  const { hostname } = new URL(url);
  const address = hostname.replace(/^\[|\]$/g, '');
  return refusalOf(isIP(address) === 0 ? '127.0.0.1' : address, reach);
}

/**
 * A look-up that leaves out the addresses that are not allowed, and fails when no other is left.
 * @param lookup in place of `dns.lookup`.
 */
export function reachableLookup(
  reach: Reach,
  lookup: LookupFunction = systemLookup as LookupFunction,
): LookupFunction {
  if (reach === 'any') return lookup;
  return (host, options, callback) =>
    lookup(host, options, (error, found, family) => {
      if (error) return callback(error, found, family);
      if (typeof found === 'string') {
        const refusal = refusalOf(found, reach);
        return refusal === null ? callback(null, found, family) : callback(refusal, '', 0);
      }
      const reachable = found.filter(({ address }) => refusalOf(address, reach) === null);
      const [first] = found;
      if (first === undefined || reachable.length > 0) return callback(null, reachable);
      callback(refusalOf(first.address, reach)!, []);
    });
}

function refused(message: string): DownloadError {
  return new DownloadError('private_address', message);
}
