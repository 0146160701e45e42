/** From the names and numbers of ITEM_PIPELINES to pipelines in order. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { SettingsError } from '../errors.js';
import type { Logger } from '../log.js';

/** What a pipeline is told of the crawl it works for. */
export interface PipelineContext {
  readonly nodeId: string;
  readonly spider: string;
  /** The named job, null when unnamed. */
  readonly job: string | null;
  readonly log: Logger;
}

/** What `processItem` is called with. */
export interface PipelineInput {
  /** The item, as the pipeline before this one left it. */
  // biome-ignore lint/suspicious/noExplicitAny: the pipeline knows the fields its spider yields.
  readonly item: any;
  readonly nodeId: string;
  readonly spider: string;
  readonly job: string | null;
}

/**
 * A pipeline module's default export is a class of this shape, such an object, or just the function `processItem`.
 * It returns the item to go on with, or nothing for the one it was given; it throws DropItem to drop it.
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
  /** ITEM_PIPELINES: lower numbers first, equal ones in the order of the map; null switches one off. */
  readonly pipelines: Readonly<Record<string, number | null>>;
  /** Paths of modules count from here. */
  readonly projectDir: string;
  readonly loadModule: (path: string) => Promise<Record<string, unknown>>;
  readonly context: PipelineContext;
  /** ITEM_NODE_ID: add `node_id` to items in the items list. */
  readonly addNodeId?: boolean;
}

/** The pipelines on both sides of `RedisPipeline`; without it all of them are `before` and nothing goes to the list. */
export interface Stages {
  readonly before: readonly LoadedPipeline[];
  readonly after: readonly LoadedPipeline[];
  readonly toList: boolean;
}

const redisPipelines = ['RedisPipeline', 'scrapy_redis.pipelines.RedisPipeline'];

/** @throws SettingsError naming a pipeline that is not there, with those that are. */
export async function loadStages(options: LoadOptions): Promise<Stages> {
  const names = Object.entries(options.pipelines)
    .filter((entry): entry is [string, number] => entry[1] !== null)
    .sort(([, a], [, b]) => a - b)
    .map(([name]) => name);
  const before: LoadedPipeline[] = [];
  const after: LoadedPipeline[] = [];
  let toList = false;
  for (const name of names) {
    if (redisPipelines.includes(name)) toList = true;
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
    // A class without processItem cannot be called as one; saying so beats "cannot be invoked without 'new'".
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
    .map((entry) => nameOf(path.join(folder, entry), projectDir));
  const known = ['RedisPipeline', ...modules].join(', ');
  const why = isModulePath(name)
    ? `there is no file ${file}`
    : 'it is neither RedisPipeline nor the path of a module';
  return new SettingsError(`ITEM_PIPELINES names ${name}: ${why}. There are: ${known}.`);
}

function nameOf(file: string, projectDir: string): string {
  const relative = path.relative(projectDir, file);
  return relative.startsWith('..') ? file : `./${relative.split(path.sep).join('/')}`;
}
