/** Private addresses, and hosts that are written as one. */
import { BlockList, isIP } from 'node:net';
import { parseUrl } from './parse-url.js';

/** IPv4 networks that the public web does not use. Source: the IANA special-purpose registry. */
const PRIVATE_IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const;
/** The same for IPv6: unspecified and loopback, local NAT64 (RFC 8215), discard, Teredo, documentation (two), segment routing, unique-local, link- and site-local, multicast. */
const PRIVATE_IPV6 = [
  ['::', 127],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 32],
  ['2001:db8::', 32],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 9],
  ['ff00::', 8],
] as const;
/** Names of the machine itself (RFC 6761), also those of its hosts file on Debian and Red Hat. */
const LOOPBACK_NAMES =
  /^(?:(?:.+\.)?localhost|localhost6?\.localdomain6?|localhost6|ip6-(?:localhost|loopback))$/;
const privateAddresses = blockListOf(PRIVATE_IPV4, PRIVATE_IPV6);
const linkLocalAddresses = blockListOf([['169.254.0.0', 16]], [['fe80::', 10]]);

/**
 * Whether the host of a URL is written as a private address (loopback, RFC 1918, link-local, unique-local and others),
 * in any form that a resolver accepts (`0x7f.1`, `2130706433`, `[::ffff:10.0.0.1]`), or is a name of the machine
 * itself, such as `localhost`. Other names are not resolved: check the resolved address with {@link isPrivateAddress}.
 */
export function isPrivateHost(url: string): boolean {
  const hostname = parseUrl(url)?.hostname.replace(/\.$/, '');
  if (hostname === undefined) return false;
  return LOOPBACK_NAMES.test(hostname) || isPrivateAddress(hostname);
}

/** Whether an IP address (brackets and zone allowed) is private; false for any other text. */
export function isPrivateAddress(address: string): boolean {
  return isIn(privateAddresses, address);
}

/**
 * Whether an IP address is link-local (169.254.0.0/16, fe80::/10). Cloud providers serve the credentials of a machine at
 * the link-local address 169.254.169.254.
 */
export function isLinkLocalAddress(address: string): boolean {
  return isIn(linkLocalAddresses, address);
}

type Network = readonly [address: string, prefix: number];

/**
 * A list of networks. Each IPv4 network is also listed in the IPv6 forms that embed an IPv4 address: IPv4-compatible,
 * IPv4-translated (RFC 7915), NAT64 (RFC 6052) and 6to4 (RFC 3056). `BlockList` itself handles IPv4-mapped addresses
 * (`::ffff:10.0.0.1`).
 */
function blockListOf(ipv4: readonly Network[], ipv6: readonly Network[]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of ipv4) {
    list.addSubnet(address, prefix, 'ipv4');
    const [a, b, c, d] = address.split('.').map(Number) as [number, number, number, number];
    const words = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
    for (const before of ['::', '::ffff:0:', '64:ff9b::'])
      list.addSubnet(before + words, 96 + prefix, 'ipv6');
    list.addSubnet(`2002:${words}::`, 16 + prefix, 'ipv6');
  }
  for (const [address, prefix] of ipv6) list.addSubnet(address, prefix, 'ipv6');
  return list;
}

function isIn(list: BlockList, address: string): boolean {
  const plain = address.replace(/^\[|\]$|%.*$/g, '');
  const version = isIP(plain);
  return version !== 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6');
}
