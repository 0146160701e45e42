/** Computes the identity of requests for `inspect` and `forget`. */
import { openOptions, withFrontier } from '../../crawler/project/open-frontier.js';
import { type Identify, openIdentifier } from '../../crawler/requests/identify-request.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { Settings } from '../../settings/schema.js';
import type { Context } from '../context.js';
import { settingTextsOf } from '../options/spider-argument.js';
import { loadSpiderOrSettings } from './open-project.js';

/** Open a crawl. When the module of the spider is not on this machine, REQUEST_FINGERPRINTER is used, and a notice says so. */
export async function withIdentifier<T>(
  context: Context,
  spider: string,
  options: Readonly<Record<string, unknown>>,
  use: (frontier: Frontier, identify: Identify, settings: Settings) => Promise<T>,
): Promise<T> {
  const { loaded, create } = await loadSpiderOrSettings(context, spider, settingTextsOf(options));
  const { settings } = loaded;
  const instance = create === null ? undefined : await create();
  return withFrontier(openOptions(settings, spider), async (frontier) =>
    use(frontier, await openIdentifier(frontier, settings, instance), settings),
  );
}
