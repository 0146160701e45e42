/** Which hosts are requested without a proxy. */
import { BlockList, isIP } from 'node:net';
import { isPrivateHost } from '../../http/url/private-hosts.js';

/** Whether a URL is exempt from proxies. */
export type Exemption = (url: URL) => boolean;

/**
 * Read NO_PROXY as curl and Go do: entries are separated by commas or spaces. `example.com` and `.example.com` match the
 * domain and its subdomains, `host:port` only this port, `10.0.0.0/8` a network, `*` every host. Names are not resolved.
 */
export function exemptionOf(noProxy: string | null): Exemption {
  const networks = new BlockList();
  const hosts: { readonly name: string; readonly port: string }[] = [];
  let isAll = false;
  for (const entry of (noProxy ?? '').toLowerCase().split(/[\s,]+/)) {
    if (entry === '*') isAll = true;
    else if (entry !== '' && !addNetwork(networks, entry)) hosts.push(hostEntry(entry));
  }
  return (url) => {
    if (isAll) return true;
    const host = hostOf(url);
    const version = isIP(host);
    if (version !== 0 && networks.check(host, version === 4 ? 'ipv4' : 'ipv6')) return true;
    return hosts.some(
      ({ name, port }) =>
        (host === name || host.endsWith(`.${name}`)) && (port === '' || port === portOf(url)),
    );
  };
}

/** Whether a URL names this machine, which a proxy could not reach. Go makes the same exception for `http_proxy`. */
export function isLoopback(url: URL): boolean {
  const host = hostOf(url);
  return host === '::1' || host.startsWith('127.') || (isIP(host) === 0 && isPrivateHost(url.href));
}

/** `host:port` of a URL for a tunnel, with the default port of its scheme. */
export function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80');
}

/** The host of a URL without brackets and a closing dot. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** An address, or a network such as 10.0.0.0/8. @returns false when it is neither. */
function addNetwork(list: BlockList, entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.replace(/^\[|\]$/g, '').split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const longest = version === 4 ? 32 : 128;
  const bits = prefix === undefined ? longest : Number(prefix);
  if (!Number.isInteger(bits) || bits < 0 || bits > longest) return false;
  list.addSubnet(address, bits, family);
  return true;
}

function hostEntry(entry: string): { name: string; port: string } {
  const [, host = entry, port = ''] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  return { name: host.replace(/^\*?\.|\.$|^\[|\]$/g, '').replace(/^\*?\./, ''), port };
}
