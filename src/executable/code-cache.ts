/**
 * What V8 compiled of a script, kept in a file for later runs. (Node 22 and later do the same for modules; Node 20 does
 * not.) V8 refuses what another version of it, another processor or other flags compiled, but takes the rest as sound.
 */
import path from 'node:path';
import v8 from 'node:v8';
import type { Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { readCacheFile, writeCacheFile } from '../cache-file.js';
import { untuneV8 } from '../cli/tune-v8.js';

/** So many runs add what they compiled: V8 compiles a function when it is called first, and no run calls all. */
const RUNS = 3;

export class CodeCache {
  readonly #file: string | null;
  /** Kept in the first byte. */
  #runs = 0;

  /**
   * @param folder - null: nothing is kept
   * @param filename - of the script, told apart by its `source` and by what else V8 asks for; and by where it lies, since
   *   V8 11 goes on naming the place that the code was compiled for in stacks
   */
  constructor(folder: string | null, filename: string, source: Buffer) {
    const sum = crc32(filename, crc32(source));
    untuneV8();
    const parts = [sum, v8.cachedDataVersionTag()];
    const id = parts.map((part) => part.toString(16)).join('-');
    this.#file = folder && path.join(folder, `${path.parse(filename).name}-${id}`);
  }

  /** What earlier runs compiled, to be given to V8 at once; null without any. */
  read(): Buffer | null {
    const content = this.#file === null ? null : readCacheFile(this.#file);
    if (!content?.length) return null;
    this.#runs = content.readUInt8(0);
    untuneV8();
    return content.subarray(1);
  }

  /** Keep what is compiled of a script after `ms`, or when the process ends before. */
  keep(script: Script, ms: number): void {
    const file = this.#file;
    if (script.cachedDataRejected) this.#runs = 0;
    if (file === null || this.#runs >= RUNS) return;
    const write = () => {
      clearTimeout(timer);
      process.off('exit', write);
      untuneV8();
      writeCacheFile(file, Buffer.concat([Buffer.of(this.#runs + 1), script.createCachedData()]));
    };
    const timer = setTimeout(write, ms).unref();
    process.on('exit', write);
  }
}
