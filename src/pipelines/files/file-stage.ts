/**
 * FilesPipeline and ImagesPipeline: which files an item asks for, and what becomes of each. The engine fetches them as
 * requests of the crawl, one after the other, and the item waits in the record of the request.
 */
import { CrawlnodeError, messageOf } from '../../errors.js';
import type { FileResult, JsonObject, JsonValue } from '../../http/message/record/request-record.js';
import { checkUrl } from '../../http/url/http-url.js';
import type { Judge } from './file-content.js';
import type { FileStore } from './file-store.js';
import { FileTurns } from './file-turns.js';

export interface FileStageOptions {
  /** As ITEM_PIPELINES names it. */
  readonly name: string;
  readonly store: FileStore;
  /** The field of an item with its URLs; the first that it has. */
  readonly urlsFields: readonly string[];
  /** The field that gets the results. */
  readonly resultField: string;
  /** An older file is fetched again. */
  readonly maxAgeMs: number;
  /** A larger file fails; 0 for no limit but that of every download. */
  readonly maxBytes: number;
  /** MEDIA_ALLOW_REDIRECTS. */
  readonly allowsRedirects: boolean;
  readonly judge: Judge;
  /** The paths that the file of a URL can have in the store. */
  pathsOf(url: string): readonly string[];
  /** The path of a file whose content gives its extension. */
  pathOf(url: string, extension: string): string;
}

/** An item with all its files, or the URL that is to be fetched next. */
export type FileStep =
  | { readonly item: JsonObject }
  | { readonly next: string; readonly files: readonly FileResult[] };

/** What the server answered for a file. */
export interface FileAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** URLs that failed on this node of late, so that a file which many items name is not asked for again and again. */
const MAX_FAILURES = 10_000;
const FAILURE_MS = 60 * 60 * 1_000;
/** The record of a request takes 1 MB at most. */
const MAX_WAITING_BYTES = 900_000;
const RESULT_BYTES = 250;

export class FileStage {
  readonly options: FileStageOptions;
  readonly #failures = new Map<string, { readonly reason: string; readonly at: number }>();
  readonly #turns = new FileTurns();

  constructor(options: FileStageOptions) {
    this.options = options;
  }

  /**
   * Go on with an item, of whose URLs the first have results. Files that are in the store already are not fetched.
   * @throws CrawlnodeError `item_too_large` for one that no request could carry.
   */
  async goOn(item: JsonObject, files: readonly FileResult[]): Promise<FileStep> {
    const urls = this.#urlsOf(item);
    if (urls === null) return { item };
    if (files.length === 0) refuseTooLarge(item, urls);
    const results = files.slice(0, urls.length);
    while (results.length < urls.length) {
      const url = urls[results.length]!;
      const known = results.find((result) => result.url === url) ?? (await this.known(url));
      if (known === null) return { next: url, files: results };
      results.push(known);
    }
    return { item: { ...item, [this.options.resultField]: results as unknown as JsonValue } };
  }

  /** What is known of a file without fetching it; null where it must be fetched. */
  async known(url: string): Promise<FileResult | null> {
    const safe = safeUrl(url);
    if (safe === null) return failed(url, 'invalid_url');
    const failure = this.#failures.get(url);
    if (failure !== undefined && performance.now() - failure.at < FAILURE_MS)
      return failed(url, failure.reason);
    const { store, pathsOf, maxAgeMs } = this.options;
    const found = await store.find(pathsOf(safe), maxAgeMs);
    return found === null ? null : { url, ...found, status: 'uptodate' };
  }

  /** The URL of an item at a place; null where it has none there. */
  urlAt(item: JsonObject, place: number): string | null {
    try {
      return this.#urlsOf(item)?.[place] ?? null;
    } catch {
      return null;
    }
  }

  /** Fetch a file once no other request of this node fetches it. */
  inTurn<T>(url: string, fetch: () => Promise<T>): Promise<T> {
    return this.#turns.after(url, fetch);
  }

  /**
   * Put a downloaded file into the store.
   * @returns its result, which is `failed` for what the pipeline does not want
   * @throws CrawlnodeError `files_unwritable`
   */
  async receive(url: string, { status, body }: FileAnswer): Promise<FileResult> {
    if (status !== 200) return this.fail(url, `http_${status}`);
    if (body.length === 0) return this.fail(url, 'empty');
    const { store, judge, pathsOf, pathOf } = this.options;
    const judged = await judge(body);
    if ('refused' in judged) return this.fail(url, judged.refused);
    const safe = checkUrl(url);
    const { extension } = judged;
    const stored = await store.write(extension === null ? pathsOf(safe)[0]! : pathOf(safe, extension), body);
    return { url, ...stored, status: 'downloaded' };
  }

  /** A file that cannot be had. @param reason one word */
  fail(url: string, reason: string): FileResult {
    this.#failures.delete(url);
    this.#failures.set(url, { reason, at: performance.now() });
    if (this.#failures.size > MAX_FAILURES) this.#failures.delete(this.#failures.keys().next().value!);
    return failed(url, reason);
  }

  /** The URLs of an item; null where it has no field for them. @throws CrawlnodeError `invalid_item` */
  #urlsOf(item: JsonObject): readonly string[] | null {
    const field = this.options.urlsFields.find((name) => item[name] !== undefined && item[name] !== null);
    if (field === undefined) return null;
    const value = item[field];
    const urls = typeof value === 'string' ? [value] : value;
    if (Array.isArray(urls) && urls.every((url) => typeof url === 'string')) return urls;
    throw new CrawlnodeError('invalid_item', `the field ${field} of an item is not a list of URLs`);
  }
}

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
