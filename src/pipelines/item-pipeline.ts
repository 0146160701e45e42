/**
 * Run items through the pipelines in ascending order of their numbers, and serialize them as the JSON texts that are
 * committed with the page. A pipeline may see an item twice when its page is fetched again.
 */
import { CrawlnodeError, closingReason, DropItem, messageOf } from '../errors.js';
import { leastJsonChars, lostInJson } from '../http/message/record/json-safe.js';
import type { FileResult, JsonObject, WaitingItem } from '../http/message/record/request-record.js';
import type { CrawlContext } from '../user-code/crawl-context.js';
import { type OpenModules, openModules } from '../user-code/open-modules.js';
import { placeOf } from '../user-code/where-thrown.js';
import type { FileStage, FileStep } from './files/file-stage.js';
import { type LoadedPipeline, type LoadOptions, loadStages, type PipelineInput } from './load-pipelines.js';

export type { ItemPipeline, PipelineInput } from './load-pipelines.js';

export interface ProcessedItems {
  /** For the items list: the items as they are at the position of `RedisPipeline`; empty without it. */
  readonly listItems: string[];
  /** For the feeds: the items after all pipelines. */
  readonly feedItems: string[];
  /** Characters of `listItems`, and of `feedItems`. */
  readonly listChars: number;
  readonly feedChars: number;
  /** The number of each of `feedItems` in its page, from 1. Items that wait are numbered too. */
  readonly numbers: number[];
  /** Items that wait for a file. */
  readonly waiting: ItemWait[];
  /** Items that passed every pipeline. */
  readonly scraped: number;
  /** An entry for each item that a pipeline dropped. */
  readonly drops: { readonly pipeline: string; readonly reason: string }[];
  /** Items that were lost by an error of a pipeline, when errors are kept. */
  readonly broken: number;
  /** The reason of the first CloseSpider that a pipeline threw, which drops its item; null for none. */
  readonly closing: string | null;
}

/** An item that waits for its next file. */
export interface ItemWait extends Omit<WaitingItem, 'id'> {
  /** Its number in the page, from 1. */
  readonly number: number;
  /** The URL of the file, as the item names it. */
  readonly next: string;
}

/** Receives the outcome of each item. The page waits for it. */
export interface ItemObserver {
  scraped(item: JsonObject): Promise<void>;
  dropped(item: JsonObject, error: Error): Promise<void>;
  failed(item: JsonObject, error: Error): Promise<void>;
}

/** The pipelines of a node. Opening throws CrawlnodeError `pipeline_error`. */
export interface ItemPipelines extends OpenModules {
  /** @throws CrawlnodeError `pipeline_error` that names a pipeline which threw anything but DropItem, unless errors are kept. */
  process(items: readonly JsonObject[], observer?: ItemObserver): Promise<ProcessedItems>;
  /**
   * Continue with an item after its next file.
   * @throws CrawlnodeError as `process`, and `bad_record` when no pipeline of its name fetches files.
   */
  goOn(waiting: WaitingItem, result: FileResult, observer?: ItemObserver): Promise<ProcessedItems>;
  /** The pipeline that fetches files under a name; null where there is none. */
  fileStage(name: string): FileStage | null;
  /** @param hasWaited the node has waited for WAIT_TIMEOUT already, so that no pipeline is waited for any more */
  close(hasWaited?: boolean): Promise<void>;
  /** Those with `committed`, by their order. */
  readonly withCommitted: readonly LoadedPipeline[];
  /** How many there are beside RedisPipeline. */
  readonly count: number;
  /** Whether RedisPipeline is one of them. */
  readonly toList: boolean;
}

/**
 * Load the pipelines of ITEM_PIPELINES.
 * @throws SettingsError for an unknown name or a module without a pipeline; SpiderLoadError for one that does not load.
 */
