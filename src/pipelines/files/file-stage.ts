/**
 * FilesPipeline and ImagesPipeline: which files an item wants, and the result of each. The node fetches them as requests of
 * the crawl, one after the other. The item waits in the record of the request.
 */
import { CrawlnodeError, messageOf } from '../../errors.js';
import type { FileResult, JsonObject } from '../../http/message/record/request-record.js';
import { isFilePath } from '../../http/message/record/waiting-item.js';
import { Request } from '../../http/message/request.js';
import { checkUrl } from '../../http/url/http-url.js';
import { withinTimeout } from '../../user-code/callback-timeout.js';
import type { Judge } from './file-content.js';
import { FileTurns } from './file-turns.js';
import type { FilesPipeline } from './media-pipeline.js';
import type { StoredFile } from './store/file-store.js';
import type { RetryingStore } from './store/retrying-store.js';

export interface FileStageOptions {
  /** As ITEM_PIPELINES names it. */
  readonly name: string;
  readonly pipeline: FilesPipeline;
  readonly store: RetryingStore;
  /** An older file is fetched again. */
  readonly maxAgeMs: number;
  /** A larger file fails; 0 for no limit but that of every download. */
  readonly maxBytes: number;
  /** MEDIA_ALLOW_REDIRECTS. */
  readonly allowsRedirects: boolean;
  /** For `itemCompleted`; no bound by default. */
  readonly callbackTimeoutMs?: number | undefined;
  readonly judge: Judge;
  /** The extensions that the file of a URL can have in the store. */
  extensionsOf(url: string): readonly string[];
}

/** An item whose files are complete, or the URL of its next file. */
export type FileStep =
  | { readonly item: JsonObject }
  | { readonly next: string; readonly files: readonly FileResult[] };

/** What the server answered for a file. */
export interface FileAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** URLs that failed on this node recently, so that a file that many items name is not requested again and again. */
const MAX_FAILURES = 10_000;
const FAILURE_MS = 60 * 60 * 1_000;
/** The record of a request takes 1 MB at most. */
const MAX_WAITING_BYTES = 900_000;
const RESULT_BYTES = 250;
/** More results than that do not fit into a record. */
const MAX_FILES = MAX_WAITING_BYTES / RESULT_BYTES;

export class FileStage {
  readonly options: FileStageOptions;
  readonly #failures = new Map<string, { readonly reason: string; readonly at: number }>();
  readonly #turns = new FileTurns();

  constructor(options: FileStageOptions) {
    this.options = options;
  }

