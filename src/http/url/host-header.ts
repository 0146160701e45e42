/** The `Host` header of a request to a server of ours: by it a page of another site is told from one that names this machine (DNS rebinding). */
import { isIP } from 'node:net';

/** The name or address in lower case, without port and brackets; null where it is malformed. */
export function hostOfHeader(header: string): string | null {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([^\s:/@[\]]+))(?::\d{1,5})?$/i.exec(header) ?? [];
  return (bracketed ?? plain)?.toLowerCase() ?? null;
}

/** Whether it is an address or localhost, which no other site's name can be. */
export function isAddressOrLocalhost(host: string): boolean {
  return isIP(host) !== 0 || host === 'localhost';
}
