/** Which crawls there are: every spider of the project, and whatever else the store holds under the key templates. */

import { type Context, note } from '../../cli/context.js';
import { findCrawls } from '../../frontier/open.js';
import type { Settings } from '../../settings/schema.js';
import { storeOf } from './store-address.js';

export interface CrawlName {
  readonly spider: string;
  readonly job: string | null;
}

/** The crawls in the store of these settings, by the names of their requests keys. */
export async function crawlsInStore(context: Context, settings: Settings): Promise<CrawlName[]> {
  const [before = '', after = ''] = settings.SCHEDULER_QUEUE_KEY.replaceAll('%%', '%').split(
    /%\((?:spider|name)\)s/,
  );
  const { names, isCut } = await findCrawls(storeOf(settings), settings.REDIS_CONNECT_TIMEOUT * 1000, [
    before,
    after,
  ]);
  if (isCut)
    note(context, 'this Redis holds very many keys: not all were looked at, so there may be more crawls');
  return names.flatMap((name) => crawlOf(name, before, after) ?? []);
}

/** Null for a name that the template does not make. */
function crawlOf(name: string, before: string, after: string): CrawlName | null {
  const at = name.lastIndexOf(after);
  if (!name.startsWith(before) || at < before.length) return null;
  // In a Cluster the spider stands in braces.
  const spider = name.slice(before.length, at).replace(/^\{(.*)\}$/, '$1');
  const rest = name.slice(at + after.length);
  const isName = (text: string) => /^[A-Za-z0-9._-]{1,64}$/.test(text);
  if (!isName(spider)) return null;
  if (rest === '') return { spider, job: null };
  return rest.startsWith('@') && isName(rest.slice(1)) ? { spider, job: rest.slice(1) } : null;
}
