/** Mask secrets in all output. */
import { MASK, maskUrls } from './mask-urls.js';
import { type OwnSettings, settingDefinition } from './own/own-settings.js';
import { decoded, maskProxy, parseProxy } from './proxy-url.js';
import type { Settings } from './schema.js';

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

/** The password in a URL of any scheme, such as that of a database. */
const URL_PASSWORD = /([a-z][a-z0-9+.-]*:\/\/[^\s/:@?#"']*):([^\s/?#"']+)@/gi;

/** The value of a setting with its secrets masked. */
export function maskSetting(name: string, value: unknown, own: OwnSettings | null = null): unknown {
  if (settingDefinition(name, own)?.secret) return value === null || value === undefined ? value : MASK;
  if (own?.definitions.has(name)) return maskValue(value, maskUrlPasswords);
  if (name === 'REDIS_URL' && typeof value === 'string') return value.replace(REDIS_PASSWORD, `$1:${MASK}@`);
  if (PROXY_SETTING.test(name)) return maskProxies(value);
  return maskValue(value);
}

/** A value as an error message shows it: masked, and cut when it is long. */
export function displayValue(name: string, value: unknown, own: OwnSettings | null = null): string {
  const shown = JSON.stringify(maskSetting(name, value, own)) ?? String(value);
  return shown.length > 200 ? `${shown.slice(0, 200)}…` : shown;
}

/**
 * Make a filter for the output of this process that masks the secrets of the settings, whether they are plain,
 * percent-encoded or escaped as JSON. Secrets shorter than 4 characters are masked inside URLs only.
 */
export function secretFilter(
  settings: Partial<Settings>,
  own: OwnSettings | null = null,
): (text: string) => string {
  const spellings = secretsOf(settings, own).flatMap((secret) => [
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

/** @param maskText for each text in it. Of one's own settings, what a transformation made of them may be of any class. */
function maskValue(value: unknown, maskText: (text: string) => string = maskUrls): unknown {
  const inside = (inner: unknown) => maskValue(inner, maskText);
  if (typeof value === 'string') return maskText(value);
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(inside);
  if (typeof value !== 'object' || value === null) return value;
  // A module that was loaded stands as its path.
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return inside(toJSON.call(value));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return maskText(String(value));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      secretParam.test(key) && inner !== null ? MASK : inside(inner),
    ]),
  );
}

function maskUrlPasswords(text: string): string {
  return maskUrls(text.replace(URL_PASSWORD, `$1:${MASK}@`));
}

function secretsOf(settings: Partial<Settings>, own: OwnSettings | null): string[] {
  const secrets: string[] = [];
  for (const [name, value] of Object.entries(settings)) {
    if (settingDefinition(name, own)?.secret) secrets.push(...textsIn(value));
    else if (own?.definitions.has(name)) secrets.push(...textsIn(value).flatMap(urlPasswords));
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

/** A text, or the texts of a list or map. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function urlPasswords(text: string): string[] {
  return [...text.matchAll(URL_PASSWORD)].flatMap(([, , password = '']) => [password, decoded(password)]);
}
