/**
 * The database of a folder: one connection for each thread, shared by its clients. The file is made with the first write;
 * until then whoever reads finds an empty database in memory, so that a command that only reads leaves nothing behind.
 */
import { closeSync, existsSync, linkSync, openSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BUSY_MS, type Connection, connect } from '../../../disk/sqlite.js';
import { FrontierGoneError, RefusedError } from '../../../errors.js';
import { dataFormats, otherFormat } from '../../data-format.js';
import { schemaSql } from '../schema.inlined.js';
import { enterFolder, type Folder, isLogGone, orUnavailable } from './folder.js';
import { asExpected, damagedStore } from './sqlite-errors.js';
import { Statements } from './statements.js';
import { checkpoint, fileIn, syncEachSecond, walIn } from './wal.js';

/** 'crnd' in ASCII: tells our files from other programs' databases. */
const APPLICATION_ID = 0x63726e64;

/** While another process recovers the log, or empties it as the last one, nobody can open the file. */
const OPENING_BUSY_MS = 5_000;

/**
 * `busy_timeout` comes first, with the connection itself (`sqlite.ts`): already the first look may have to wait. `mmap_size`: reading a mapped file that was truncated ends the process by SIGBUS.
 * `cell_size_check` finds a damaged page before it is used. `trusted_schema`: a foreign schema may not call functions.
 * Checkpoints: after 4,000 pages by whoever commits; `wal.ts` has the rest.
 */
const pragmas = `
  PRAGMA mmap_size = 0;
  PRAGMA cell_size_check = ON;
  PRAGMA trusted_schema = OFF;
  PRAGMA synchronous = NORMAL;
  PRAGMA cache_size = -65536;
  PRAGMA temp_store = MEMORY;
  PRAGMA wal_autocheckpoint = 4000;
`;

/** Ends of the names of the files that all processes must share: two logs, or two indexes of one log, would destroy the database. */
const FILES = ['', '-wal', '-shm'];

const shared = new Map<string, Database>();

/** @throws RefusedError where the folder or what lies in it must not be used; FrontierUnavailableError where it cannot be. */
export function openDatabase(dir: string): Database {
  const path = resolve(dir);
  const found = shared.get(path);
  if (found !== undefined) {
    found.uses += 1;
    return found;
  }
  const database = new Database(path);
  database.open();
  shared.set(path, database);
  return database;
}

export class Database {
  readonly path: string;
  readonly file: string;
  uses = 1;
  /** Batches committed through this connection. */
  writes = 0;
  /** Held for as long as it is used: the driver closes a connection that is garbage-collected, statements or not. */
  #open: Statements | null = null;
  /** What identifies the open files. */
  #identity: readonly string[] = [];
  #hasVanished = false;
  #folder: Folder | null = null;
  #endSync: (() => Promise<void>) | null = null;
  #empty: Statements | null = null;

  constructor(path: string) {
    this.path = path;
    this.file = fileIn(path);
  }

