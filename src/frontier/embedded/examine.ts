/** `doctor`'s look at the folder of the embedded engine, for one crawl; what would refuse the folder was asked before. */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { byteSize } from '../amounts.js';
import { dataFormats } from '../data-format.js';
import { findingsAbout } from '../findings.js';
import type { Finding } from '../frontier.js';
import { otherFormatOf } from './agreement.js';
import { mountType, otherUsers } from './folder.js';
import type { OpenStore } from './store.js';
import type { Transaction } from './transaction.js';

/** Below this LMDB soon cannot grow its file, and no node can commit. */
const LITTLE_SPACE = 512 * 1024 ** 2;

export function examineStore(tx: Transaction, store: OpenStore): Finding[] {
  const about = findingsAbout('store');
  const crawl = findingsAbout('crawl');
  const { path } = store;
  const { bavail, bsize } = statfsSync(path);
  const type = mountType(path);
  about.ok('local_folder', `${path} is on a local disk${type === '' ? '' : ` (${type})`}`);
  const free = bavail * bsize;
  const size = fileSize(join(path, 'frontier', 'data.mdb'));
  const { mapBytes, maxReaders, numReaders, staleReaders } = store.limits();
  const room = `${byteSize(free)} free on its disk, ${byteSize(size)} in use, at most ${byteSize(mapBytes)}`;
  if (free < LITTLE_SPACE || size > mapBytes * 0.9) {
    about.problem(
      'disk_space',
      room,
      'make room, or set JOBDIR to another disk: without room no node can commit',
    );
  } else about.ok('disk_space', room);
  const files = ['frontier', 'lock'].flatMap((name) => [
    join(path, name, 'data.mdb'),
    join(path, name, 'lock.mdb'),
  ]);
  const closed = [path, ...files].filter((file) => existsSync(file) && !isWritable(file));
  if (closed.length === 0) about.ok('permissions', 'this user may write it');
  else
    about.problem(
      'permissions',
      `${closed.join(', ')} cannot be written by this user`,
      'run as the user that owns it, or chown it',
    );
  const stale = staleReaders === 0 ? '' : `; ${staleReaders} left by dead processes were freed`;
  const readers = `${numReaders} of ${maxReaders} reader slots are taken${stale}`;
  if (numReaders > maxReaders * 0.9) about.problem('readers', readers, 'run fewer processes on this folder');
  else about.ok('readers', readers);
  const users = otherUsers(path);
  about.ok(
    'processes',
    users === 0 ? 'no other process has it open' : `${users} other processes of this machine have it open`,
  );
  const other = otherFormatOf(tx);
  if (other !== null) {
    crawl.problem(
      'format',
      `${tx.spaces.crawlName} is kept in data format ${other}, this crawlnode reads and writes format ${dataFormats.embedded}`,
      'go on with the version of crawlnode that wrote it, or "crawlnode reset SPIDER" and begin anew',
    );
  } else if (tx.format() === null) crawl.ok('format', 'nothing is stored yet');
  else crawl.ok('format', `data format ${dataFormats.embedded}`);
  return [...about.found, ...crawl.found];
}

function fileSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function isWritable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
