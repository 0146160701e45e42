/** Load the pipelines that ITEM_PIPELINES names, in the order of their numbers. */
import { SettingsError } from '../errors.js';
import type { Logger } from '../log.js';
import { inOrder, loadProjectModule } from '../project-modules.js';

/** The crawl that a pipeline runs in. */
export interface PipelineContext {
  readonly nodeId: string;
  readonly spider: string;
  /** The name of the job; null for the unnamed job. */
  readonly job: string | null;
  readonly log: Logger;
}

/** What `processItem` is called with. */
export interface PipelineInput {
  /** The item, as the previous pipeline returned it. */
  // biome-ignore lint/suspicious/noExplicitAny: the pipeline knows the fields its spider yields.
  readonly item: any;
  readonly nodeId: string;
  readonly spider: string;
  readonly job: string | null;
}

/**
 * The default export of a pipeline module is a class with these methods, an object with them, or only the function
 * `processItem`. That function returns the changed item, or nothing to pass on its argument. It throws DropItem to drop the
 * item.
 */
export interface ItemPipeline {
  /** Called before the first page of the node; it may return a promise. */
  open?(context: PipelineContext): unknown;
  /** Called with every item of a page before the page is committed; it may return a promise. */
  processItem(input: PipelineInput): unknown;
  /** Called after the last page of the node. */
  close?(): unknown;
}

export interface LoadedPipeline extends ItemPipeline {
  /** As ITEM_PIPELINES names it, for messages. */
  readonly name: string;
}

export interface LoadOptions {
  /** ITEM_PIPELINES: the lowest number first, equal numbers in the order of the map; null disables a pipeline. */
  readonly pipelines: Readonly<Record<string, number | null>>;
  /** The base of relative module paths. */
  readonly projectDir: string;
  readonly loadModule: (path: string) => Promise<Record<string, unknown>>;
  readonly context: PipelineContext;
  /** ITEM_NODE_ID: add `node_id` to items in the items list. */
  readonly addNodeId?: boolean;
}

/** The pipelines before and after `RedisPipeline`. Without it all are `before`, and `toList` is false. */
export interface Stages {
  readonly before: readonly LoadedPipeline[];
  readonly after: readonly LoadedPipeline[];
  readonly toList: boolean;
}

const redisPipelineNames = ['RedisPipeline', 'scrapy_redis.pipelines.RedisPipeline'];

/** @throws SettingsError that names an unknown pipeline, and the available ones. */
export async function loadStages(options: LoadOptions): Promise<Stages> {
  const before: LoadedPipeline[] = [];
  const after: LoadedPipeline[] = [];
  let toList = false;
  for (const [name] of inOrder(options.pipelines)) {
    if (redisPipelineNames.includes(name)) toList = true;
    else (toList ? after : before).push(await loadPipeline(name, options));
  }
  return { before, after, toList };
}

async function loadPipeline(name: string, { projectDir, loadModule }: LoadOptions): Promise<LoadedPipeline> {
  const from = { setting: 'ITEM_PIPELINES', folder: 'pipelines', builtIn: ['RedisPipeline'] };
  const pipeline = instantiate(await loadProjectModule(name, { ...from, projectDir, loadModule }));
  if (pipeline === null) {
    throw new SettingsError(
      `ITEM_PIPELINES names ${name}, whose default export is no pipeline: export a class with processItem({ item }), or that function.`,
    );
  }
  return {
    name,
    open: (context) => pipeline.open?.(context),
    processItem: (input) => pipeline.processItem(input),
    close: () => pipeline.close?.(),
  };
}

function instantiate(exported: unknown): ItemPipeline | null {
  if (typeof exported === 'function') {
    if (typeof exported.prototype?.processItem === 'function') {
      return new (exported as new () => ItemPipeline)();
    }
    // A class without processItem gets a clear error instead of "cannot be invoked without 'new'".
    if (/^class\b/.test(Function.prototype.toString.call(exported))) return null;
    return { processItem: exported as ItemPipeline['processItem'] };
  }
  const candidate = exported as ItemPipeline | null | undefined;
  return typeof candidate?.processItem === 'function' ? candidate : null;
}
