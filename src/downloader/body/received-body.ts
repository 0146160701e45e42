/** The received part of a body. It counts against the node's budget until the download ends. */
import type { Transform } from 'node:stream';
import { type BodyBudget, BodyShare, type Pausable } from './body-budget.js';
import type { InflateWatch } from './decode-content.js';

export class ReceivedBody implements InflateWatch {
  readonly #share: BodyShare;
  #chunks: Buffer[] = [];
  #wireBytes = 0;
  #inflating: Transform | null = null;

  /** @param onPause is called when the budget pauses this body and when it resumes it. */
  constructor(budget: BodyBudget, onPause: (isPaused: boolean) => void) {
    this.#share = new BodyShare(budget, onPause);
  }

  /** Bytes received so far, before decoding. */
  get wireBytes(): number {
    return this.#wireBytes;
  }

  get isPaused(): boolean {
    return this.#share.isPaused;
  }

  /** Set the source of the bytes. */
  readFrom(source: Pausable): void {
    this.#share.readFrom(source);
  }

  add(chunk: Buffer): void {
    this.#wireBytes += chunk.length;
    this.#chunks.push(chunk);
    this.#share.add(chunk.length);
  }

  /** Remove and return all bytes as one Buffer. */
  take(): Buffer {
    const chunks = this.#chunks;
    this.#chunks = [];
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, this.#wireBytes);
  }

  onStart(stream: Transform): void {
    this.#inflating = stream;
    this.#share.readFrom(stream);
  }

  onBytes(bytes: number): void {
    this.#share.add(bytes);
  }

  /** Let other bodies be read first when the budget is exceeded. */
  goLast(): void {
    this.#share.goLast();
  }

  /** Release all bytes and abort the decompression. */
  close(): void {
    this.#chunks = [];
    this.#inflating?.destroy();
    this.#share.close();
  }
}
