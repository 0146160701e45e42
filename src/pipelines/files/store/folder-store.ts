/**
 * The folder of downloaded files. A file appears under its name only when all of it is on disk: it is written under another
 * name, flushed, and renamed. So a node that dies leaves no part of a file, but perhaps an unfinished one in `.unfinished`.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { makeFolder } from '../../../disk/make-folder.js';
import { type FileStore, type StoredFile, unwritable } from './file-store.js';

const UNFINISHED = '.unfinished';
/** No file takes so long to write: its node has died. */
const ABANDONED_AFTER_MS = 60 * 60 * 1_000;

export class FolderStore implements FileStore {
  readonly awaits = null;
  readonly #folder: string;
  readonly #prefix: string;

  /**
   * @param folder absolute
   * @param host the first part of the path of each file; null where all hosts share the folder
   */
  constructor(folder: string, host: string | null) {
    this.#folder = folder;
    this.#prefix = host === null ? '' : `${host}/`;
  }

  get place(): string {
    return this.#folder;
  }

  /** Make the folder, and remove what nodes that died left unfinished. */
  async open(): Promise<void> {
    const folder = path.join(this.#folder, UNFINISHED);
    try {
      makeFolder(folder);
      const probe = path.join(folder, randomUUID());
      await (await open(probe, 'wx')).close();
      await rm(probe);
    } catch (error) {
      throw unwritable(this, error);
    }
    for (const name of await readdir(folder)) {
      const file = path.join(folder, name);
      const found = await stat(file).catch(() => null);
      if (found !== null && Date.now() - found.mtimeMs > ABANDONED_AFTER_MS) await rm(file, { force: true });
    }
  }

  async find(names: readonly string[], maxAgeMs: number): Promise<StoredFile | null> {
    for (const name of names) {
      const file = this.#fileOf(name);
      try {
        const found = await stat(file);
        if (!found.isFile() || Date.now() - found.mtimeMs > maxAgeMs) continue;
        const hash = createHash('md5');
        await pipeline(createReadStream(file), hash);
        return { path: this.#prefix + name, checksum: hash.digest('hex') };
      } catch {
        // It is not there, or cannot be read: then it is fetched.
      }
    }
    return null;
  }

  async write(name: string, body: Buffer): Promise<StoredFile> {
    const file = this.#fileOf(name);
    const unfinished = path.join(this.#folder, UNFINISHED, `${path.basename(name)}-${randomUUID()}`);
    try {
      makeFolder(path.dirname(unfinished));
      makeFolder(path.dirname(file));
      const handle = await open(unfinished, 'wx', 0o666);
      try {
        await handle.writeFile(body);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(unfinished, file);
      await syncFolder(path.dirname(file));
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => {});
      throw unwritable(this, error);
    }
    return { path: this.#prefix + name, checksum: createHash('md5').update(body).digest('hex') };
  }

  close(): void {}

  #fileOf(name: string): string {
    return path.join(this.#folder, this.#prefix, name);
  }
}

/** The new name is on disk too. Windows knows no such flush. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
