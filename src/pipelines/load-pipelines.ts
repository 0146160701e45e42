/** Load the pipelines that ITEM_PIPELINES names, in the order of their numbers. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { SettingsError } from '../errors.js';
import type { Logger } from '../log.js';

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
  /** CALLBACK_ERROR `keep`: an error of a pipeline costs only its item. */
  readonly keepsErrors?: boolean;
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
  const names = Object.entries(options.pipelines)
    .filter((entry): entry is [string, number] => entry[1] !== null)
    .sort(([, a], [, b]) => a - b)
    .map(([name]) => name);
  const before: LoadedPipeline[] = [];
  const after: LoadedPipeline[] = [];
  let toList = false;
  for (const name of names) {
    if (redisPipelineNames.includes(name)) toList = true;
    else (toList ? after : before).push(await loadPipeline(name, options));
  }
  return { before, after, toList };
}

async function loadPipeline(name: string, { projectDir, loadModule }: LoadOptions): Promise<LoadedPipeline> {
  const file = path.resolve(projectDir, name);
  if (!isModulePath(name) || !existsSync(file)) throw await unknownPipeline(name, file, projectDir);
  const { default: exported } = await loadModule(file);
  const pipeline = instantiate(exported);
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

function isModulePath(name: string): boolean {
  return /\.[cm]?[jt]s$/.test(name);
}

async function unknownPipeline(name: string, file: string, projectDir: string): Promise<SettingsError> {
  const folder = isModulePath(name) ? path.dirname(file) : path.join(projectDir, 'pipelines');
  const entries = await readdir(folder).catch(() => [] as string[]);
  const modules = entries
    .filter((entry) => isModulePath(entry) && !entry.endsWith('.d.ts'))
    .sort()
    .map((entry) => relativeName(path.join(folder, entry), projectDir));
  const available = ['RedisPipeline', ...modules].join(', ');
  const reason = isModulePath(name)
    ? `there is no file ${file}`
    : 'it is neither RedisPipeline nor the path of a module';
  return new SettingsError(`ITEM_PIPELINES names ${name}: ${reason}. There are: ${available}.`);
}

function relativeName(file: string, projectDir: string): string {
  const relative = path.relative(projectDir, file);
  return relative.startsWith('..') ? file : `./${relative.split(path.sep).join('/')}`;
}
