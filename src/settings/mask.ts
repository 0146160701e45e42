/** Keep secrets out of everything that is shown. */
import { MASK, maskUrls } from './mask-urls.js';
import { definitionOf, type SettingName, type Settings } from './schema.js';

/** Names of options of ioredis and of request headers whose values are nobody's business. */
const secretParam =
  /pass(word)?$|^(sentinel)?password$|secret|token|^key$|passphrase|authorization$|^cookie2?$|api-?key/i;
/**
 * A REDIS_URL up to its password and the password. It also reads what is no URL, such as `redis:/user:password@host`: a
 * mistyped one is shown in the error. A password with a raw slash or question mark ends a URL early for other patterns.
 */
const REDIS_PASSWORD = /^((?:[a-z]+:\/*)?[^/:@]*)[/:](.*)@/i;

/** A setting's value as it may be shown. */
export function maskSetting(name: string, value: unknown): unknown {
  if (definitionOf(name)?.secret) return value === null ? null : MASK;
  if (name === 'REDIS_URL' && typeof value === 'string') return value.replace(REDIS_PASSWORD, `$1:${MASK}@`);
  return maskValue(value);
}

/**
 * A filter for any output of this process: it knows the secrets in the settings and replaces them wherever they
 * turn up, plain, percent-encoded or inside JSON. Secrets shorter than 4 characters are only masked inside URLs.
 */
export function secretFilter(settings: Partial<Settings>): (text: string) => string {
  const written = secretsOf(settings).flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
  ]);
  const known = [...new Set(written)]
    .filter((secret) => secret.length >= 4)
    .sort((a, b) => b.length - a.length);
  return (text) => maskUrls(known.reduce((masked, secret) => masked.replaceAll(secret, MASK), text));
}

function maskValue(value: unknown): unknown {
  if (typeof value === 'string') return maskUrls(value);
  if (Array.isArray(value)) return value.map(maskValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      secretParam.test(key) && inner !== null ? MASK : maskValue(inner),
    ]),
  );
}

function secretsOf(settings: Partial<Settings>): string[] {
  const secrets: string[] = [];
  for (const [name, value] of Object.entries(settings)) {
    if (definitionOf(name as SettingName)?.secret && typeof value === 'string') secrets.push(value);
  }
  for (const [key, value] of Object.entries(settings.REDIS_PARAMS ?? {})) {
    if (secretParam.test(key) && typeof value === 'string') secrets.push(value);
  }
  const inUrl = REDIS_PASSWORD.exec(settings.REDIS_URL ?? '')?.[2];
  if (inUrl) secrets.push(inUrl, decoded(inUrl));
  return secrets;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
