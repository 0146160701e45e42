/** FilesPipeline and ImagesPipeline, made from their settings. */
import { CrawlnodeError, SettingsError } from '../../errors.js';
import type { JsonObject } from '../../http/message/record/request-record.js';
import type { Logger } from '../../log.js';
import { fileJudge, imageExtensions, imageJudge } from './file-content.js';
import { knownExtensions, pathOf, urlExtension } from './file-path.js';
import { FileStage } from './file-stage.js';
import { FilesPipeline, ImagesPipeline } from './media-pipeline.js';
import { openStore } from './store/open-store.js';
import { RetryingStore } from './store/retrying-store.js';
import type { S3Settings } from './store/s3-client.js';

/** The settings of both, by name; expiry in days. */
export interface FileSettings extends S3Settings {
  readonly FILES_STORE: string | null;
  readonly FILES_URLS_FIELD: string;
  readonly FILES_RESULT_FIELD: string;
  readonly FILES_EXPIRES: number;
  readonly FILES_MAXSIZE: number;
  readonly FILES_TYPES: readonly string[];
  readonly FILES_HOST_IN_PATH: boolean;
  readonly IMAGES_STORE: string | null;
  readonly IMAGES_URLS_FIELD: string;
  readonly IMAGES_RESULT_FIELD: string;
  readonly IMAGES_EXPIRES: number;
  readonly IMAGES_MIN_WIDTH: number;
  readonly IMAGES_MIN_HEIGHT: number;
  readonly MEDIA_ALLOW_REDIRECTS: boolean;
  readonly FILES_STORE_S3_ACL: string;
  readonly IMAGES_STORE_S3_ACL: string;
  /** In seconds. */
  readonly FILES_STORE_TIMEOUT: number;
}

const DAY_MS = 86_400_000;

export interface FileStageSources {
  readonly settings: FileSettings;
  /** Of this machine. */
  readonly host: string;
  readonly projectDir: string;
  readonly log: Logger;
  readonly callbackTimeoutMs?: number | undefined;
}

/**
 * @param name as ITEM_PIPELINES says it
 * @throws SettingsError without a store, or without the package that a bucket needs
 */
export async function loadFileStage(
  name: string,
  pipeline: FilesPipeline,
  { settings, host, projectDir, log, callbackTimeoutMs }: FileStageSources,
): Promise<FileStage> {
  const isImages = pipeline instanceof ImagesPipeline;
  const setting = isImages ? 'IMAGES_STORE' : 'FILES_STORE';
  const place = settings[setting];
  if (place === null) {
    throw new SettingsError(`ITEM_PIPELINES names ${name}: set ${setting} to the folder of its files.`);
  }
  const acl = settings[`${setting}_S3_ACL`];
  const store = await openStore({
    ...{ setting, place, acl, settings, projectDir },
    host: settings.FILES_HOST_IN_PATH ? inPath(host) : null,
  });
  const giveUpMs = settings.FILES_STORE_TIMEOUT * 1000;
  const common = {
    ...{ name, pipeline, store: new RetryingStore(store, { giveUpMs, log }) },
    maxBytes: settings.FILES_MAXSIZE,
    ...{ allowsRedirects: settings.MEDIA_ALLOW_REDIRECTS, callbackTimeoutMs },
  };
  const fields = isImages
    ? fieldsOf(settings.IMAGES_URLS_FIELD, 'image_urls', 'imageUrls')
    : fieldsOf(settings.FILES_URLS_FIELD, 'file_urls', 'fileUrls');
  FilesPipeline.configure(pipeline, {
    ...{ pathOf, urlsOf: (item) => urlsIn(item, fields) },
    resultField: isImages ? settings.IMAGES_RESULT_FIELD : settings.FILES_RESULT_FIELD,
  });
  if (isImages) {
    return new FileStage({
      ...common,
      maxAgeMs: settings.IMAGES_EXPIRES * DAY_MS,
      judge: imageJudge({ minWidth: settings.IMAGES_MIN_WIDTH, minHeight: settings.IMAGES_MIN_HEIGHT }),
      extensionsOf: () => imageExtensions,
    });
  }
  const { supportedExtensions } = await import('file-type');
  const extensions = knownExtensions(supportedExtensions);
  return new FileStage({
    ...common,
    maxAgeMs: settings.FILES_EXPIRES * DAY_MS,
    judge: fileJudge(settings.FILES_TYPES),
    extensionsOf: (url) => [urlExtension(url, extensions)],
  });
}

/** The URLs of an item, in the first of the fields that it has; null where it has none. @throws CrawlnodeError `invalid_item` */
function urlsIn(item: JsonObject, fields: readonly string[]): readonly string[] | null {
  const field = fields.find((name) => item[name] !== undefined && item[name] !== null);
  if (field === undefined) return null;
  const value = item[field];
  const urls = typeof value === 'string' ? [value] : value;
  if (Array.isArray(urls) && urls.every((url) => typeof url === 'string')) return urls;
  throw new CrawlnodeError('invalid_item', `the field ${field} of an item is not a list of URLs`);
}

/** The usual field may also be spelt as TypeScript does it. */
function fieldsOf(field: string, usual: string, inTypeScript: string): readonly string[] {
  return field === usual ? [usual, inTypeScript] : [field];
}

/** The name of a host as one part of a path. */
function inPath(host: string): string {
  return host.replace(/[^\w.-]/g, '_').replace(/^\.+/, '_') || 'host';
}
