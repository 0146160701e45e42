/** The module of a feed that selects its items (`item_filter`). */
import { existsSync } from 'node:fs';
import { CrawlnodeError, messageOf, SettingsError } from '../../errors.js';
import { loadModule } from '../../spider/loading/load-module.js';

/** Whether an item goes to the feed. */
export type ItemFilter = (item: unknown) => boolean;

/**
 * Load a filter: a module whose default export is a function of the item, or a class with `accepts(item)`, as in Scrapy.
 * @param file absolute; null for none
 * @returns null where all items are accepted. The function throws CrawlnodeError `feed_unwritable` where the module's does,
 *   so that items wait for it as for a file.
 * @throws SettingsError for another default export, or no such file
 */
export async function loadItemFilter(file: string | null | undefined): Promise<ItemFilter | null> {
  if (file === null || file === undefined) return null;
  if (!existsSync(file)) throw new SettingsError(`item_filter of FEEDS names ${file}, which does not exist.`);
  const { default: exported } = await loadModule(file);
  const accepts = filterOf(exported);
  if (accepts === null) {
    throw new SettingsError(
      `item_filter of FEEDS names ${file}, whose default export is no filter: export a function of the item, or a class with accepts(item).`,
    );
  }
  return (item) => {
    try {
      const answer = accepts(item);
      if (typeof answer === 'boolean') return answer;
      throw new TypeError(`it gave ${answer === null ? 'null' : typeof answer} instead of true or false`);
    } catch (error) {
      const message = `the item filter ${file} failed: ${messageOf(error)}`;
      throw new CrawlnodeError('feed_unwritable', message, { cause: error });
    }
  };
}

function filterOf(exported: unknown): ((item: unknown) => unknown) | null {
  if (typeof exported !== 'function') return null;
  const prototype = exported.prototype as { accepts?: unknown } | undefined;
  if (typeof prototype?.accepts === 'function') {
    const filter = new (exported as new () => { accepts(item: unknown): unknown })();
    return (item) => filter.accepts(item);
  }
  if (/^class\b/.test(Function.prototype.toString.call(exported))) return null;
  return exported as (item: unknown) => unknown;
}
