/**
 * The lock of a folder: held around every commit, and by whoever opens or closes the environment. LMDB, as lmdb-js
 * builds it, gives neither of the two what it needs:
 *
 * - Opening writes the number of the last commit, as read a moment before, where all processes look for it. A commit of
 *   another process in between is forgotten, and the next one takes its place (LMDB's ITS#9496). Measured: one commit
 *   lost in 7,000 openings beside a process that commits without a pause; on a busy machine far more often.
 * - Closing, the last process destroys the mutexes under a lock of its own. One that opens just then waits for that
 *   lock, takes the mutexes for good ones, and can neither read nor write; nor can any that joins it.
 *
 * The lock is the write mutex of a second environment, in which nothing is ever committed: so the first does no harm
 * to it, and against the second it is opened until its mutex works. A process that is killed with it in its hand leaves
 * it to the next. Measured: 1 µs each time. Rejected: files made with O_EXCL, which a killed process leaves behind, at
 * twenty times the price; Node has no lock of the kernel's.
 */
import { join } from 'node:path';
import * as lmdb from 'lmdb';
import { FrontierUnavailableError } from '../../errors.js';
import { makeFolder } from '../../make-folder.js';

/** What lmdb-js makes its databases of, and exports without a type. */
interface NativeEnvironment {
  open(options: NativeOptions, flags: number, jsFlags: number): void;
  beginTxn(flags: number): void;
  /** 0 when the transaction could not be begun, which `beginTxn` does not tell. */
  getWriteTxnId(): number;
  abortTxn(): void;
  close(): void;
}

/** The options of lmdb-js' own `open` that bear on the environment. */
export interface EnvironmentOptions {
  readonly mapSize: number;
  readonly maxReaders: number;
  readonly maxDbs: number;
  readonly maxFreeSpaceToRetain?: number;
}

interface NativeOptions extends EnvironmentOptions {
  readonly path: string;
  readonly keyBytes: Buffer;
}

const { Env } = (lmdb as unknown as { nativeAddon: { Env: new () => NativeEnvironment } }).nativeAddon;

const lockOptions = { mapSize: 65_536, maxReaders: 1, maxDbs: 1 };
/** Where lmdb-js puts the keys it is asked for; here it is never asked. */
const keyBytes = Buffer.alloc(64);

/** For how long mutexes may be found destroyed, and the longest pause between two looks. */
const BROKEN_MS = 5_000;
const MAX_PAUSE_MS = 20;

export interface FolderLock {
  /** Run `action` while no other process commits, opens or closes. Not to be nested. */
  hold<T>(action: () => T): T;
  close(): void;
}

export function openFolderLock(folder: string): FolderLock {
  const environment = openWorking(join(folder, 'lock'), lockOptions);
  return {
    hold(action) {
      environment.beginTxn(0);
      try {
        if (!isBegun(environment)) throw new FrontierUnavailableError(`the lock of ${folder} does not work`);
        return action();
      } finally {
        environment.abortTxn();
      }
    },
    close: () => environment.close(),
  };
}

/**
 * Run `action`, which opens the environment at `path` with lmdb-js, while it is open already and works: whoever has one
 * open in a process shares it.
 */
export function whileWorking<T>(path: string, options: EnvironmentOptions, action: () => T): T {
  const environment = openWorking(path, options);
  try {
    return action();
  } finally {
    environment.close();
  }
}

/** Open until the mutexes are not those that another process has just destroyed: the first to be alone makes new ones. */
function openWorking(path: string, options: EnvironmentOptions): NativeEnvironment {
  makeFolder(path);
  const deadline = performance.now() + BROKEN_MS;
  for (;;) {
    const environment = new Env();
    environment.open({ ...options, path, keyBytes }, 0, 0);
    environment.beginTxn(0);
    const works = isBegun(environment);
    environment.abortTxn();
    if (works) return environment;
    environment.close();
    if (performance.now() > deadline) throw new Error(`the locks in ${path} do not work`);
    pause(1 + MAX_PAUSE_MS * Math.random());
  }
}

function isBegun(environment: NativeEnvironment): boolean {
  return environment.getWriteTxnId() !== 0;
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
