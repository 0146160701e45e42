/** Mask credentials in URLs. This does not depend on settings, unlike `mask-secrets.ts`, so error messages can use it early. */

export const MASK = '***';

/** Mask the credentials of every URL in a text: `https://***@host`, `socks5://***@host`, and `redis://user:***@host`, which keeps the user name. */
export function maskUrls(text: string): string {
  return text
    .replace(/((?:https?|socks\w*):\/\/)[^\s/?#"'<>]*@/gi, `$1${MASK}@`)
    .replace(/((?:rediss?|unix):\/\/[^\s/:@"']*):[^\s/?#"']*@/gi, `$1:${MASK}@`);
}

/** A copy of a value as JSON, with all its texts masked. */
export function maskTexts<T>(value: T, mask: (text: string) => string): T {
  const masked = (_key: string, part: unknown) => (typeof part === 'string' ? mask(part) : part);
  return JSON.parse(JSON.stringify(value, masked));
}
