/** Load the pipelines that ITEM_PIPELINES names, in the order of their numbers. */
import os from 'node:os';
import path from 'node:path';
import { SettingsError } from '../errors.js';
import type { Result } from '../http/message/request.js';
import { builtInPipelines } from '../settings/built-in-middleware.js';
import { withinTimeout } from '../user-code/callback-timeout.js';
import type { CrawlContext } from '../user-code/crawl-context.js';
import { misspeltMethod } from '../user-code/module-methods.js';
import {
  checkSwitchedOff,
  construct,
  inOrder,
  loadProjectModule,
  type NamedModule,
  type ProjectModuleOptions,
} from '../user-code/project-modules.js';
import type { BatchPipeline } from './committed/committed-batches.js';
import type { CommittedItem } from './committed/committed-item.js';
import type { FileStage } from './files/file-stage.js';
import { builtInFilesPipeline, FilesPipeline, refuseOtherMethods } from './files/media-pipeline.js';

const MAX_BATCH_ITEMS = 10_000;

/** What `processItem` is called with. */
export interface PipelineInput {
  /** The item, as the previous pipeline returned it. */
  // biome-ignore lint/suspicious/noExplicitAny: the pipeline knows the fields its spider yields.
  readonly item: any;
  /** The id of the node (NODE_ID). */
  readonly nodeId: string;
  /** The name of the spider. */
  readonly spider: string;
  /** The name of the job; null for the unnamed job. */
  readonly job: string | null;
}

/** The changed item, or nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: a method that returns nothing has this type.
type Processed = Result | null | undefined | void;

/**
 * The default export of a pipeline module is a class with `processItem`, `committed` or both, an object with them, or only
 * the function `processItem`. That function returns the changed item, or nothing to pass on its argument. It throws DropItem to drop the
 * item.
 */
export interface ItemPipeline {
  /** Called before the first page of the node; it may return a promise. */
  open?(context: CrawlContext): unknown;
  /**
   * Called with every item of a page before the page is committed; it may return a promise. The page may still be lost, so
   * this is for changing, checking and dropping items, not for writing them elsewhere. Optional with `committed`.
   */
  processItem?(input: PipelineInput): Processed | Promise<Processed>;
  /**
   * Called with committed items of the whole crawl, as they are after all pipelines, in the order of the commits, on one
   * node at a time. They are accepted when its promise resolves. Where it throws, or its node dies, it is called with them
   * again: so write them by `id`, for example as an upsert.
   */
  committed?(batch: readonly CommittedItem[]): unknown;
  /** The most items of a batch for `committed`, 1 to 10,000; 100 by default. */
  readonly batchItems?: number;
  /** A smaller batch is passed on when its first item has waited for so many seconds; 1 by default. */
  readonly batchSeconds?: number;
  /** Called after the last page of the node. */
  close?(): unknown;
}

export interface LoadedPipeline extends Required<Pick<ItemPipeline, 'open' | 'processItem' | 'close'>> {
  /** As ITEM_PIPELINES names it, for messages. */
  readonly name: string;
  /** The same for all nodes: the path of its module relative to the project folder. */
  readonly modulePath: string;
  /** Null for a pipeline without `committed`. */
  readonly batches: BatchPipeline | null;
  /** `OpenedModule.methods.awaits` */
  readonly awaits?: string | null;
  /** Of FilesPipeline, ImagesPipeline and modules that extend them; else null. */
  readonly files: FileStage | null;
}

export interface LoadOptions {
  /** ITEM_PIPELINES: the lowest number first, equal numbers in the order of the map; null disables a pipeline. */
  readonly pipelines: Readonly<Record<string, number | null>>;
  /** The base of relative module paths. */
  readonly projectDir: string;
  readonly loadModule: (path: string) => Promise<Record<string, unknown>>;
  readonly context: CrawlContext;
  /** ITEM_NODE_ID: add `node_id` to items in the items list. */
  readonly addNodeId?: boolean;
  /** CALLBACK_ERROR `keep`: an error of a pipeline costs only its item. */
  readonly keepsErrors?: boolean;
  /** Items of a page whose JSON is longer are refused as `too_many_items`; no bound by default. */
  readonly maxPageBytes?: number;
  /** A `processItem` that is not over after this time throws; no bound by default. */
  readonly callbackTimeoutMs?: number;
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
  await checkSwitchedOff(options.pipelines, modulesOf(options));
  for (const [name] of inOrder(options.pipelines)) {
    if (redisPipelineNames.includes(name)) toList = true;
    else (toList ? after : before).push(await loadPipeline(name, options));
  }
  return { before, after, toList };
}

