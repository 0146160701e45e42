/** The file of LOG_FILE. A full disk does not stop the crawl, and logging resumes when there is space again. */
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { CrawlnodeError } from '../../errors.js';

/** The interval between attempts to reopen a failed file. Each attempt may lose a line. */
const RETRY_MS = 5_000;

/** @param say called once, when lines are lost. @throws CrawlnodeError when the file cannot be opened. */
export async function openLogFile(
  file: string,
  say: (text: string) => void,
  retryMs = RETRY_MS,
): Promise<LogFile> {
  const stream = append(file);
  try {
    await once(stream, 'open');
  } catch (error) {
    const why = (error as Error).message;
    throw new CrawlnodeError('log_file', `LOG_FILE: cannot write ${file}: ${why}`, { cause: error });
  }
  return new LogFile(file, stream, say, retryMs);
}

export class LogFile {
  readonly #file: string;
  readonly #say: (text: string) => void;
  readonly #retryMs: number;
  /** Null after a failure, because a failed stream cannot be written again. */
  #stream: WriteStream | null = null;
  #failedAt = 0;
  #hasWarned = false;

  constructor(file: string, stream: WriteStream, say: (text: string) => void, retryMs: number) {
    this.#retryMs = retryMs;
    this.#file = file;
    this.#say = say;
    this.#use(stream);
  }

  /** Append a line; it is lost while the file cannot be written. */
  write(line: string): void {
    if (this.#stream !== null) {
      this.#stream.write(line);
    } else if (performance.now() - this.#failedAt >= this.#retryMs) {
      // The failed line may have been written in part, so this one starts on a new line.
      this.#use(append(this.#file)).write(`\n${line}`);
    }
  }

  /** Resolves when all lines are written, or writing has failed. */
  async close(): Promise<void> {
    const stream = this.#stream;
    if (stream === null) return;
    await new Promise<void>((resolve) => {
      stream.once('close', () => resolve());
      stream.end();
    });
  }

  #use(stream: WriteStream): WriteStream {
    stream.on('error', (error) => this.#failed(error));
    this.#stream = stream;
    return stream;
  }

  #failed(error: Error): void {
    this.#stream = null;
    this.#failedAt = performance.now();
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#say(
      `crawlnode: LOG_FILE: cannot write ${this.#file}: ${error.message}; log lines are lost until it can be`,
    );
  }
}

const append = (file: string) => createWriteStream(file, { flags: 'a' });
