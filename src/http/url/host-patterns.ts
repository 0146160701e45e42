/**
 * Sources of regular expressions for hosts that need no parser. The fast paths through URLs use them. They match only
 * hosts that every parser leaves unchanged: the last label of a name begins with a letter (otherwise the name might be
 * another spelling of an IPv4 address), no label is punycode, and an address has four plain numbers.
 */

const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const LABEL = '(?!xn--)[a-z0-9-]+';

/** A name in lower-case ASCII, or an IPv4 address. */
export const PLAIN_HOST = `(?:(?:${LABEL}\\.)*(?!xn--)[a-z][a-z0-9-]*|${OCTET}(?:\\.${OCTET}){3})`;

/** A port without leading zeros, up to 64,999. */
export const PLAIN_PORT = ':(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3})';

/** A plain port that is not the default of http or https, which some parsers remove. */
export const OTHER_PORT = `(?!:(?:80|443)(?![0-9]))${PLAIN_PORT}`;
