/** `opened()` and `closed()` of the spider: what they throw is named, and CloseSpider closes the run. */
import { closingReason, concernsNode, messageOf } from '../../errors.js';
import { fieldsWithoutValue } from '../../spider/empty-fields.js';
import type { NodeState } from './node-state.js';
import { hookFailure } from './project-hooks.js';

/** How many fields without a value a warning names. */
const SHOWN_FIELDS = 20;

/** @returns false when it was left behind because the node is to stop. @throws CrawlnodeError `hook_error` */
export function callOpened({ deps, hooks, outage }: NodeState, halt: AbortSignal): Promise<boolean> {
  const { spider, frontier, log } = deps;
  const name = `opened() of the spider "${spider.name}"`;
  const hook = () =>
    orClose(
      name,
      () => spider.opened(),
      async (reason) => {
        log.info({ reason }, `${name} closes the crawl: ${reason}`);
        await outage.through('close', halt, () => frontier.closeRun(reason));
      },
    );
  return hooks.open(name, hook);
}

/** The node has left. When the store is away, only the closing of the run is lost. */
export function callClosed({ deps, hooks }: NodeState, endedFor: string): Promise<void> {
  const { spider, frontier, log } = deps;
  const fields = fieldsWithoutValue(spider);
  if (fields.length > 0) {
    log.warn(
      { fields: fields.slice(0, SHOWN_FIELDS) },
      'no item of this node has a value in these fields: is a property or a column misspelt, or does a selector match nothing?',
    );
  }
  const name = `closed() of the spider "${spider.name}"`;
  const hook = () =>
    orClose(
      name,
      () => spider.closed(endedFor),
      async (reason) => {
        log.info({ reason }, `${name} closes the crawl: ${reason}`);
        try {
          await frontier.closeRun(reason);
        } catch (error) {
          log.error({ reason, error: messageOf(error) }, 'the crawl could not be closed');
        }
      },
    );
  return hooks.close(name, hook);
}

async function orClose(
  name: string,
  hook: () => unknown,
  close: (reason: string) => Promise<void>,
): Promise<void> {
  try {
    await hook();
  } catch (error) {
    const reason = closingReason(error);
    if (reason !== null) await close(reason);
    else throw concernsNode(error) ? error : hookFailure(name, error);
  }
}
