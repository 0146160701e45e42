/**
 * Which SQLite: Node's own, or the package `@photostructure/sqlite`, which has the same API. Node's own is used from Node
 * 24.15 on: there it prints no warning any more. It must also be SQLite 3.51.3 or later: before, two processes that write
 * and checkpoint at the same moment may corrupt the file (the "WAL-reset bug").
 */
import { createRequire } from 'node:module';

/** A value of a row. */
export type Value = string | number | bigint | null | Uint8Array;

/** The part of the API that is used here; see `node:sqlite` in Node's documentation. */
export interface Statement {
  run(...parameters: readonly Value[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...parameters: readonly Value[]): unknown;
  all(...parameters: readonly Value[]): unknown[];
  columns(): { readonly name: string }[];
  setReturnArrays(returnArrays: boolean): void;
  setReadBigInts(readBigInts: boolean): void;
}

export interface Connection {
  prepare(sql: string): Statement;
  exec(sql: string): void;
  close(): void;
}

type Driver = 'node' | 'package';

const require = createRequire(import.meta.url);
const modules: Readonly<Record<Driver, string>> = { node: 'node:sqlite', package: '@photostructure/sqlite' };

/** Node's minor version of major 24 from which on its own SQLite is used. */
const NODE_MINOR = 15;
const SQLITE_VERSION = [3, 51, 3];

let driver: Driver =
  isAtLeast(process.versions.sqlite, SQLITE_VERSION) && isAtLeast(process.versions.node, [24, NODE_MINOR])
    ? 'node'
    : 'package';

/** The driver in use. */
export function sqliteDriver(): Driver {
  return driver;
}

/**
 * Use another driver, for tests, before any file is opened. Two copies of SQLite in one process must never have the same
 * file open: closing it in one drops the locks of the other.
 */
export function useDriver(wanted: Driver): void {
  driver = wanted;
}

/** Open a file, or `:memory:`. @param busyMs how long a call waits for a lock of another process @throws the driver's error, see `sqlite-errors.ts`. */
export function connect(file: string, busyMs = BUSY_MS): Connection {
  const { DatabaseSync } = require(modules[driver]) as {
    DatabaseSync: new (file: string, options: { timeout: number }) => Connection;
  };
  return new DatabaseSync(file, { timeout: busyMs });
}

/** How long a call waits for a lock of another process. The main loop is blocked meanwhile, and handles no signals. */
export const BUSY_MS = 50;

function isAtLeast(version: string | undefined, least: readonly number[]): boolean {
  const parts = (version ?? '0').split('.').map(Number);
  for (const [n, part] of least.entries()) if (parts[n] !== part) return (parts[n] ?? 0) > part;
  return true;
}