function modulesOf({ projectDir, loadModule }: LoadOptions): ProjectModuleOptions {
  const from = { setting: 'ITEM_PIPELINES', folder: 'pipelines', builtIn: builtInPipelines };
  return { ...from, projectDir, loadModule };
}

async function loadPipeline(name: string, options: LoadOptions): Promise<LoadedPipeline> {
  const { projectDir, callbackTimeoutMs } = options;
  const filesPipeline = builtInFilesPipeline(name);
  if (filesPipeline !== null) return loadFilesPipeline(name, filesPipeline, options);
  const from = modulesOf(options);
  const named = { setting: from.setting, name };
  const exported = await loadProjectModule(name, from);
  if (isFilesPipelineClass(exported)) return loadFilesPipeline(name, construct(exported, named), options);
  const pipeline = instantiate(exported, named);
  if (pipeline === null) {
    throw new SettingsError(
      `ITEM_PIPELINES names ${name}, whose default export is not a pipeline: export a class with processItem({ item }) or committed(batch), or the function processItem.`,
    );
  }
  const misspelt = misspeltMethod(pipeline, ['processItem', 'committed']);
  if (misspelt !== null)
    throw new SettingsError(`ITEM_PIPELINES names ${name}, whose default export ${misspelt}`);
  if ((pipeline.processItem?.length ?? 0) > 1) {
    throw new SettingsError(
      `ITEM_PIPELINES names ${name}, whose processItem takes several parameters: it is called with one object, so write processItem({ item, spider }).`,
    );
  }
  return {
    name,
    modulePath: path.relative(projectDir, path.resolve(projectDir, name)).split(path.sep).join('/'),
    open: (context) => pipeline.open?.(context),
    processItem: (input) => withinTimeout(pipeline.processItem?.(input), callbackTimeoutMs),
    batches: batchesOf(pipeline, name),
    files: null,
    close: () => pipeline.close?.(),
  };
}

async function loadFilesPipeline(
  name: string,
  pipeline: FilesPipeline,
  { projectDir, context, callbackTimeoutMs }: LoadOptions,
): Promise<LoadedPipeline> {
  refuseOtherMethods(name, pipeline);
  const { loadFileStage } = await import('./files/load-file-stage.js');
  const files = await loadFileStage(name, pipeline, {
    ...{ settings: context.settings, host: os.hostname() },
    ...{ projectDir, callbackTimeoutMs, log: context.log },
  });
  const { store } = files.options;
  return {
    ...{ name, modulePath: name, batches: null, files },
    awaits: store.awaits,
    open: async (given) => {
      await store.open();
      await pipeline.open?.(given);
    },
    processItem: () => {},
    close: async () => {
      store.close();
      await pipeline.close?.();
    },
  };
}

function isFilesPipelineClass(exported: unknown): exported is new () => FilesPipeline {
  return typeof exported === 'function' && exported.prototype instanceof FilesPipeline;
}

/** How `committed` is called. @throws SettingsError for a batchItems or batchSeconds that is no such number. */
function batchesOf(pipeline: ItemPipeline, name: string): BatchPipeline | null {
  if (typeof pipeline.committed !== 'function') return null;
  const { batchItems = 100, batchSeconds = 1 } = pipeline;
  if (!Number.isInteger(batchItems) || batchItems < 1 || batchItems > MAX_BATCH_ITEMS) {
    throw new SettingsError(
      `${name}: batchItems is ${batchItems}; it must be a whole number from 1 to ${MAX_BATCH_ITEMS}.`,
    );
  }
  if (typeof batchSeconds !== 'number' || !(batchSeconds >= 0) || !Number.isFinite(batchSeconds)) {
    throw new SettingsError(`${name}: batchSeconds is ${batchSeconds}; it must be a number of seconds.`);
  }
  const committed = (batch: readonly CommittedItem[]) => pipeline.committed!(batch);
  return { name, committed, batchItems, batchMs: batchSeconds * 1000 };
}

function instantiate(exported: unknown, named: NamedModule): ItemPipeline | null {
  if (typeof exported === 'function') {
    if (isPipeline(exported.prototype)) {
      return construct(exported as new () => ItemPipeline, named);
    }
    // A class without these methods gets a clear error instead of "cannot be invoked without 'new'".
    if (/^class\b/.test(Function.prototype.toString.call(exported))) return null;
    return { processItem: exported as NonNullable<ItemPipeline['processItem']> };
  }
  const candidate = exported as ItemPipeline | null | undefined;
  return isPipeline(candidate) ? candidate! : null;
}

function isPipeline(candidate: ItemPipeline | null | undefined): boolean {
  return typeof candidate?.processItem === 'function' || typeof candidate?.committed === 'function';
}
