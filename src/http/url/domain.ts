/** The domain of a URL, for politeness. */
import { isIPv4 } from 'node:net';
import { OTHER_PORT, PLAIN_HOST } from './host-patterns.js';
import { parseUrl } from './parse-url.js';

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

/**
 * The politeness key of a URL. For `host` it is the host in lower-case ASCII, with `:port` unless that is the scheme's
 * default. For `registered` it is the last two labels of the host (three below `co.uk` and similar), without the port.
 * An IP address is its own registered domain. A URL that does not parse is its own key.
 */
export function domainOf(url: string, key: DomainKey): string {
  const plain = PLAIN_KEY.exec(url)?.[1];
  if (plain !== undefined && key === 'host') return plain;
  const parsed = parseUrl(url);
  if (parsed === null) return url;
  return key === 'host' ? parsed.host : registeredDomain(parsed.hostname);
}

function registeredDomain(hostname: string): string {
  if (hostname.startsWith('[') || isIPv4(hostname)) return hostname;
  const labels = hostname.replace(/\.$/, '').split('.');
  const country = labels.at(-1)?.length === 2;
  return labels.slice(country && SECOND_LEVEL.has(labels.at(-2) ?? '') ? -3 : -2).join('.');
}
