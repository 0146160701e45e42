/** Mask what a URL in any text may hold; apart from `mask.ts`, since error messages need it before any setting. */

export const MASK = '***';

/** Mask the userinfo of every URL in a text: `https://***@host`, and `redis://user:***@host`, where the user helps. */
export function maskUrls(text: string): string {
  return text
    .replace(/(https?:\/\/)[^\s/?#"'<>]*@/gi, `$1${MASK}@`)
    .replace(/((?:rediss?|unix):\/\/[^\s/:@"']*):[^\s/?#"']*@/gi, `$1:${MASK}@`);
}
