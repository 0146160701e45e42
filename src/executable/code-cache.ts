/**
 * What V8 compiled of a script, kept in a file for later runs. (Node 22 and later do the same for modules; Node 20 does
 * not.)
 *
 * V8 refuses what another version of it, another processor or other flags compiled, but takes the rest as sound: so the
 * file has a checksum, and as it is run as code, one that belongs to another user is not read. Wherever it cannot be kept
 * or read, the script is compiled as usual.
 */
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import v8 from 'node:v8';
import type { Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { letYoungGrow } from '../cli/tune-v8.js';

/** So many runs add what they compiled: V8 compiles a function when it is called first, and no run calls all. */
const RUNS = 3;
/** A checksum of all that follows, and the number of runs. */
const HEADER_BYTES = 8;
/** Of other versions, or of commands nobody runs any more; who still needs it writes it again. */
const FORGET_AFTER_MS = 30 * 24 * 60 * 60 * 1_000;

export class CodeCache {
  readonly #file: string | null;
  #runs = 0;

  /** @param name - of the script, told apart by its `source` and by what else V8 asks for */
  constructor(name: string, source: Buffer) {
    const folder = cacheFolder();
    letYoungGrow();
    const id = [crc32(source), v8.cachedDataVersionTag()].map((part) => part.toString(16)).join('-');
    this.#file = folder && path.join(folder, `${name}-${id}`);
  }

  /** What earlier runs compiled; null without any. */
  read(): Buffer | null {
    const bytes = this.#file && readOwn(this.#file);
    if (!bytes || bytes.length < HEADER_BYTES || bytes.readUInt32LE(0) !== crc32(bytes.subarray(4)))
      return null;
    this.#runs = bytes.readUInt32LE(4);
    return bytes.subarray(HEADER_BYTES);
  }

  /** Keep what is compiled of a script after `ms`, or when the process ends before. */
  keep(script: Script, ms: number): void {
    const file = this.#file;
    if (script.cachedDataRejected) this.#runs = 0;
    if (file === null || this.#runs >= RUNS) return;
    const write = () => {
      clearTimeout(timer);
      process.off('exit', write);
      // A full or read-only disk is no reason to stop.
      try {
        this.#write(file, script);
      } catch {}
    };
    const timer = setTimeout(write, ms).unref();
    process.on('exit', write);
  }

  #write(file: string, script: Script): void {
    letYoungGrow();
    const header = Buffer.alloc(HEADER_BYTES);
    const bytes = Buffer.concat([header, script.createCachedData()]);
    bytes.writeUInt32LE(this.#runs + 1, 4);
    bytes.writeUInt32LE(crc32(bytes.subarray(4)), 0);
    const folder = path.dirname(file);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const fresh = `${file}.${process.pid}`;
    try {
      writeFileSync(fresh, bytes);
      renameSync(fresh, file);
    } catch (error) {
      rmSync(fresh, { force: true });
      throw error;
    }
    for (const each of readdirSync(folder)) {
      const old = path.join(folder, each);
      if (Date.now() - statSync(old).mtimeMs > FORGET_AFTER_MS) rmSync(old, { force: true });
    }
  }
}

/** As Node's own cache where one is chosen; else the user's folder for caches, or none. */
function cacheFolder(): string | null {
  const { NODE_DISABLE_COMPILE_CACHE, NODE_COMPILE_CACHE, XDG_CACHE_HOME } = process.env;
  if (NODE_DISABLE_COMPILE_CACHE) return null;
  if (NODE_COMPILE_CACHE) return path.resolve(NODE_COMPILE_CACHE, 'crawlnode');
  try {
    return path.join(XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'crawlnode');
  } catch {
    return null; // A user without a home folder.
  }
}

/** The whole of a file that is ours or root's; null otherwise. */
function readOwn(file: string): Buffer | null {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const owner = fstatSync(descriptor).uid;
      return owner === 0 || owner === process.getuid?.() ? readFileSync(descriptor) : null;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return null;
  }
}
