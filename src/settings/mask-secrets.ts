/** Mask secrets in all output. */
import { MASK, maskUrls } from './mask-urls.js';
import { maskProxy, parseProxy } from './proxy-url.js';
import { definitionOf, type SettingName, type Settings } from './schema.js';

/** Names of ioredis options and request headers whose values are secret. */
const secretParam =
  /pass(word)?$|^(sentinel)?password$|secret|token|^key$|passphrase|authorization$|^cookie2?$|api-?key/i;
/**
 * Captures the text of a REDIS_URL before its password, and the password. It also matches mistyped URLs, such as
 * `redis:/user:password@host`, because error messages show them, and passwords that contain a raw slash or question mark.
 */
const REDIS_PASSWORD = /^((?:[a-z]+:\/*)?[^/:@]*)[/:](.*)@/i;

/** Settings that hold addresses of proxies, in several spellings. */
const PROXY_SETTING = /^(?:HTTPS?_PROXY|PROXIES)$/;

/** The value of a setting with its secrets masked. */
export function maskSetting(name: string, value: unknown): unknown {
  if (definitionOf(name)?.secret) return value === null ? null : MASK;
  if (name === 'REDIS_URL' && typeof value === 'string') return value.replace(REDIS_PASSWORD, `$1:${MASK}@`);
  if (PROXY_SETTING.test(name)) return maskProxies(value);
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

/** @param value a list, or its text as it is written after `-s`. */
function maskProxies(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskProxies);
  if (typeof value !== 'string') return maskValue(value);
  return /^\s*\[/.test(value) ? MASK : value.split(',').map(maskProxy).join(',');
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
  const { HTTP_PROXY, HTTPS_PROXY, PROXIES } = settings;
  const proxies = [HTTP_PROXY, HTTPS_PROXY, ...(Array.isArray(PROXIES) ? PROXIES : [])];
  for (const proxy of proxies) if (proxy) secrets.push(parseProxy(proxy).password);
  return secrets;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
