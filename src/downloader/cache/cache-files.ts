/**
 * The files of the HTTP cache: one for each fingerprint, readable by this user alone, and shared by all nodes of a machine. A file
 * is a line of JSON with status and headers, and then the body; with HTTPCACHE_GZIP it is compressed as a whole.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Download } from '../exchange.js';

const FORMAT = 1;
const NEWLINE = 0x0a;

/** The parts of a download that are stored. */
export type StoredPage = Pick<Download, 'status' | 'headers' | 'body' | 'fromPrivateAddress'>;

interface Head {
  readonly format: number;
  readonly url: string;
  readonly storedAtMs: number;
  readonly status: number;
  readonly headers: Download['headers'];
  readonly fromPrivateAddress: boolean;
  readonly bodyBytes: number;
}

export class CacheFiles {
  readonly #dir: string;
  readonly #isCompressed: boolean;

  /** @param dir created on the first write. */
  constructor(dir: string, isCompressed: boolean) {
    this.#dir = dir;
    this.#isCompressed = isCompressed;
  }

  /**
   * A stored page; null when there is none, it is older than `maxAgeMs`, or its file is damaged.
   * @param maxAgeMs 0 for any age.
   */
  async read(fingerprint: string, nowMs: number, maxAgeMs: number): Promise<StoredPage | null> {
    try {
      const stored = await readFile(this.#fileOf(fingerprint));
      const bytes = this.#isCompressed ? await promisify(gunzip)(stored) : stored;
      const end = bytes.indexOf(NEWLINE);
      const head = JSON.parse(bytes.toString('utf8', 0, end)) as Head;
      const body = bytes.subarray(end + 1);
      if (head.format !== FORMAT || body.length !== head.bodyBytes) return null;
      if (maxAgeMs > 0 && nowMs - head.storedAtMs > maxAgeMs) return null;
      const { status, headers, fromPrivateAddress } = head;
      return { status, headers, body, fromPrivateAddress };
    } catch {
      return null;
    }
  }

  /** Store a page. Readers see the earlier file or the whole new one. @throws the error of the system call. */
  async write(fingerprint: string, url: string, page: StoredPage, nowMs: number): Promise<void> {
    const { status, headers, body, fromPrivateAddress } = page;
    const head: Head = {
      ...{ format: FORMAT, url, storedAtMs: nowMs, status, headers, fromPrivateAddress },
      bodyBytes: body.length,
    };
    const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]);
    const file = this.#fileOf(fingerprint);
    const fresh = `${file}.${randomBytes(6).toString('hex')}`;
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    try {
      await writeFile(fresh, this.#isCompressed ? await promisify(gzip)(bytes) : bytes, {
        mode: 0o600,
        flag: 'wx',
      });
      await rename(fresh, file);
    } catch (error) {
      await rm(fresh, { force: true });
      throw error;
    }
  }

  #fileOf(fingerprint: string): string {
    const name = `${fingerprint}${this.#isCompressed ? '.gz' : ''}`;
    return path.join(this.#dir, fingerprint.slice(0, 2), name);
  }
}