  /**
   * Continue with an item whose first files have results. Files that the store already holds are not fetched.
   * @throws CrawlnodeError `invalid_item` for an item that no request could carry; errors of the pipeline.
   */
  async goOn(item: JsonObject, files: readonly FileResult[]): Promise<FileStep> {
    const wanted = this.#filesOf(item);
    if (wanted === null) return { item };
    const urls = wanted.map(urlOf);
    if (files.length === 0) refuseTooLarge(item, urls);
    const results = files.slice(0, urls.length);
    while (results.length < urls.length) {
      const url = urls[results.length]!;
      const known =
        results.find((result) => result.url === url) ??
        (await this.#known(url, item, (names, maxAgeMs) => this.options.store.findNow(names, maxAgeMs)));
      if (known === null) return { next: url, files: results };
      results.push(known);
    }
    const { pipeline, callbackTimeoutMs } = this.options;
    const completed = await withinTimeout(pipeline.itemCompleted(results, item), callbackTimeoutMs);
    return { item: this.#completed(completed) };
  }

  /** The result of a file without a download; null when it must be fetched. @throws CrawlnodeError `files_unwritable` */
  known(url: string, item: JsonObject, signal: AbortSignal): Promise<FileResult | null> {
    return this.#known(url, item, (names, maxAgeMs) => this.options.store.find(names, maxAgeMs, signal));
  }

  /** The URL of a file of an item; null where the item has none at this place. */
  urlAt(item: JsonObject, place: number): string | null {
    const file = this.#fileAt(item, place);
    return file === null ? null : urlOf(file);
  }

  /** The request that fetches a file of an item. */
  requestAt(item: JsonObject, place: number, url: string): Request {
    const file = this.#fileAt(item, place);
    return file instanceof Request ? file : new Request(url);
  }

  /** Fetch a file once no other request of this node fetches it. */
  inTurn<T>(url: string, fetch: () => Promise<T>): Promise<T> {
    return this.#turns.after(url, fetch);
  }

  /**
   * Put a downloaded file into the store. A store that is away is waited for.
   * @returns its result, which is `failed` for what the pipeline does not want
   * @throws CrawlnodeError `files_unwritable`
   */
  async receive(
    url: string,
    { status, body }: FileAnswer,
    item: JsonObject,
    signal: AbortSignal,
  ): Promise<FileResult> {
    if (status !== 200) return this.fail(url, `http_${status}`);
    if (body.length === 0) return this.fail(url, 'empty');
    const { store, judge, extensionsOf } = this.options;
    const judged = await judge(body);
    if ('refused' in judged) return this.fail(url, judged.refused);
    const safe = checkUrl(url);
    const name = this.#pathOf(safe, judged.extension ?? extensionsOf(safe)[0]!, item);
    const stored = await store.write(name, body, signal);
    return { url, ...stored, status: 'downloaded' };
  }

  /** The result of a file that cannot be fetched. @param reason one word */
  fail(url: string, reason: string): FileResult {
    this.#failures.delete(url);
    this.#failures.set(url, { reason, at: performance.now() });
    if (this.#failures.size > MAX_FAILURES) this.#failures.delete(this.#failures.keys().next().value!);
    return failed(url, reason);
  }

  async #known(
    url: string,
    item: JsonObject,
    find: (names: readonly string[], maxAgeMs: number) => Promise<StoredFile | null>,
  ): Promise<FileResult | null> {
    const safe = safeUrl(url);
    if (safe === null) return failed(url, 'invalid_url');
    const failure = this.#failures.get(url);
    if (failure !== undefined && performance.now() - failure.at < FAILURE_MS)
      return failed(url, failure.reason);
    const { extensionsOf, maxAgeMs } = this.options;
    const names = extensionsOf(safe).map((extension) => this.#pathOf(safe, extension, item));
    const found = await find([...new Set(names)], maxAgeMs);
    return found === null ? null : { url, ...found, status: 'uptodate' };
  }

  /** The files of an item; null when it has no such field. @throws CrawlnodeError `invalid_item` */
  #filesOf(item: JsonObject): readonly (string | Request)[] | null {
    const wanted = this.options.pipeline.getMediaRequests(item);
    if (wanted === null || wanted === undefined) return null;
    const isList = typeof wanted === 'object' && Symbol.iterator in wanted;
    const files: unknown[] = [];
    for (const file of isList ? wanted : [wanted]) {
      if (typeof file !== 'string' && !(file instanceof Request)) throw noFile(file);
      // A generator may never end.
      if (files.push(file) > MAX_FILES)
        throw new CrawlnodeError(
          'invalid_item',
          `getMediaRequests gave more than ${MAX_FILES} files for an item`,
        );
    }
    return files as (string | Request)[];
  }

  #fileAt(item: JsonObject, place: number): string | Request | null {
    try {
      return this.#filesOf(item)?.[place] ?? null;
    } catch {
      return null;
    }
  }

  /** @throws CrawlnodeError `pipeline_error` for a path that could leave the store, and for an error of `filePath` */
  #pathOf(url: string, extension: string, item: JsonObject): string {
    const { name, pipeline } = this.options;
    let path: unknown;
    try {
      path = pipeline.filePath({ url, extension, item });
    } catch (error) {
      throw new CrawlnodeError('pipeline_error', `${name}: ${messageOf(error)}`, { cause: error });
    }
    if (typeof path === 'string' && isFilePath(path)) return path;
    const what = typeof path === 'string' ? JSON.stringify(path.slice(0, 200)) : kindOf(path);
    throw new CrawlnodeError(
      'pipeline_error',
      `${name}: filePath gave ${what} for ${url}; a path has parts with / between them, none of which begins with a dot, of at most 255 bytes each and 600 together`,
    );
  }

  #completed(item: unknown): JsonObject {
    if (typeof item === 'object' && item !== null && !Array.isArray(item)) return item as JsonObject;
    throw new CrawlnodeError('invalid_item', 'itemCompleted must return the item, or throw DropItem');
  }
}

function noFile(given: unknown): CrawlnodeError {
  return new CrawlnodeError(
    'invalid_item',
    `getMediaRequests must give URLs or requests, and gave ${kindOf(given)}`,
  );
}

/** What a method returned, for a message. */
function kindOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : `a ${typeof value}`;
  const isAsync = value instanceof Promise || Symbol.asyncIterator in value;
  return isAsync ? 'a promise: it cannot be async' : 'an object';
}

const urlOf = (file: string | Request): string => (typeof file === 'string' ? file : file.url);

function failed(url: string, reason: string): FileResult {
  return { url, path: null, checksum: null, status: 'failed', reason };
}

function safeUrl(url: string): string | null {
  try {
    return checkUrl(url);
  } catch {
    return null;
  }
}

/** Together with the results of all its files. */
function refuseTooLarge(item: JsonObject, urls: readonly string[]): void {
  let text: string;
  try {
    text = JSON.stringify(item);
  } catch (error) {
    throw new CrawlnodeError('invalid_item', messageOf(error), { cause: error });
  }
  const urlBytes = urls.reduce((sum, url) => sum + Buffer.byteLength(url) + RESULT_BYTES, 0);
  const bytes = Buffer.byteLength(text) + urlBytes;
  if (bytes <= MAX_WAITING_BYTES) return;
  throw new CrawlnodeError(
    'invalid_item',
    `an item with ${urls.length} files takes ${bytes} bytes with their results; at most ${MAX_WAITING_BYTES} fit`,
  );
}
