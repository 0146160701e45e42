/** Check the settings that become headers of every request. */
import { messageOf, SettingsError } from '../../errors.js';
import { checkHeaders, type HeadersInput } from '../../http/message/headers.js';
import type { Settings } from '../../settings/schema.js';

/** @throws SettingsError that names a setting with an invalid header, which would fail every request. */
export function refuseUnsendable(settings: Pick<Settings, 'USER_AGENT' | 'DEFAULT_REQUEST_HEADERS'>): void {
  const sent = Object.entries(settings.DEFAULT_REQUEST_HEADERS).filter(([, value]) => value !== null);
  refuse('USER_AGENT', { 'User-Agent': settings.USER_AGENT });
  refuse('DEFAULT_REQUEST_HEADERS', Object.fromEntries(sent) as Record<string, string>);
}

function refuse(setting: string, headers: HeadersInput): void {
  try {
    checkHeaders(headers);
  } catch (error) {
    throw new SettingsError(`${setting}: ${messageOf(error)}`, { cause: error });
  }
}
