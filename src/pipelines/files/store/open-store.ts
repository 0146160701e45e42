/** The store that FILES_STORE or IMAGES_STORE names. */
import type { FileStore } from './file-store.js';
import { FolderStore } from './folder-store.js';
import type { S3Settings } from './s3-client.js';

export interface StoreOptions {
  /** For messages. */
  readonly setting: 'FILES_STORE' | 'IMAGES_STORE';
  /** An absolute folder, or `s3://bucket/folder`. */
  readonly place: string;
  readonly acl: string;
  /** The first part of the path of each file; null where all hosts share their files. */
  readonly host: string | null;
  readonly settings: S3Settings;
  readonly projectDir: string;
}

/** @throws SettingsError for a bucket without the package that it needs */
export async function openStore(options: StoreOptions): Promise<FileStore> {
  const { setting, place, acl, host, settings, projectDir } = options;
  if (!place.startsWith('s3://')) return new FolderStore(place, host);
  const [{ openS3, SILENCE_MS }, { S3Store }] = await Promise.all([
    import('./s3-client.js'),
    import('./s3-store.js'),
  ]);
  // A URL with credentials is refused by the settings.
  const server = settings.AWS_ENDPOINT_URL ?? 'Amazon S3';
  const awaits = `an answer of ${server} about ${place}, up to about ${SILENCE_MS / 1_000} s`;
  return new S3Store(await openS3(setting, settings, projectDir), { url: place, acl, host, awaits });
}
