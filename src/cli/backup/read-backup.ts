/** Reads a backup line by line, and reports the position of the first damage. */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { CrawlnodeError, messageOf, UsageError } from '../../errors.js';
import type { BackupEntry } from '../../frontier/backup/entry.js';
import type { Shape } from '../../frontier/frontier.js';
import { decompressGzip } from '../input/decompress.js';
import {
  BACKUP_FORMAT,
  type BackupEnd,
  type BackupHeader,
  type BackupLine,
  countEntry,
  type EntryCounts,
} from './backup-file.js';

/** Far above the longest line of a backup. A file with a longer line is not one. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
const READ_BYTES = 1024 * 1024;

/** The content of a backup that was read to its end and is complete. */
export interface VerifiedBackup {
  readonly header: BackupHeader;
  /** From the stored crawl where the backup has it; else from the settings at the time of the backup. */
  readonly shape: Shape;
  /** The engine whose bloom filter bits it holds; null when it holds none. */
  readonly bloomEngine: string | null;
  readonly counts: EntryCounts;
  /** Identifies the content. */
  readonly sha256: string;
}

/**
 * Read and check all of a backup. Nothing is restored.
 * @throws UsageError when the file is not a backup or has another format version; CrawlnodeError `backup_damaged`
 */
export async function verifyBackup(
  file: string,
  onProgress: (values: number) => void,
): Promise<VerifiedBackup> {
  const reader = new BackupReader(file);
  let { shape } = await reader.header();
  let bloomEngine: string | null = null;
  for await (const { entry } of reader.entries()) {
    if (entry.kind === 'crawl') shape = { ...shape, ...entry.shape };
    if (entry.kind === 'dupefilter') {
      shape = { ...shape, dupefilter: entry.choice };
      if (entry.index !== null) bloomEngine = entry.engine;
    }
    onProgress(reader.values);
  }
  const { sha256, counts } = reader.end;
  return { header: await reader.header(), shape, bloomEngine, counts, sha256 };
}

export class BackupReader {
  /** Values read so far. */
  values = 0;
  readonly #file: string;
  readonly #lines: AsyncIterator<Buffer>;
  readonly #hash: Hash = createHash('sha256');
  #line = 0;
  /** The last line covered by a verified checksum. */
  #checked = 0;
  #header: BackupHeader | undefined;
  #end: BackupEnd | undefined;

  constructor(file: string) {
    this.#file = file;
    this.#lines = readLines(file)[Symbol.asyncIterator]();
  }

  async header(): Promise<BackupHeader> {
    this.#header ??= await this.#readHeader();
    return this.#header;
  }

  /** Each entry with its number. The end of the file has been checked when the iteration ends. */
  async *entries(): AsyncIterable<{ readonly number: number; readonly entry: BackupEntry }> {
    await this.header();
    const counts: Record<string, number> = {};
    for (let number = 0; ; ) {
      const bytes = await this.#next();
      const line = this.#parse(bytes);
      if (line.kind === 'check' || line.kind === 'end') this.#check(line.sha256);
      this.#hash.update(bytes).update('\n');
      if (line.kind === 'check') continue;
      if (line.kind === 'end') {
        if (line.entries !== number) throw this.#damaged(`it holds ${number} entries of ${line.entries}`);
        this.#end = line;
        break;
      }
      number += 1;
      this.values += countEntry(counts, line);
      yield { number, entry: line };
    }
    if (!(await this.#lines.next()).done)
      throw this.#damaged(`something follows its end in line ${this.#line}`);
  }

  /** Available after the last entry. */
  get end(): BackupEnd {
    if (this.#end === undefined) throw new Error('the backup was not read to its end');
    return this.#end;
  }

  async #readHeader(): Promise<BackupHeader> {
    const noBackup = () => new UsageError(`${this.#file} is not a backup of a crawl`);
    const { value: bytes, done } = await this.#readLine();
    if (done) throw noBackup();
    let header: BackupHeader;
    try {
      header = JSON.parse(bytes.toString()) as BackupHeader;
    } catch {
      throw noBackup();
    }
    if (typeof header?.crawlnodeBackup !== 'number') throw noBackup();
    if (header.crawlnodeBackup !== BACKUP_FORMAT) {
      throw new UsageError(
        `${this.#file} is a backup of format ${header.crawlnodeBackup}, and this crawlnode reads format ${BACKUP_FORMAT}: use the version that wrote it`,
      );
    }
    this.#line = 1;
    this.#hash.update(bytes).update('\n');
    return header;
  }

  async #next(): Promise<Buffer> {
    const { value, done } = await this.#readLine();
    if (done) throw this.#cutOff();
    this.#line += 1;
    return value;
  }

  async #readLine(): Promise<IteratorResult<Buffer>> {
    try {
      return await this.#lines.next();
    } catch (error) {
      if (error instanceof UsageError) throw error;
      const isCut = (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR';
      throw isCut
        ? this.#cutOff()
        : this.#damaged(`it cannot be read beyond line ${this.#line}: ${messageOf(error)}`);
    }
  }

  #parse(bytes: Buffer): BackupLine {
    try {
      const line = JSON.parse(bytes.toString()) as BackupLine;
      if (typeof line?.kind === 'string') return line;
    } catch {
      // Reported below.
    }
    throw this.#damaged(`line ${this.#line} is not what was written`);
  }

  #check(sha256: string): void {
    if (this.#hash.copy().digest('hex') !== sha256) {
      throw this.#damaged(
        `something in the lines ${this.#checked + 1} to ${this.#line} is not what was written`,
      );
    }
    this.#checked = this.#line;
  }

  #cutOff(): CrawlnodeError {
    return this.#damaged(`it ends after line ${this.#line}, before its last`);
  }

  #damaged(what: string): CrawlnodeError {
    return new CrawlnodeError(
      'backup_damaged',
      `the backup ${this.#file} is damaged: ${what}; use another copy of it`,
    );
  }
}

/** The lines without their line feeds. An incomplete last line is dropped. @throws UsageError when the file cannot be opened. */
async function* readLines(file: string): AsyncIterable<Buffer> {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false)
    throw new UsageError(`the backup ${file} is no regular file: it is read twice, so save it first`);
  const source = createReadStream(file, { highWaterMark: READ_BYTES });
  const plain = await decompressGzip(file, source).catch((error) => {
    throw new UsageError(`the backup ${file} cannot be read: ${messageOf(error)}`, { cause: error });
  });
  let rest: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of plain as AsyncIterable<Buffer>) {
      let from = 0;
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
        yield Buffer.concat([...rest, chunk.subarray(from, at)]);
        rest = [];
        size = 0;
        from = at + 1;
      }
      if (from === chunk.length) continue;
      rest.push(chunk.subarray(from));
      size += chunk.length - from;
      if (size > MAX_LINE_BYTES) throw new Error('a line has no end');
    }
  } finally {
    source.destroy();
    plain.destroy();
  }
}