export async function loadPipelines(options: LoadOptions): Promise<ItemPipelines> {
  const { before, after, toList } = await loadStages(options);
  const {
    context,
    addNodeId = false,
    keepsErrors = false,
    maxPageBytes = Number.POSITIVE_INFINITY,
  } = options;
  const all = [...before, ...after];
  const listAt = toList ? before.length : -1;

  async function process(items: readonly JsonObject[], observer?: ItemObserver): Promise<ProcessedItems> {
    const out = newResult();
    for (const item of items) {
      if (all.length > 0 || observer !== undefined) await pass(item, out, null, observer);
      else finish(item, toList ? addToList(item, out) : null, out);
    }
    return out;
  }

  async function goOn(
    waiting: WaitingItem,
    result: FileResult,
    observer?: ItemObserver,
  ): Promise<ProcessedItems> {
    const from = all.findIndex(({ name, files }) => files !== null && name === waiting.pipeline);
    if (from === -1) throw notInPipelines(waiting.pipeline);
    const out = newResult();
    await pass(waiting.item, out, { from, files: [...waiting.files, result] }, observer);
    return out;
  }

  /** @param resumed the pipeline that an item waited in, and all results of its files so far; null for a new item */
  async function pass(
    item: JsonObject,
    out: Results,
    resumed: Resumed | null,
    observer: ItemObserver | undefined,
  ): Promise<void> {
    const { listChars, listItems } = out;
    const inList = listItems.length;
    const takeFromList = () => {
      listItems.length = inList;
      out.listChars = listChars;
    };
    const place = { pipeline: '' };
    try {
      const scraped = await passOn(item, out, resumed, place);
      if (scraped !== null) await observer?.scraped(scraped);
    } catch (error) {
      const closing = closingReason(error);
      if (closing !== null) {
        out.closing ??= closing;
        takeFromList();
        out.drops.push({ ...place, reason: closing });
        context.log.info({ reason: closing }, `an item pipeline closes the crawl: ${closing}`);
        await observer?.dropped(item, error as Error);
      } else if (isDrop(error)) {
        const drop = { ...place, reason: error.message };
        out.drops.push(drop);
        context.log.debug(drop, 'an item was dropped');
        await observer?.dropped(item, error);
      } else if (keepsErrors && !isTooLong(error)) {
        await observer?.failed(item, asError(error));
        takeFromList();
        out.broken += 1;
        context.log.error({ reason: 'pipeline_error' }, `an item is lost: ${messageOf(error)}`);
      } else {
        await observer?.failed(item, asError(error));
        throw error;
      }
    }
  }

  /** @param place tells where the item is, also after an error @returns the item after all pipelines; null where it waits for a file */
  async function passOn(
    item: JsonObject,
    out: Results,
    resumed: Resumed | null,
    place: { pipeline: string },
  ): Promise<JsonObject | null> {
    let current = item;
    // Usually no pipeline follows RedisPipeline. List and feeds then share one text.
    let text: string | null = null;
    for (let at = resumed?.from ?? 0; at <= all.length; at += 1) {
      // An item that waited after RedisPipeline was added to the list together with its page.
      if (at === listAt && at !== resumed?.from) text = addToList(current, out);
      const pipeline = all[at];
      if (pipeline === undefined) break;
      text = null;
      place.pipeline = pipeline.name;
      if (pipeline.files === null) {
        current = await runPipeline(pipeline, current, context);
        continue;
      }
      const step = await filesOf(pipeline, current, at === resumed?.from ? resumed.files : []);
      if ('next' in step) {
        out.waiting.push({ number: nextNumber(out), pipeline: pipeline.name, item: current, ...step });
        return null;
      }
      current = step.item;
    }
    finish(current, text, out);
    return current;
  }

  /** @returns the text of the item, for feeds that get the same */
  function addToList(item: JsonObject, out: Results): string {
    const text = textOf(item, before, out.listChars);
    const listed = addNodeId ? withNodeId(text, item, context.nodeId) : text;
    out.listItems.push(listed);
    out.listChars += listed.length;
    return text;
  }

  /** @param listText the item as JSON; null when it was not made yet */
  function finish(item: JsonObject, listText: string | null, out: Results): void {
    const text = listText ?? textOf(item, all, out.feedChars);
    out.feedItems.push(text);
    out.feedChars += text.length;
    out.numbers.push(nextNumber(out));
    out.scraped += 1;
  }

  /**
   * The item as JSON. Its length is judged first: 60 MB of control characters would be 360 MB.
   * @param charsBefore of the items before it @throws CrawlnodeError `too_many_items`
   */
  function textOf(item: JsonObject, pipelines: readonly LoadedPipeline[], charsBefore: number): string {
    const mostChars = maxPageBytes - charsBefore;
    if (leastJsonChars(item, mostChars) <= mostChars) return toJson(item, pipelines);
    throw new CrawlnodeError(
      'too_many_items',
      `the items of one page are more than ${maxPageBytes} bytes, and no more fit`,
    );
  }

  const opening = openModules(
    all.map((methods) => ({ name: methods.name, methods })),
    { context, kind: 'pipeline', code: 'pipeline_error' },
  );
  const withCommitted = all.filter(({ batches }) => batches !== null);
  const fileStage = (name: string) => all.find((one) => one.name === name)?.files ?? null;
  return { process, goOn, fileStage, withCommitted, count: all.length, toList, ...opening };
}

/** The result while it is collected. */
interface Results extends ProcessedItems {
  scraped: number;
  broken: number;
  closing: string | null;
  listChars: number;
  feedChars: number;
}

