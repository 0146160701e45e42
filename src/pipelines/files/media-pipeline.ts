/**
 * FilesPipeline and ImagesPipeline as classes that a project extends, to say which files an item has, where they are stored
 * and what becomes of the item.
 */
import { SettingsError } from '../../errors.js';
import type { FileResult, JsonObject } from '../../http/message/record/request-record.js';
import type { Request } from '../../http/message/request.js';
import { nearest } from '../../settings/nearest.js';
import type { CrawlContext } from '../../user-code/crawl-context.js';

/** What `filePath` is called with. */
export interface FilePathInput {
  /** As it is sent. */
  readonly url: string;
  /**
   * Without a dot; '' for none. Of a file: the extension of its URL, if it is a known one. Of an image: that of its content.
   * The path of an image is asked for with each extension that an image can have, to find it in the store.
   */
  readonly extension: string;
  /** The item, as the pipeline got it. */
  // biome-ignore lint/suspicious/noExplicitAny: the pipeline knows the fields its spider yields.
  readonly item: any;
}

/** The default behaviour of the methods. */
export interface MediaDefaults {
  urlsOf(item: JsonObject): readonly string[] | null;
  pathOf(url: string, extension: string): string;
  readonly resultField: string;
}

/**
 * A pipeline that downloads the files of items. Extend it, and name the module in ITEM_PIPELINES. Its methods are called on
 * any node, and again after a crash, so the same arguments must give the same result.
 */
export class FilesPipeline {
  #defaults: MediaDefaults | null = null;

  /** Called before the first page of the node; it may return a promise. */
  open?(context: CrawlContext): unknown;

  /** Called after the last page of the node. */
  close?(): unknown;

  /**
   * The files of an item, as URLs or requests with headers, cookies, meta and so on. By default the URLs of
   * FILES_URLS_FIELD or IMAGES_URLS_FIELD. Null for an item that passes as it is.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the pipeline knows the fields its spider yields.
  getMediaRequests(item: any): Iterable<string | Request> | null {
    return this.#of.urlsOf(item as JsonObject);
  }

  /** The path of a file below FILES_STORE or IMAGES_STORE, with `/` between its parts. By default `full/<SHA-1 of the URL>.<extension>`. */
  filePath({ url, extension }: FilePathInput): string {
    return this.#of.pathOf(url, extension);
  }

  /**
   * The item with the results of its files, in the order of the files. By default they are in FILES_RESULT_FIELD or
   * IMAGES_RESULT_FIELD. It may return a promise, and throw DropItem.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the pipeline knows the fields its spider yields.
  itemCompleted(results: readonly FileResult[], item: any): unknown {
    return { ...(item as JsonObject), [this.#of.resultField]: results };
  }

  /** Called by crawlnode before any other method. @internal */
  static configure(pipeline: FilesPipeline, defaults: MediaDefaults): void {
    pipeline.#defaults = defaults;
  }

  get #of(): MediaDefaults {
    if (this.#defaults === null) throw new Error('the pipeline is called before it is open');
    return this.#defaults;
  }
}

/** As FilesPipeline, for images: their content is checked, and determines their extension. */
export class ImagesPipeline extends FilesPipeline {}

const ofOtherPipelines = ['processItem', 'committed'];
const ownMethods = ['getMediaRequests', 'filePath', 'itemCompleted'];
/** Methods of Scrapy's pipelines, by what to use instead. */
const ofScrapy: Readonly<Record<string, string>> = {
  get_media_requests: 'call it getMediaRequests',
  file_path: 'call it filePath',
  item_completed: 'call it itemCompleted',
  thumb_path: 'thumbnails are not made',
  get_images: 'images are stored unchanged',
  convert_image: 'images are stored unchanged',
  file_downloaded: 'use itemCompleted, which gets the results',
  media_to_download: 'use FILES_EXPIRES or IMAGES_EXPIRES',
  media_downloaded: 'use itemCompleted, which gets the results',
  media_failed: 'use itemCompleted, which gets the results',
  process_item: 'put it into a pipeline of its own, as processItem',
};

/** @throws SettingsError for a method that is never called */
export function refuseOtherMethods(name: string, pipeline: object): void {
  for (const method of methodsOf(pipeline)) {
    const instead = Object.hasOwn(ofScrapy, method) ? ofScrapy[method]! : null;
    if (instead !== null)
      throw new SettingsError(`${name} has ${method}, which is never called: ${instead}.`);
    const [near] = nearest(method, ownMethods, 1, 2);
    if (near !== undefined && near !== method && !isOverridden(pipeline, near))
      throw new SettingsError(`${name} has ${method}, which is never called; did you mean ${near}?`);
  }
  const method = ofOtherPipelines.find((each) => each in pipeline);
  if (method === undefined) return;
  throw new SettingsError(
    `${name} is a pipeline of files, of which ${method} is never called: put it into a pipeline of its own.`,
  );
}

/** The names of the fields and methods that its author gave it. */
function methodsOf(pipeline: object): string[] {
  const names: string[] = [];
  for (let owner = pipeline; owner !== FilesPipeline.prototype; owner = Object.getPrototypeOf(owner)) {
    names.push(...Object.getOwnPropertyNames(owner));
  }
  return names;
}

function isOverridden(pipeline: object, method: string): boolean {
  const members = (owner: object) => (owner as Readonly<Record<string, unknown>>)[method];
  return members(pipeline) !== members(FilesPipeline.prototype);
}

/** Names of ITEM_PIPELINES, Scrapy's paths included. */
const builtIn: Readonly<Record<string, typeof FilesPipeline>> = {
  FilesPipeline,
  'scrapy.pipelines.files.FilesPipeline': FilesPipeline,
  ImagesPipeline,
  'scrapy.pipelines.images.ImagesPipeline': ImagesPipeline,
};

/** The pipeline of files that ITEM_PIPELINES means by a name; null for another pipeline. */
export function builtInFilesPipeline(name: string): FilesPipeline | null {
  return Object.hasOwn(builtIn, name) ? new builtIn[name]!() : null;
}
