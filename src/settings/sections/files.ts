/** Settings: files and images of items. */
import path from 'node:path';
import { z } from 'zod';
import { type Definition, decimal, flag, integer, list, optionalPath, text } from '../kinds.js';

const EXPIRES_MAX_DAYS = 36_500;

/** A folder; other places are refused by name. */
function folderOf(what: string): Definition<string | null> {
  const definition = optionalPath({ text: what });
  const local = z
    .string()
    .refine((value) => !/^(?!file:)[a-z][a-z0-9+.-]*:\/\//i.test(value))
    .nullable();
  return {
    ...definition,
    zod: local,
    expects:
      'a local folder, or null (for a bucket such as s3://: mount it, or upload the files from committed() of an item pipeline)',
    resolve: (value, dir) => (value === null ? null : path.resolve(dir, value.replace(/^file:\/\//i, ''))),
  };
}

export const fileSettings = {
  FILES_STORE: folderOf(
    'Folder of the files of FilesPipeline. All nodes must share it, unless FILES_HOST_IN_PATH is true.',
  ),
  FILES_URLS_FIELD: text({
    default: 'file_urls',
    text: 'Field of an item with the URLs of its files. With the default, fileUrls is read too.',
  }),
  FILES_RESULT_FIELD: text({
    default: 'files',
    text: 'Field of an item that gets the results of its files.',
  }),
  FILES_EXPIRES: decimal({
    default: 90,
    max: EXPIRES_MAX_DAYS,
    unit: 'days',
    text: 'A file in FILES_STORE that is older is downloaded again; 0 downloads each file whenever an item names it.',
  }),
  FILES_MAXSIZE: integer({
    default: 0,
    unit: 'bytes',
    text: 'A larger file or image fails as too_large; 0 leaves DOWNLOAD_MAXSIZE as the limit.',
  }),
  FILES_TYPES: list(z.string().regex(/^[\w.+-]+\/(?:\*|[\w.+-]+)$/), {
    default: [],
    expects: 'a list of media types, such as application/pdf or image/*',
    text: 'Files of another type, by their content, fail as other_type; empty for no limit.',
  }),
  FILES_HOST_IN_PATH: flag({
    default: false,
    text: 'The paths of files and images begin with the name of the host that has them. For hosts that do not share the folder.',
  }),
  IMAGES_STORE: folderOf(
    'Folder of the images of ImagesPipeline. All nodes must share it, unless FILES_HOST_IN_PATH is true.',
  ),
  IMAGES_URLS_FIELD: text({
    default: 'image_urls',
    text: 'Field of an item with the URLs of its images. With the default, imageUrls is read too.',
  }),
  IMAGES_RESULT_FIELD: text({
    default: 'images',
    text: 'Field of an item that gets the results of its images.',
  }),
  IMAGES_EXPIRES: decimal({
    default: 90,
    max: EXPIRES_MAX_DAYS,
    unit: 'days',
    text: 'An image in IMAGES_STORE that is older is downloaded again; 0 downloads each image whenever an item names it.',
  }),
  IMAGES_MIN_WIDTH: integer({ default: 0, unit: 'pixels', text: 'A narrower image fails as too_small.' }),
  IMAGES_MIN_HEIGHT: integer({ default: 0, unit: 'pixels', text: 'A lower image fails as too_small.' }),
  MEDIA_ALLOW_REDIRECTS: flag({
    default: false,
    text: 'Follow redirects of files and images. When false, one that redirects fails, as in Scrapy.',
  }),
};