  /** Open the file if there is one. @returns its statements; null where there is none. */
  open(): Statements | null {
    if (this.#open !== null) this.#refuseVanished();
    else if (this.#hasFile()) this.#openFile();
    else refuseOlderStore(this.path);
    return this.#open;
  }

  /** A folder that this user may not look into is not one without a store. */
  #hasFile(): boolean {
    return orUnavailable(
      this.path,
      'read',
      () => statSync(this.file, { throwIfNoEntry: false }) !== undefined,
    );
  }

  /** Whether the file is in use. Cheaper than `open`, which looks whether somebody has deleted it. */
  get isOpen(): boolean {
    return this.#open !== null;
  }

  /** What to read from: the file, or where there is none an empty database. */
  get readable(): Statements {
    const open = this.open();
    if (open !== null) return open;
    this.#empty ??= prepareEmpty();
    return this.#empty;
  }

  /** Changes with each commit of another connection. */
  get version(): number {
    const row = (this.#open ?? this.readable).of('PRAGMA data_version').get() as { data_version: number };
    return row.data_version;
  }

  /** What to write to; made if need be. */
  get writable(): Statements {
    if (this.open() === null) {
      this.#folder ??= enterFolder(this.path);
      try {
        makeFile(this.file);
      } catch (error) {
        throw asExpected(error, this.file);
      }
      this.#openFile();
    }
    return this.#open!;
  }

  /**
   * The last client of the thread empties the log and closes the connection. SQLite would empty it by itself if no prepared
   * statement were left; the package finalizes those only when they are garbage-collected.
   */
  async close(): Promise<void> {
    this.uses -= 1;
    if (this.uses > 0) return;
    shared.delete(this.path);
    this.#empty?.connection.close();
    // A command has no thread that syncs: what it wrote is on the disk before it ends.
    await this.#endSync?.();
    // Whoever comes next is to learn that the log is gone.
    this.#folder?.release(this.#hasVanished);
    if (this.#open !== null) {
      // Other processes have another log by now.
      if (!this.#hasVanished) emptyLog(this.#open.connection);
      this.#open.connection.close();
    }
    this.#open = null;
  }

  /** A batch was committed through this connection. */
  noteCommit(): void {
    this.writes += 1;
    this.#folder?.noteWritten(this.file);
  }

  /** A file that was deleted or replaced stays open, and what is committed to it reaches nobody. */
  #refuseVanished(): void {
    const found = this.#identities();
    const at = FILES.findIndex((_, n) => this.#identity[n] !== '' && found[n] !== this.#identity[n]);
    if (at < 0) return;
    this.#hasVanished = true;
    throw new FrontierGoneError(
      `${this.file}${FILES[at]} was deleted or replaced while it was in use: what it held is lost unless somebody has kept it; start the nodes again`,
    );
  }

  #identities(): string[] {
    return FILES.map((end) => {
      const found = statSync(this.file + end, { throwIfNoEntry: false });
      return found === undefined ? '' : `${found.dev}:${found.ino}`;
    });
  }

  #openFile(): void {
    if (isLogGone(this.path, this.file, walIn(this.path)))
      throw damagedStore(
        this.file,
        `its log ${this.file}-wal was deleted, and with it what was committed last; or an older copy was written over it`,
      );
    this.#folder ??= enterFolder(this.path);
    let connection: Connection | undefined;
    try {
      connection = openExisting(this.file);
    } catch (error) {
      this.#folder.release();
      this.#folder = null;
      throw asExpected(error, this.file);
    }
    this.#open = new Statements(connection);
    this.#identity = this.#identities();
    this.#endSync = syncEachSecond(walIn(this.path));
  }
}

/** What stays in the log is not lost: the next one to open the file finds it there. */
function emptyLog(connection: Connection): void {
  try {
    checkpoint(connection);
  } catch {
    // A full disk, a file that cannot be written, or a lock that others hold.
  }
}

/** Open a file that must be a database of ours. */
function openExisting(file: string): Connection {
  if (statSync(file).size === 0) throw damagedStore(file, 'it is empty');
  const connection = connect(file, OPENING_BUSY_MS);
  try {
    const read = (pragma: string) =>
      Number(Object.values(connection.prepare(`PRAGMA ${pragma}`).get() as object)[0]);
    const isOurs =
      connection.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'request_pending'`).get() !== undefined;
    if (read('application_id') !== APPLICATION_ID) {
      if (isOurs) throw damagedStore(file, 'its header is');
      throw new RefusedError(
        `${file} is a database of another program: set JOBDIR to another folder, or move it away`,
        {
          code: 'foreign_file',
        },
      );
    }
    const format = read('user_version');
    if (format !== dataFormats.embedded) throw otherFormat('embedded', file, format);
    connection.exec(pragmas);
    connection.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * Make a file, empty but for its tables. It gets its name when it is whole, so that of two processes that make it one
 * wins, and a file that is empty is a damaged one.
 */
function makeFile(file: string): void {
  const fresh = `${file}.${process.pid}.new`;
  try {
    removeFile(fresh);
    createFile(fresh);
    linkSync(fresh, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    removeFile(fresh);
  }
}

/** Remove a database that nobody has open, and its logs. */
export function removeFile(file: string): void {
  for (const end of ['', '-journal', '-wal', '-shm']) rmSync(file + end, { force: true });
}

/** Make a database with our tables, in its final journal mode, and close it. */
export function createFile(file: string): void {
  // SQLite would give it the modes that the umask leaves; its log takes those of the file.
  closeSync(openSync(file, 'wx', 0o600));
  const connection = connect(file);
  try {
    // Before the first table: later it would take a rebuild of the whole file.
    connection.exec('PRAGMA auto_vacuum = INCREMENTAL');
    connection.exec(`BEGIN; ${schema()} COMMIT`);
    // After the tables: they would else be in the log, and a full disk keeps the close from moving them into the file.
    connection.exec('PRAGMA journal_mode = WAL');
  } finally {
    connection.close();
  }
}

function prepareEmpty(): Statements {
  const connection = connect(':memory:');
  connection.exec(schema());
  return new Statements(connection);
}

function schema(): string {
  return `${schemaSql} PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${dataFormats.embedded};`;
}

/** A folder that an older crawlnode has used, whose store was LMDB. */
function refuseOlderStore(path: string): void {
  if (existsSync(join(path, 'frontier', 'data.mdb'))) throw otherFormat('embedded', path, 4);
}
