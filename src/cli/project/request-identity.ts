/** Computes the identity of requests for `inspect` and `forget`. */
import { type IdentifyIn, identifierOf } from '../../crawler/requests/identify-request.js';
import type { LoadedSettings } from '../../settings/sources/load-settings.js';
import type { Context } from '../context.js';
import { settingTextsOf } from '../options/spider-argument.js';
import { loadSpiderOrSettings } from './open-project.js';

export interface Identifier {
  readonly loaded: LoadedSettings;
  readonly identifyIn: IdentifyIn;
}

/** When the module of the spider is not on this machine, REQUEST_FINGERPRINTER is used, and a notice says so. */
export async function openIdentifier(
  context: Context,
  spider: string,
  options: Readonly<Record<string, unknown>>,
): Promise<Identifier> {
  const { loaded, create } = await loadSpiderOrSettings(context, spider, settingTextsOf(options));
  const instance = create === null ? undefined : await create();
  return { loaded, identifyIn: identifierOf(loaded.settings, instance) };
}
