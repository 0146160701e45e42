/**
 * Whether a folder may hold an embedded frontier. SQLite's write-ahead log is indexed in shared memory, and processes are
 * told from each other by their pid: a network file system, another machine or another PID namespace would corrupt the store,
 * so they are refused. Every process that has the folder open keeps a small file in it that says where it runs.
 */
import { randomBytes } from 'node:crypto';
import {
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { makeFolder } from '../../../disk/make-folder.js';
import { FrontierUnavailableError, messageOf, RefusedError } from '../../../errors.js';
import { isRunning } from '../../feed-claim.js';
import { bootId, readOr } from './processes.js';

/** Types of statfs(2) that are network file systems: NFS, SMB, CIFS, SMB2, Ceph, AFS, 9P. */
const networkTypes = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x00c36400, 0x5346414f, 0x01021997]);
/** FUSE may be local or not: its mount tells. */
const FUSE = 0x65735546;
const remoteFuse = /^fuse\.(sshfs|glusterfs|s3fs|goofys|gcsfuse|rclone|davfs|cephfs)/;

/** How often a process says that it still has the folder open, and how old such a word may be. */
const TOUCH_MS = 5_000;
const STALE_MS = 20_000;

interface User {
  readonly bootId: string;
  readonly pidNamespace: string;
  readonly host: string;
  readonly pid: number;
  /** It has committed something to this file: `identityOf` the database. */
  readonly wroteTo?: string;
}

/** A folder in use by this process. */
export interface Folder {
  readonly path: string;
  /** This process has committed something to the database. */
  noteWritten(database: string): void;
  /** Called before the store is closed, as the last one to close it deletes its log. @param asKilled leave what a killed process leaves */
  release(asKilled?: boolean): void;
}

/** The folders that this process leaves as it ends, whatever its threads have not closed: it was not killed, so no log is missing. */
const foldersToLeave = new Set<string>();

function leaveAtExit(users: string): void {
  if (!isMainThread) return;
  if (foldersToLeave.size === 0) process.once('exit', removeOwnFiles);
  foldersToLeave.add(users);
}

function removeOwnFiles(): void {
  for (const users of foldersToLeave)
    for (const name of readOr([], () => readdirSync(users)))
      if (name.startsWith(`${process.pid}-`)) rmSync(join(users, name), { force: true });
}

/**
 * Make the folder if need be, and take part in it.
 * @throws RefusedError on a network file system, or while processes of another machine or container use it.
 */
