/** The domain of a URL, for politeness, and whether its host is a private address. */
import { BlockList, isIP, isIPv4 } from 'node:net';
import { OTHER_PORT, PLAIN_HOST } from './host-patterns.js';

/** The whole host, or the registered domain (`example.co.uk` for `www.example.co.uk`). */
export type DomainKey = 'host' | 'registered';

/** A URL whose host and port need no normalization. */
const PLAIN_KEY = new RegExp(`^https?://(${PLAIN_HOST}(?:${OTHER_PORT})?)(?:[/?#]|$)`);
/** Second-level labels below which countries register names, as in `co.uk`, `com.au` and `ac.jp`. */
const SECOND_LEVEL = new Set(
  'ac co com edu go gob gouv gov govt gv id lg ltd me mil ne net nhs nic nom or org plc police sch'.split(
    ' ',
  ),
);

/** IPv4 networks that the public web does not use. Source: the IANA special-purpose registry. */
const PRIVATE_IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const;
/** The same for IPv6: unspecified and loopback, local NAT64 (RFC 8215), discard, unique-local, link- and site-local, multicast. */
const PRIVATE_IPV6 = [
  ['::', 127],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['fc00::', 7],
  ['fe80::', 9],
  ['ff00::', 8],
] as const;
const privateAddresses = blockListOf(PRIVATE_IPV4, PRIVATE_IPV6);
const linkLocalAddresses = blockListOf([['169.254.0.0', 16]], [['fe80::', 10]]);

/**
 * The politeness key of a URL. For `host` it is the host in lower-case ASCII, with `:port` unless that is the scheme's
 * default. For `registered` it is the last two labels of the host (three below `co.uk` and similar), without the port.
 * An IP address is its own registered domain. A URL that does not parse is its own key.
 */
export function domainOf(url: string, key: DomainKey): string {
  const plain = PLAIN_KEY.exec(url)?.[1];
  if (plain !== undefined && key === 'host') return plain;
  const parsed = parse(url);
  if (parsed === null) return url;
  return key === 'host' ? parsed.host : registeredDomain(parsed.hostname);
}

/**
 * Whether the host of a URL is written as a private address (loopback, RFC 1918, link-local, unique-local and others),
 * in any form that a resolver accepts (`0x7f.1`, `2130706433`, `[::ffff:10.0.0.1]`), or is `localhost` or a name below
 * it. Names are not resolved: check the resolved address with {@link isPrivateAddress}.
 */
export function isPrivateHost(url: string): boolean {
  const hostname = parse(url)?.hostname.replace(/\.$/, '');
  if (hostname === undefined) return false;
  if (hostname === 'localhost' || hostname.endsWith('.localhost')) return true;
  return isPrivateAddress(hostname);
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

function parse(url: string): URL | null {
  // Node 20 has no URL.parse.
  try {
    return new URL(url);
  } catch {
    return null;
  }
}

function registeredDomain(hostname: string): string {
  if (hostname.startsWith('[') || isIPv4(hostname)) return hostname;
  const labels = hostname.replace(/\.$/, '').split('.');
  const country = labels.at(-1)?.length === 2;
  return labels.slice(country && SECOND_LEVEL.has(labels.at(-2) ?? '') ? -3 : -2).join('.');
}