/** The error as the code of the project threw it. */
function asError(error: unknown): Error {
  const thrown = error instanceof CrawlnodeError && error.cause !== undefined ? error.cause : error;
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

interface Resumed {
  readonly from: number;
  readonly files: readonly FileResult[];
}

const newResult = (): Results => ({
  listItems: [],
  feedItems: [],
  listChars: 0,
  feedChars: 0,
  numbers: [],
  waiting: [],
  scraped: 0,
  drops: [],
  broken: 0,
  closing: null,
});

/** Items that passed and items that wait are numbered together. */
const nextNumber = ({ numbers, waiting }: ProcessedItems): number => numbers.length + waiting.length + 1;

async function filesOf(
  { name, files }: LoadedPipeline,
  item: JsonObject,
  results: readonly FileResult[],
): Promise<FileStep> {
  try {
    return await files!.goOn(item, results);
  } catch (error) {
    if (isDrop(error) || closingReason(error) !== null) throw error;
    throw error instanceof CrawlnodeError && error.code === 'pipeline_error'
      ? error
      : pipelineError(name, error, placeOf(error));
  }
}

async function runPipeline(
  pipeline: LoadedPipeline,
  item: JsonObject,
  { nodeId, spider, job }: CrawlContext,
): Promise<JsonObject> {
  // Frozen, so that setting a field of the item on it throws, and is not lost silently.
  const input: PipelineInput = Object.freeze({ item, nodeId, spider, job });
  let result: unknown;
  try {
    result = await pipeline.processItem(input);
  } catch (error) {
    if (isDrop(error) || closingReason(error) !== null) throw error;
    const refusal = isOfFrozenInput(error) ? takesInput(messageOf(error)) : error;
    throw pipelineError(pipeline.name, refusal, placeOf(error));
  }
  if (result === undefined) return item;
  if (result === input || isCopyOf(input, result)) {
    throw pipelineError(pipeline.name, takesInput('returned what it was called with instead of the item'));
  }
  if (result instanceof Error) {
    throw pipelineError(
      pipeline.name,
      new TypeError(`returned ${result.name} instead of the item: throw it`),
    );
  }
  if (typeof result !== 'object' || result === null || Array.isArray(result)) {
    const got = Array.isArray(result) ? 'a list' : result === null ? 'null' : `a ${typeof result}`;
    throw pipelineError(
      pipeline.name,
      new TypeError(`returned ${got} instead of the item; throw DropItem to drop it`),
    );
  }
  return result as JsonObject;
}

function isCopyOf(input: PipelineInput, result: unknown): boolean {
  if (typeof result !== 'object' || result === null) return false;
  const fields = result as Partial<PipelineInput>;
  return fields.item === input.item && fields.nodeId === input.nodeId && fields.spider === input.spider;
}

/** V8's error for a new field of an object that is frozen. */
function isOfFrozenInput(error: unknown): boolean {
  return (
    error instanceof TypeError && /^Cannot add property .* object is not extensible$/.test(error.message)
  );
}

function takesInput(what: string): TypeError {
  return new TypeError(
    `${what}; processItem gets { item, nodeId, spider, job }: write processItem({ item }), and return the item`,
  );
}

function notInPipelines(name: string): CrawlnodeError {
  return new CrawlnodeError(
    'bad_record',
    `an item waits for files in ${name}, which ITEM_PIPELINES does not name: add it, and run "crawlnode failed SPIDER retry"`,
  );
}

/** The spider's items are checked when they are yielded, so a value that is not JSON came from a pipeline. */
function toJson(item: JsonObject, pipelines: readonly LoadedPipeline[]): string {
  const names = pipelines.map(({ name }) => name).join(', ');
  let text: string;
  try {
    text = JSON.stringify(item);
  } catch (error) {
    throw pipelineError(names, error);
  }
  const lost = pipelines.length === 0 ? null : lostInJson(item, 'item');
  if (lost !== null) throw pipelineError(names, new TypeError(lost));
  return text;
}

function withNodeId(text: string, item: JsonObject, nodeId: string): string {
  if (text === '{}' || 'node_id' in item) return JSON.stringify({ ...item, node_id: nodeId });
  return `${text.slice(0, -1)},"node_id":${JSON.stringify(nodeId)}}`;
}

function isTooLong(error: unknown): boolean {
  return error instanceof CrawlnodeError && error.code === 'too_many_items';
}

/** Checks the code too, because a pipeline may import its own copy of crawlnode. */
function isDrop(error: unknown): error is DropItem {
  return (
    error instanceof DropItem ||
    (error instanceof Error && (error as { code?: unknown }).code === 'drop_item')
  );
}

/** @param where the place in the pipeline's own code that threw; null where crawlnode refuses what it gave */
function pipelineError(name: string, cause: unknown, place = ''): CrawlnodeError {
  return new CrawlnodeError('pipeline_error', `${name}: ${messageOf(cause)}${place}`, { cause });
}