export function enterFolder(path: string): Folder {
  const users = join(path, 'users');
  // Requests hold headers and cookies: the folder is this user's alone.
  orUnavailable(path, 'made or entered', () => makeFolder(users, 0o700));
  refuseNetwork(path);
  let self: User = { bootId: bootId(), pidNamespace: pidNamespace(), host: hostname(), pid: process.pid };
  const file = join(users, `${process.pid}-${randomBytes(4).toString('hex')}.json`);
  orUnavailable(path, 'written', () => announce(users, file, self));
  try {
    // Only now: of two strangers who come at the same time, one at least sees the other.
    refuseStrangers(path, users, self);
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
  leaveAtExit(users);
  const timer = setInterval(() => touch(file, self), TOUCH_MS).unref();
  return {
    path,
    noteWritten(database) {
      if (self.wroteTo !== undefined) return;
      self = { ...self, wroteTo: identityOf(database) };
      readOr(undefined, () => writeWhole(file, self));
    },
    release(asKilled = false) {
      clearInterval(timer);
      if (asKilled) {
        foldersToLeave.delete(users);
        return;
      }
      rmSync(file, { force: true });
      for (const { file: other, user } of filesOfUsers(users))
        if (isStale(other) || (user !== null && !isRunning(user.pid))) rmSync(other, { force: true });
    },
  };
}

/**
 * Whether somebody has deleted the log of the database: a process that has committed, and did not close it, leaves one. What it
 * held is lost, also of what the files of items have. A database that was put in the place of the other, as a backup is, needs no log.
 */
export function isLogGone(path: string, database: string, log: string): boolean {
  if (statSync(log, { throwIfNoEntry: false }) !== undefined) return false;
  const identity = identityOf(database);
  return filesOfUsers(join(path, 'users')).some(({ user }) => user?.wroteTo === identity);
}

/** Changes when another file takes its name. An inode alone is given again. */
function identityOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.dev}:${found.ino}:${found.birthtimeMs}`;
}

/** What is done in the folder. @throws FrontierUnavailableError where the system refuses it. */
export function orUnavailable<T>(path: string, what: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const why = messageOf(error);
    throw new FrontierUnavailableError(
      `the folder ${path} of the embedded frontier cannot be ${what}: ${why}; see to it, or set JOBDIR to another folder`,
      { cause: error },
    );
  }
}

function refuseNetwork(path: string): void {
  const { type } = statfsSync(path);
  const mount = type === FUSE ? mountType(path) : '';
  if (!networkTypes.has(type) && !remoteFuse.test(mount)) return;
  throw new RefusedError(
    `${path} is on a network file system${mount === '' ? '' : ` (${mount})`}, which the embedded frontier cannot share safely: set JOBDIR to a local folder, or use Redis`,
    { code: 'network_folder' },
  );
}

function refuseStrangers(path: string, users: string, self: User): void {
  for (const user of usersIn(users)) {
    const isOtherMachine = user.bootId !== self.bootId && user.host !== self.host;
    const isOtherBoot = user.bootId !== self.bootId && user.host === self.host;
    if (isOtherBoot || (!isOtherMachine && user.pidNamespace === self.pidNamespace)) continue;
    throw new RefusedError(
      `${path} is in use by process ${user.pid} of ${isOtherMachine ? `another machine, ${user.host}` : `another container, ${user.host}`}: the embedded frontier is for the processes of one machine and one PID namespace. Use Redis to share a crawl, or another JOBDIR; after a killed container wait ${STALE_MS / 1000} s`,
      { code: 'shared_folder' },
    );
  }
}

/** How many other processes have the folder open, as far as they say so; one that was killed does not. */
export function otherUsers(path: string): number {
  return usersIn(join(path, 'users')).filter(({ pid }) => pid !== process.pid && isRunning(pid)).length;
}

/** Who says to have the folder open. A file that nobody has touched for long is of a process that is gone. */
function usersIn(users: string): User[] {
  return filesOfUsers(users).flatMap(({ file, user }) => (user === null || isStale(file) ? [] : [user]));
}

/** `user` is null where a file is being written, or just gone. */
function filesOfUsers(users: string): { readonly file: string; readonly user: User | null }[] {
  // Without the folder, nobody has opened the store yet, or this user may not look into it.
  return readOr([], () => readdirSync(users)).map((name) => {
    const file = join(users, name);
    // Others come and go while we look.
    const user = readOr(null, () => JSON.parse(readFileSync(file, 'utf8')) as User);
    return { file, user: name.endsWith('.json') ? user : null };
  });
}

function isStale(file: string): boolean {
  const touchedAtMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return Date.now() - touchedAtMs > STALE_MS;
}

/**
 * On a disk that is full since this process came, its heartbeat thread has no room for a file of its own: that of the main
 * thread says the same. Without a heartbeat the node would be taken for dead, again and again.
 */
function announce(users: string, file: string, self: User): void {
  try {
    writeWhole(file, self);
  } catch (error) {
    if (!usersIn(users).some(({ pid }) => pid === process.pid)) throw error;
  }
}

/** Never seen half written. */
function writeWhole(file: string, user: User): void {
  try {
    writeFileSync(`${file}.new`, JSON.stringify(user), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch (error) {
    rmSync(`${file}.new`, { force: true });
    throw error;
  }
}

function touch(file: string, self: User): void {
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch {
    // Somebody tidied the folder: say it again, if the folder is still there.
    try {
      writeWhole(file, self);
    } catch {
      // The store itself will report what is wrong with the folder.
    }
  }
}

/** The kernel's name of this process's PID namespace; empty where there are none. */
function pidNamespace(): string {
  return readOr('', () => readlinkSync('/proc/self/ns/pid'));
}

/** The file system type of the mount that holds the path, such as `fuse.sshfs`. */
export function mountType(path: string): string {
  let best = { point: '', type: '' };
  for (const line of readOr('', () => readFileSync('/proc/self/mountinfo', 'utf8')).split('\n')) {
    const [left = '', right = ''] = line.split(' - ');
    const point = left.split(' ')[4] ?? '';
    const isAbove = point === '/' || path === point || path.startsWith(`${point}/`);
    if (isAbove && point.length >= best.point.length) best = { point, type: right.split(' ')[0] ?? '' };
  }
  return best.type;
}
