/** Mask secrets in all output. */
import { MASK, maskUrls } from './mask-urls.js';
import { definitionOf, type SettingName, type Settings } from './schema.js';

/** Names of ioredis options and request headers whose values are secret. */
const secretParam =
  /pass(word)?$|^(sentinel)?password$|secret|token|^key$|passphrase|authorization$|^cookie2?$|api-?key/i;
/**
 * Captures the text of a REDIS_URL before its password, and the password. It also matches mistyped URLs, such as
 * `redis:/user:password@host`, because error messages show them, and passwords that contain a raw slash or question mark.
 */
const REDIS_PASSWORD = /^((?:[a-z]+:\/*)?[^/:@]*)[/:](.*)@/i;

/** The value of a setting with its secrets masked. */
export function maskSetting(name: string, value: unknown): unknown {
  if (definitionOf(name)?.secret) return value === null ? null : MASK;
  if (name === 'REDIS_URL' && typeof value === 'string') return value.replace(REDIS_PASSWORD, `$1:${MASK}@`);
  return maskValue(value);
}

/**
 * Make a filter for the output of this process that masks the secrets of the settings, whether they are plain,
 * percent-encoded or escaped as JSON. Secrets shorter than 4 characters are masked inside URLs only.
 */
export function secretFilter(settings: Partial<Settings>): (text: string) => string {
  const spellings = secretsOf(settings).flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
  ]);
  const secretTexts = [...new Set(spellings)]
    .filter((secret) => secret.length >= 4)
    .sort((a, b) => b.length - a.length);
  return (text) => maskUrls(secretTexts.reduce((masked, secret) => masked.replaceAll(secret, MASK), text));
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
  const urlPassword = REDIS_PASSWORD.exec(settings.REDIS_URL ?? '')?.[2];
  if (urlPassword) secrets.push(urlPassword, decoded(urlPassword));
  return secrets;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
