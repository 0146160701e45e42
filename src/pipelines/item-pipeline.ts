/**
 * Item pipelines: what a callback yielded goes through them in ascending number and comes out as the JSON texts
 * that are committed with the page. Nothing is written here; a pipeline that writes elsewhere may see an item of
 * a page that is fetched again.
 */
import { CrawlnodeError, DropItem, messageOf } from '../errors.js';
import type { JsonObject } from '../http/message/request-record.js';
import { type LoadedPipeline, type LoadOptions, loadStages, type PipelineContext } from './load-pipelines.js';

export type { ItemPipeline, PipelineContext, PipelineInput } from './load-pipelines.js';

export interface ProcessedItems {
  /** For the items list: as they were where `RedisPipeline` stands; none without it. */
  readonly listItems: string[];
  /** For the feeds: as they are after all pipelines. */
  readonly feedItems: string[];
  /** Items that passed every pipeline. */
  readonly scraped: number;
  /** Items a pipeline dropped. */
  readonly dropped: number;
}

export interface ItemPipelines {
  /** @throws CrawlnodeError `pipeline_error` naming the pipeline, when one throws anything but DropItem. */
  process(items: readonly JsonObject[]): Promise<ProcessedItems>;
  /** Open the pipelines in order. @throws CrawlnodeError `pipeline_error`; those opened before are closed again. */
  open(): Promise<void>;
  /** Close those that were opened, last first. An error is logged; it has nothing left to undo. */
  close(): Promise<void>;
}

/**
 * Load what ITEM_PIPELINES names.
 * @throws SettingsError for an unknown name or a module without a pipeline; SpiderLoadError for one that does not load.
 */
export async function loadPipelines(options: LoadOptions): Promise<ItemPipelines> {
  const { before, after, toList } = await loadStages(options);
  const { context, addNodeId = false } = options;
  const all = [...before, ...after];
  const opened: LoadedPipeline[] = [];

  async function process(items: readonly JsonObject[]): Promise<ProcessedItems> {
    const out = { listItems: [] as string[], feedItems: [] as string[], scraped: 0, dropped: 0 };
    for (const item of items) {
      try {
        const early = before.length === 0 ? item : await through(before, item, context);
        // Usually nothing follows RedisPipeline: then list and feeds share one text, made once.
        let text = toList || after.length === 0 ? toText(early, before) : '';
        if (toList) out.listItems.push(addNodeId ? withNodeId(text, early, context.nodeId) : text);
        if (after.length > 0) text = toText(await through(after, early, context), all);
        out.feedItems.push(text);
        out.scraped += 1;
      } catch (error) {
        if (!isDrop(error)) throw error;
        out.dropped += 1;
        context.log.debug({ reason: error.message }, 'an item was dropped');
      }
    }
    return out;
  }

  async function open(): Promise<void> {
    for (const pipeline of all) {
      try {
        await pipeline.open?.(context);
      } catch (error) {
        await close();
        throw failed(pipeline.name, error);
      }
      opened.push(pipeline);
    }
  }

  async function close(): Promise<void> {
    for (const pipeline of opened.splice(0).reverse()) {
      try {
        await pipeline.close?.();
      } catch (error) {
        context.log.error({ pipeline: pipeline.name, error: messageOf(error) }, 'a pipeline failed to close');
      }
    }
  }

  return { process, open, close };
}

async function through(
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
      throw isDrop(error) ? error : failed(pipeline.name, error);
    }
    if (result === undefined) continue;
    if (typeof result !== 'object' || result === null || Array.isArray(result)) {
      const got = Array.isArray(result) ? 'a list' : result === null ? 'null' : `a ${typeof result}`;
      throw failed(
        pipeline.name,
        new TypeError(`returned ${got} instead of the item; throw DropItem to drop it`),
      );
    }
    current = result as JsonObject;
  }
  return current;
}

/** The spider's own items are checked where they are yielded, so what does not become JSON came from a pipeline. */
function toText(item: JsonObject, passed: readonly LoadedPipeline[]): string {
  try {
    return JSON.stringify(item);
  } catch (error) {
    throw failed(passed.map(({ name }) => name).join(', '), error);
  }
}

function withNodeId(text: string, item: JsonObject, nodeId: string): string {
  if (text === '{}' || 'node_id' in item) return JSON.stringify({ ...item, node_id: nodeId });
  return `${text.slice(0, -1)},"node_id":${JSON.stringify(nodeId)}}`;
}

/** By its code as well: a pipeline may come with a copy of crawlnode of its own. */
function isDrop(error: unknown): error is DropItem {
  return (
    error instanceof DropItem ||
    (error instanceof Error && (error as { code?: unknown }).code === 'drop_item')
  );
}

function failed(name: string, cause: unknown): CrawlnodeError {
  return new CrawlnodeError('pipeline_error', `${name}: ${messageOf(cause)}`, { cause });
}
