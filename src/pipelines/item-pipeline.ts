/**
 * Run items through the pipelines in ascending order of their numbers, and serialize them as the JSON texts that are
 * committed with the page. A pipeline may see an item twice when its page is fetched again.
 */
import { CrawlnodeError, closingReason, DropItem, messageOf } from '../errors.js';
import type { JsonObject } from '../http/message/record/request-record.js';
import { type LoadedPipeline, type LoadOptions, loadStages, type PipelineContext } from './load-pipelines.js';

export type { ItemPipeline, PipelineContext, PipelineInput } from './load-pipelines.js';

export interface ProcessedItems {
  /** For the items list: the items as they are at the position of `RedisPipeline`; empty without it. */
  readonly listItems: string[];
  /** For the feeds: the items after all pipelines. */
  readonly feedItems: string[];
  /** Items that passed every pipeline. */
  readonly scraped: number;
  /** Items a pipeline dropped. */
  readonly dropped: number;
  /** Items that an error of a pipeline cost, where errors are kept. */
  readonly broken: number;
  /** The reason of the first CloseSpider that a pipeline threw, which drops its item; null for none. */
  readonly closing: string | null;
}

export interface ItemPipelines {
  /** @throws CrawlnodeError `pipeline_error` that names a pipeline which threw anything but DropItem, unless errors are kept. */
  process(items: readonly JsonObject[]): Promise<ProcessedItems>;
  /** Open the pipelines in order. @throws CrawlnodeError `pipeline_error`, after closing those opened before. */
  open(): Promise<void>;
  /** Those with `committed`, by their order. */
  readonly withCommitted: readonly LoadedPipeline[];
  /** Close the opened pipelines in reverse order. Errors are only logged. */
  close(): Promise<void>;
}

/**
 * Load the pipelines of ITEM_PIPELINES.
 * @throws SettingsError for an unknown name or a module without a pipeline; SpiderLoadError for one that does not load.
 */
export async function loadPipelines(options: LoadOptions): Promise<ItemPipelines> {
  const { before, after, toList } = await loadStages(options);
  const { context, addNodeId = false, keepsErrors = false } = options;
  const all = [...before, ...after];
  const opened: LoadedPipeline[] = [];

  async function process(items: readonly JsonObject[]): Promise<ProcessedItems> {
    const out = { listItems: [] as string[], feedItems: [] as string[], scraped: 0, dropped: 0, broken: 0 };
    let closing: string | null = null;
    for (const item of items) {
      const inList = out.listItems.length;
      try {
        const listItem = before.length === 0 ? item : await runPipelines(before, item, context);
        // Usually no pipeline follows RedisPipeline. List and feeds then share one text.
        let text = toList || after.length === 0 ? toJson(listItem, before) : '';
        if (toList) out.listItems.push(addNodeId ? withNodeId(text, listItem, context.nodeId) : text);
        if (after.length > 0) text = toJson(await runPipelines(after, listItem, context), all);
        out.feedItems.push(text);
        out.scraped += 1;
      } catch (error) {
        const reason = closingReason(error);
        if (reason !== null) {
          closing ??= reason;
          out.listItems.length = inList;
          out.dropped += 1;
        } else if (isDrop(error)) {
          out.dropped += 1;
          context.log.debug({ reason: error.message }, 'an item was dropped');
        } else if (keepsErrors) {
          out.listItems.length = inList;
          out.broken += 1;
          context.log.error({ reason: 'pipeline_error' }, `an item is lost: ${messageOf(error)}`);
        } else {
          throw error;
        }
      }
    }
    return { ...out, closing };
  }

  async function open(): Promise<void> {
    for (const pipeline of all) {
      try {
        await pipeline.open(context);
      } catch (error) {
        await close();
        throw pipelineError(pipeline.name, error);
      }
      opened.push(pipeline);
    }
  }

  async function close(): Promise<void> {
    for (const pipeline of opened.splice(0).reverse()) {
      try {
        await pipeline.close();
      } catch (error) {
        context.log.error({ pipeline: pipeline.name, error: messageOf(error) }, 'a pipeline failed to close');
      }
    }
  }

  return { process, open, close, withCommitted: all.filter(({ batches }) => batches !== null) };
}

async function runPipelines(
  pipelines: readonly LoadedPipeline[],
  item: JsonObject,
  { nodeId, spider, job }: PipelineContext,
): Promise<JsonObject> {
  let current = item;
  for (const pipeline of pipelines) {
    let result: unknown;
    try {
      result = await pipeline.processItem({ item: current, nodeId, spider, job });
    } catch (error) {
      throw isDrop(error) || closingReason(error) !== null ? error : pipelineError(pipeline.name, error);
    }
    if (result === undefined) continue;
    if (typeof result !== 'object' || result === null || Array.isArray(result)) {
      const got = Array.isArray(result) ? 'a list' : result === null ? 'null' : `a ${typeof result}`;
      throw pipelineError(
        pipeline.name,
        new TypeError(`returned ${got} instead of the item; throw DropItem to drop it`),
      );
    }
    current = result as JsonObject;
  }
  return current;
}

/** The spider's items are checked when they are yielded, so a value that is not JSON came from a pipeline. */
function toJson(item: JsonObject, pipelines: readonly LoadedPipeline[]): string {
  try {
    return JSON.stringify(item);
  } catch (error) {
    throw pipelineError(pipelines.map(({ name }) => name).join(', '), error);
  }
}

function withNodeId(text: string, item: JsonObject, nodeId: string): string {
  if (text === '{}' || 'node_id' in item) return JSON.stringify({ ...item, node_id: nodeId });
  return `${text.slice(0, -1)},"node_id":${JSON.stringify(nodeId)}}`;
}

/** Checks the code too, because a pipeline may import its own copy of crawlnode. */
function isDrop(error: unknown): error is DropItem {
  return (
    error instanceof DropItem ||
    (error instanceof Error && (error as { code?: unknown }).code === 'drop_item')
  );
}

function pipelineError(name: string, cause: unknown): CrawlnodeError {
  return new CrawlnodeError('pipeline_error', `${name}: ${messageOf(cause)}`, { cause });
}
