/** What a URL's host decides: whose politeness it falls under, and whether it is an address of this machine or network. */
import { BlockList, isIP, isIPv4 } from 'node:net';
import { OTHER_PORT, PLAIN_HOST } from './host-patterns.js';

/** The whole host, or the domain somebody registered (`example.co.uk` of `www.example.co.uk`). */
export type DomainKey = 'host' | 'registered';

/** A host that is its own key: as it is, with a port that is no default. */
const PLAIN_KEY = new RegExp(`^https?://(${PLAIN_HOST}(?:${OTHER_PORT})?)(?:[/?#]|$)`);
/** Second labels under which countries register names: `co.uk`, `com.au`, `ac.jp`. */
const SECOND_LEVEL = new Set(
  'ac co com edu go gob gouv gov govt gv id lg ltd me mil ne net nhs nic nom or org plc police sch'.split(
    ' ',
  ),
);

/** Everything a crawl of the public web has no business with. Sources: the IANA special-purpose registries. */
const privateAddresses = new BlockList();
for (const [network, prefix] of [
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
] as const) {
  privateAddresses.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 9],
  ['ff00::', 8],
] as const) {
  privateAddresses.addSubnet(network, prefix, 'ipv6');
}
/** Prefixes of IPv6 addresses that stand for an IPv4 one: IPv4-compatible, NAT64 (RFC 6052), 6to4 (RFC 3056). */
const EMBEDDING =
  /^(?:::(?:ffff:)?|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$|^2002:([0-9a-f]{1,4}):([0-9a-f]{1,4}):/;

/**
 * The politeness key of a URL: its host in lower-case ASCII, with `:port` unless that is the scheme's default;
 * or, for `registered`, the last two labels of the host (three below `co.uk` and its like), without port. An IP
 * address is its own registered domain. A URL that does not parse is its own key.
 */
export function domainOf(url: string, key: DomainKey): string {
  const plain = PLAIN_KEY.exec(url)?.[1];
  if (plain !== undefined && key === 'host') return plain;
  const parsed = parse(url);
  if (parsed === null) return url;
  return key === 'host' ? parsed.host : registeredDomain(parsed.hostname);
}

/**
 * Whether a URL's host is private by its spelling: loopback, RFC 1918, link-local, unique-local and the like, in any
 * form a resolver takes (`0x7f.1`, `2130706433`, `[::ffff:10.0.0.1]`), `localhost` and names below it. A name that only
 * resolves to such an address is not seen here: ask {@link isPrivateAddress} after the look-up.
 */
export function isPrivateHost(url: string): boolean {
  const hostname = parse(url)?.hostname.replace(/\.$/, '');
  if (hostname === undefined) return false;
  if (hostname === 'localhost' || hostname.endsWith('.localhost')) return true;
  return isPrivateAddress(hostname);
}

/** Whether an IP address (brackets and zone allowed) is private; false for what is no address. */
export function isPrivateAddress(address: string): boolean {
  const plain = address.replace(/^\[|\]$|%.*$/g, '');
  const version = isIP(plain);
  if (version === 0) return false;
  if (privateAddresses.check(plain, version === 4 ? 'ipv4' : 'ipv6')) return true;
  const embedded = version === 6 ? embeddedIpv4(plain) : null;
  return embedded !== null && privateAddresses.check(embedded, 'ipv4');
}

function parse(url: string): URL | null {
  // URL.parse is Node 22's.
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

function embeddedIpv4(address: string): string | null {
  const compressed = parse(`http://[${address}]/`)?.hostname.slice(1, -1) ?? '';
  const found = EMBEDDING.exec(compressed);
  if (!found) return null;
  const high = Number.parseInt(found[1] ?? found[3] ?? '0', 16);
  const low = Number.parseInt(found[2] ?? found[4] ?? '0', 16);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
