/**
 * Hosts that need no parser: sources of expressions for the short ways through URLs that nearly every link takes.
 * They match only what every parser takes as it is, so the last label of a name begins with a letter (or it might be
 * an IPv4 address in disguise), no label is punycode, and an address is four plain numbers.
 */

const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const LABEL = '(?!xn--)[a-z0-9-]+';

/** A name in lower-case ASCII, or an IPv4 address. */
export const PLAIN_HOST = `(?:(?:${LABEL}\\.)*(?!xn--)[a-z][a-z0-9-]*|${OCTET}(?:\\.${OCTET}){3})`;

/** A port without leading zeros, up to 64,999. */
export const PLAIN_PORT = ':(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3})';

/** The same, and not the default of http or https, which some parsers drop. */
export const OTHER_PORT = `(?!:(?:80|443)(?![0-9]))${PLAIN_PORT}`;
