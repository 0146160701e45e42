/** FilesPipeline and ImagesPipeline, made from their settings. */
import { SettingsError } from '../../errors.js';
import { fileJudge, imageExtensions, imageJudge } from './file-content.js';
import { filePath, knownExtensions, pathOf } from './file-path.js';
import { FileStage } from './file-stage.js';
import { FileStore } from './file-store.js';

/** The settings of both, by name; expiry in days. */
export interface FileSettings {
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
}

const DAY_MS = 86_400_000;

/** Names of ITEM_PIPELINES, Scrapy's paths included. */
const kinds: Readonly<Record<string, 'files' | 'images'>> = {
  FilesPipeline: 'files',
  'scrapy.pipelines.files.FilesPipeline': 'files',
  ImagesPipeline: 'images',
  'scrapy.pipelines.images.ImagesPipeline': 'images',
};

export const isFileStage = (name: string): boolean => Object.hasOwn(kinds, name);

/**
 * @param host of this machine
 * @throws SettingsError without a store
 */
export async function loadFileStage(name: string, settings: FileSettings, host: string): Promise<FileStage> {
  const isImages = kinds[name] === 'images';
  const setting = isImages ? 'IMAGES_STORE' : 'FILES_STORE';
  const folder = settings[setting];
  if (folder === null) {
    throw new SettingsError(`ITEM_PIPELINES names ${name}: set ${setting} to the folder of its files.`);
  }
  const store = new FileStore(folder, settings.FILES_HOST_IN_PATH ? inPath(host) : null);
  const common = {
    ...{ name, store, pathOf },
    maxBytes: settings.FILES_MAXSIZE,
    allowsRedirects: settings.MEDIA_ALLOW_REDIRECTS,
  };
  if (isImages) {
    return new FileStage({
      ...common,
      urlsFields: fieldsOf(settings.IMAGES_URLS_FIELD, 'image_urls', 'imageUrls'),
      resultField: settings.IMAGES_RESULT_FIELD,
      maxAgeMs: settings.IMAGES_EXPIRES * DAY_MS,
      judge: imageJudge({ minWidth: settings.IMAGES_MIN_WIDTH, minHeight: settings.IMAGES_MIN_HEIGHT }),
      pathsOf: (url) => imageExtensions.map((extension) => pathOf(url, extension)),
    });
  }
  const { supportedExtensions } = await import('file-type');
  const known = knownExtensions(supportedExtensions);
  return new FileStage({
    ...common,
    urlsFields: fieldsOf(settings.FILES_URLS_FIELD, 'file_urls', 'fileUrls'),
    resultField: settings.FILES_RESULT_FIELD,
    maxAgeMs: settings.FILES_EXPIRES * DAY_MS,
    judge: fileJudge(settings.FILES_TYPES),
    pathsOf: (url) => [filePath(url, known)],
  });
}

/** The usual field may also be spelt as TypeScript does it. */
function fieldsOf(field: string, usual: string, inTypeScript: string): readonly string[] {
  return field === usual ? [usual, inTypeScript] : [field];
}

/** The name of a host as one part of a path. */
function inPath(host: string): string {
  return host.replace(/[^\w.-]/g, '_').replace(/^\.+/, '_') || 'host';
}
