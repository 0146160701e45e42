/**
 * The folder of downloaded files. A file is written under another name, flushed and renamed, so it appears under its name
 * only when it is complete on disk. A node that dies may leave an unfinished file in `.unfinished`.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { makeFolder } from '../../../disk/make-folder.js';
import { type FileStore, type StoredFile, unwritable } from './file-store.js';

const UNFINISHED = '.unfinished';
/** A file that is older than this and still unfinished belongs to a dead node. */
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
        // The file does not exist or cannot be read, so it is fetched.
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

/** Flushes the new name to disk too. Windows has no such call. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
