/** Settings: files and images of items. */
import * as z from 'zod';
import {
  choice,
  type Definition,
  decimal,
  flag,
  integer,
  list,
  optionalText,
  projectPath,
  text,
} from '../kinds.js';
import { s3Location } from '../s3-location.js';

const EXPIRES_MAX_DAYS = 36_500;

const expectsStore =
  'a local folder, s3://BUCKET/FOLDER, or null (gs:// and ftp:// are not supported: use s3:// with AWS_ENDPOINT_URL, mount the storage, or upload the files from committed() of an item pipeline)';

/** A folder or a bucket; other places are refused by name. */
function storeOf(): Definition<string | null> {
  const definition = optionalText({ expects: expectsStore });
  const store = z
    .string()
    .refine((value) => isBucket(value) || !/^(?!file:\/\/)[a-z][a-z0-9+.-]+:\//i.test(value))
    .nullable();
  return {
    ...definition,
    zod: store,
    resolve: (value, dir) => (value === null ? null : inProject(value, dir)),
  };
}

const isBucket = (value: string): boolean => s3Location(value) !== null;

const inProject = (value: string, dir: string): string =>
  isBucket(value) ? value : projectPath(dir, value.replace(/^file:\/\//i, ''));

/** Canned ACLs of S3. */
const acls = [
  'private',
  'public-read',
  'public-read-write',
  'authenticated-read',
  'aws-exec-read',
  'bucket-owner-read',
  'bucket-owner-full-control',
] as const;

export const fileSettings = {
  /**
   * Folder of the files of FilesPipeline, or s3://BUCKET/FOLDER. All nodes must share it, unless
   * FILES_HOST_IN_PATH is true. Default: null.
   */
  FILES_STORE: storeOf(),
  /**
   * How long a file or image that cannot be stored is tried again, with growing pauses. Then its request
   * fails as files_unwritable, with its item. Unit: seconds. Default: 300.
   */
  FILES_STORE_TIMEOUT: decimal({ default: 300, max: 86_400, unit: 'seconds' }),
  /** Access to the files in a bucket. private leaves it to the bucket. Default: "private". */
  FILES_STORE_S3_ACL: choice({ of: acls, default: 'private' }),
  /**
   * Field of an item with the URLs of its files. With the default, fileUrls is read too. Default:
   * "file_urls".
   */
  FILES_URLS_FIELD: text({ default: 'file_urls' }),
  /** Field of an item that gets the results of its files. Default: "files". */
  FILES_RESULT_FIELD: text({ default: 'files' }),
  /**
   * A file in FILES_STORE that is older is downloaded again; 0 downloads each file whenever an item names it.
   * Unit: days. Default: 90.
   */
  FILES_EXPIRES: decimal({ default: 90, max: EXPIRES_MAX_DAYS, unit: 'days' }),
  /**
   * A larger file or image fails as too_large; 0 leaves DOWNLOAD_MAXSIZE as the limit. Unit: bytes. Default:
   * 0.
   */
  FILES_MAXSIZE: integer({ default: 0, unit: 'bytes' }),
  /** Files of another type, by their content, fail as other_type; empty for no limit. Default: []. */
  FILES_TYPES: list(z.string().regex(/^[\w.+-]+\/(?:\*|[\w.+-]+)$/), {
    default: [],
    expects: 'a list of media types, such as application/pdf or image/*',
  }),
  /**
   * The paths of files and images begin with the name of the host that has them. For hosts that do not share
   * the folder. Default: false.
   */
  FILES_HOST_IN_PATH: flag({ default: false }),
  /**
   * Folder of the images of ImagesPipeline, or s3://BUCKET/FOLDER. All nodes must share it, unless
   * FILES_HOST_IN_PATH is true. Default: null.
   */
  IMAGES_STORE: storeOf(),
  /** Access to the images in a bucket. private leaves it to the bucket. Default: "private". */
  IMAGES_STORE_S3_ACL: choice({ of: acls, default: 'private' }),
  /**
   * Field of an item with the URLs of its images. With the default, imageUrls is read too. Default:
   * "image_urls".
   */
  IMAGES_URLS_FIELD: text({ default: 'image_urls' }),
  /** Field of an item that gets the results of its images. Default: "images". */
  IMAGES_RESULT_FIELD: text({ default: 'images' }),
  /**
   * An image in IMAGES_STORE that is older is downloaded again; 0 downloads each image whenever an item names
   * it. Unit: days. Default: 90.
   */
  IMAGES_EXPIRES: decimal({ default: 90, max: EXPIRES_MAX_DAYS, unit: 'days' }),
  /** A narrower image fails as too_small. Unit: pixels. Default: 0. */
  IMAGES_MIN_WIDTH: integer({ default: 0, unit: 'pixels' }),
  /** A lower image fails as too_small. Unit: pixels. Default: 0. */
  IMAGES_MIN_HEIGHT: integer({ default: 0, unit: 'pixels' }),
  /**
   * Follow redirects of files and images. When false, one that redirects fails, as in Scrapy. Default: false.
   */
  MEDIA_ALLOW_REDIRECTS: flag({ default: false }),
  /**
   * For s3:// in FILES_STORE and IMAGES_STORE. Without it and AWS_SECRET_ACCESS_KEY, credentials come from
   * where AWS tools have them: a profile, or the role of the machine. Default: null.
   */
  AWS_ACCESS_KEY_ID: optionalText({ secret: true }),
  /** Belongs to AWS_ACCESS_KEY_ID; never shown. Default: null. */
  AWS_SECRET_ACCESS_KEY: optionalText({ secret: true }),
  /** Of temporary credentials; never shown. Default: null. */
  AWS_SESSION_TOKEN: optionalText({ secret: true }),
  /** Region of the bucket. Default: null. */
  AWS_REGION_NAME: optionalText({
    isCommonName: true,
    environmentNames: ['AWS_REGION', 'AWS_DEFAULT_REGION'],
    pattern: /^[a-z0-9-]{1,32}$/,
    expects: 'a region, such as eu-central-1, or null',
  }),
  /** URL of an S3-compatible storage other than that of Amazon. Default: null. */
  AWS_ENDPOINT_URL: optionalText({
    isCommonName: true,
    environmentNames: ['AWS_ENDPOINT_URL_S3'],
    pattern: /^https?:\/\/[^\s/@?#]+(?:\/[^\s@?#]*)?$/,
    expects: 'an http or https URL without credentials, such as https://minio.example:9000, or null',
  }),
  /** Use https where AWS_ENDPOINT_URL does not say which. Default: true. */
  AWS_USE_SSL: flag({ default: true }),
  /** Check the TLS certificate of the storage. Default: true. */
  AWS_VERIFY: flag({ default: true }),
};
