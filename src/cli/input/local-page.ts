/** A page for `parse` and `shell`: a URL, or a local file in place of one. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../../errors.js';
import { Response } from '../../http/message/response.js';
import { type Context, note } from '../context.js';
import { looksLikeUrl } from '../options/spider-argument.js';

/** Links of a local file count from here unless `--url` is given. */
const NO_URL = 'http://localhost/';

export type Page =
  | { readonly kind: 'url'; readonly url: string }
  /** @property url of `--url`; null without it */
  | { readonly kind: 'file'; readonly file: string; readonly url: string | null };

/**
 * What a word of the command line means.
 * @param url the option `--url`
 * @throws UsageError for a word that is neither a URL nor a file, and for `--url` with a URL
 */
export function pageOfWord(context: Context, word: string, url: string | undefined): Page {
  const isFileUrl = /^file:\/\//i.test(word);
  if (looksLikeUrl(word) && !isFileUrl) {
    if (url === undefined) return { kind: 'url', url: word };
    throw new UsageError(`--url goes with a local file, and ${word} is a URL`);
  }
  const file = isFileUrl ? pathOfUrl(word) : path.resolve(context.cwd, word);
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile()) return { kind: 'file', file, url: url ?? null };
  const what = found === undefined ? 'neither a URL (http://… or https://…) nor an existing file' : 'no file';
  throw new UsageError(`${word} is ${what}; give a URL, or the path of a saved page`);
}

/** Whether a word names a file of the working folder. */
export function isLocalFile({ cwd }: Context, word: string): boolean {
  return statSync(path.resolve(cwd, word), { throwIfNoEntry: false })?.isFile() === true;
}

/** The response made from a local file. A notice is printed when its URL is not known. @throws InvalidRequestError */
export function readLocalPage(context: Context, { file, url }: Extract<Page, { kind: 'file' }>): Response {
  if (url === null)
    note(context, `links of ${path.basename(file)} count from ${NO_URL}; --url gives its URL`);
  return Response.fromFile(file, { url: url ?? NO_URL });
}

function pathOfUrl(url: string): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    throw new UsageError(`${url} is not a file on this machine`, { cause });
  }
}
