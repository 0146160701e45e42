/** The file of LOG_FILE. A full disk does not stop the crawl, and logging resumes when there is space again. */
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { CrawlnodeError } from '../../errors.js';

/** The interval between attempts to reopen a failed file. Each attempt may lose a line. */
const RETRY_MS = 5_000;

export interface LogFile {
  /** Append a line; it is lost while the file cannot be written. */
  write(line: string): void;
  /** Resolves when all lines are written, or writing has failed. */
  close(): Promise<void>;
}

/** @param say called once, when lines are lost. @throws CrawlnodeError when the file cannot be opened. */
export async function openLogFile(
  file: string,
  say: (text: string) => void,
  retryMs = RETRY_MS,
): Promise<LogFile> {
  /** Null after a failure, because a failed stream cannot be written again. */
  let stream: WriteStream | null;
  let failedAt: number | null = null;
  try {
    await mkdir(path.dirname(file), { recursive: true });
    stream = createWriteStream(file, { flags: 'a' });
    await once(stream, 'open');
  } catch (error) {
    const why = (error as Error).message;
    throw new CrawlnodeError('log_file', `LOG_FILE: cannot write ${file}: ${why}`, { cause: error });
  }
  const failed = ({ message }: Error) => {
    stream = null;
    if (failedAt === null) {
      say(`crawlnode: LOG_FILE: cannot write ${file}: ${message}; log lines are lost until it can be`);
    }
    failedAt = performance.now();
  };
  stream.on('error', failed);
  return {
    write(line) {
      if (stream !== null) stream.write(line);
      else if (performance.now() - (failedAt ?? 0) >= retryMs) {
        stream = createWriteStream(file, { flags: 'a' }).on('error', failed);
        // The failed line may have been written in part, so this one starts on a new line.
        stream.write(`\n${line}`);
      }
    },
    async close() {
      if (stream === null) return;
      const closed = once(stream, 'close').catch(() => {});
      stream.end();
      await closed;
    },
  };
}
