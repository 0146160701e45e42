/**
 * The LMDB environment of a folder: opened once per thread, shared by every crawl in the folder and every process
 * of the machine. All tables lie in one database, so that a commit touches few pages.
 */
import { join, resolve } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { FrontierUnavailableError, messageOf } from '../../errors.js';
import { enterFolder, type Folder } from './folder.js';
import { openFolderLock, whileWorking } from './folder-lock.js';
import type { Store } from './tables.js';

/** Address space set aside; the file itself grows as it is used, and lmdb-js moves on to more when this is full. */
const MAP_BYTES = 64 * 1024 ** 3;

/** Processes times threads that may read at once. */
const MAX_READERS = 1024;

/**
 * LMDB's own way: each commit is flushed to disk before its one meta page names it, so a power cut loses nothing that
 * was answered, and the file is never in between. Measured on this engine: 0.4 ms a commit on a fast disk, which is why
 * the verbs of a loop turn share one. Rejected: `noSync` (7 µs a commit, but a power cut may leave pages and meta page
 * of different ages: no consistent state at all), and lmdb-js' default `overlappingSync`, which flushes after the write
 * lock was given up, under a second lock whose repair after a SIGKILL sets the transaction number without the first.
 * `maxFreeSpaceToRetain: 0`: the list of free pages is read anew by each transaction and never kept between two, when
 * another process may have changed it.
 */
const durability = { overlappingSync: false, maxFreeSpaceToRetain: 0 };

/** An environment in use by this thread. */
export interface OpenStore {
  readonly db: Store;
  /** The folder, absolute. */
  readonly path: string;
  /**
   * Run `action` in one write transaction: all of it or, when it throws, nothing. Each that writes has the number after
   * that of the last one that did, whichever process ran it.
   */
  transact(action: (number: number) => void): void;
  /** See what other processes have committed. */
  refresh(): void;
  /** How large the file may grow, who may read at once and who does; readers of dead processes are freed by asking. */
  limits(): {
    readonly mapBytes: number;
    readonly maxReaders: number;
    readonly numReaders: number;
    readonly staleReaders: number;
  };
  close(): Promise<void>;
}

interface Shared {
  readonly store: OpenStore;
  uses: number;
}

const shared = new Map<string, Shared>();

/** Open the environment under `dir`. @throws RefusedError, FrontierUnavailableError */
export function openStore(dir: string): OpenStore {
  const path = resolve(dir);
  let entry = shared.get(path);
  if (entry === undefined) {
    entry = { store: openEnvironment(enterFolder(path)), uses: 0 };
    shared.set(path, entry);
  }
  entry.uses += 1;
  const { store } = entry;
  let isOpen = true;
  return {
    ...store,
    async close() {
      if (!isOpen) return;
      isOpen = false;
      if (entry === undefined) return;
      entry.uses -= 1;
      if (entry.uses > 0) return;
      shared.delete(path);
      await store.close();
    },
  };
}

function openEnvironment(folder: Folder): OpenStore {
  try {
    const lock = openFolderLock(folder.path);
    try {
      const { root, db } = lock.hold(() => openDatabase(join(folder.path, 'frontier')));
      return {
        db,
        path: folder.path,
        limits: () => {
          const { maxReaders, numReaders } = root.getStats() as { maxReaders: number; numReaders: number };
          return { mapBytes: MAP_BYTES, maxReaders, numReaders, staleReaders: root.readerCheck() };
        },
        transact(action) {
          lock.hold(() => {
            // Braces: a promise returned from here would hold the transaction, and its lock, open.
            db.transactionSync(() => {
              action(db.getWriteTxnId());
            });
          });
        },
        refresh: () => db.resetReadTxn(),
        async close() {
          await lock.hold(() => root.close());
          lock.close();
          folder.release();
        },
      };
    } catch (error) {
      lock.close();
      throw error;
    }
  } catch (error) {
    folder.release();
    throw new FrontierUnavailableError(
      `the embedded frontier in ${folder.path} cannot be opened: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

function openDatabase(path: string): { readonly root: RootDatabase; readonly db: Store } {
  const options = { mapSize: MAP_BYTES, maxReaders: MAX_READERS, maxDbs: 4, ...durability };
  const binary = { encoding: 'binary', keyEncoding: 'binary' } as const;
  return whileWorking(path, options, () => {
    const root = open({ ...options, ...binary, path });
    const db = root.openDB<Buffer, Buffer>({ ...binary, name: 'crawls' });
    return { root, db };
  });
}
