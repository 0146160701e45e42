/** The usual path of a file in its store, made from nothing but the hash of its URL and a known extension. */
import { createHash } from 'node:crypto';

/** Extensions of text, which `file-type` does not know by content. */
const textExtensions = [
  'csv',
  'tsv',
  'txt',
  'json',
  'jsonl',
  'xml',
  'html',
  'htm',
  'md',
  'css',
  'js',
  'svg',
  'yaml',
];
/** Extensions of older or common documents that have another name by content. */
const otherExtensions = [
  'doc',
  'xls',
  'ppt',
  'jpeg',
  'tiff',
  'htm',
  'tgz',
  'mpg',
  'mpeg',
  'aiff',
  'm4a',
  'ico',
  'ods',
];

/**
 * The extension of a file by its URL, in lower case; '' for none.
 * @param known the extensions that a file may have, such as `pdf`; any other one, as `php`, is left out
 */
export function urlExtension(url: string, known: ReadonlySet<string>): string {
  const [, extension = ''] = /\.([a-z0-9]{1,10})$/i.exec(new URL(url).pathname) ?? [];
  const lower = extension.toLowerCase();
  return known.has(lower) ? lower : '';
}

/** The path of a file, as Scrapy has it: `full/<SHA-1 of the URL>.<extension>`. @param extension '' for none */
export function pathOf(url: string, extension: string): string {
  const name = createHash('sha1').update(url).digest('hex');
  return `full/${name}${extension === '' ? '' : `.${extension}`}`;
}

/** @param byContent the extensions that `file-type` knows */
export function knownExtensions(byContent: Iterable<string>): ReadonlySet<string> {
  return new Set([...byContent, ...textExtensions, ...otherExtensions]);
}
