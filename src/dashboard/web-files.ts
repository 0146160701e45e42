/** The files of the page, which the build made (`scripts/build.mjs`). They hold no data of a crawl. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { packageFolder } from '../package-folder.js';

export interface WebFile {
  readonly type: string;
  readonly body: Buffer;
  /** Says whether a browser has it already. */
  readonly etag: string;
}

const files: Readonly<Record<string, readonly [name: string, type: string]>> = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/app.js': ['app.js', 'text/javascript; charset=utf-8'],
  '/app.css': ['app.css', 'text/css; charset=utf-8'],
  '/favicon.svg': ['favicon.svg', 'image/svg+xml'],
};

/** The files by their paths. @throws when the build has none */
export async function readWebFiles(): Promise<ReadonlyMap<string, WebFile>> {
  const folder = path.join(packageFolder, 'dist', 'dashboard');
  const read = Object.entries(files).map(async ([at, [name, type]]) => {
    const body = await readFile(path.join(folder, name));
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    return [at, { type, body, etag }] as const;
  });
  return new Map(await Promise.all(read));
}
