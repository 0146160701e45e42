/** The received part of a body. It counts against the node's budget until the download ends. */
import { type BodyBudget, BodyShare, type Pausable, type ShareEvents } from './body-budget.js';
import { BodyBytes } from './body-bytes.js';
import type { Inflater } from './codecs.js';
import type { InflateWatch } from './inflate.js';

export class ReceivedBody implements InflateWatch {
  readonly #share: BodyShare;
  readonly #bytes = new BodyBytes();
  #wireBytes = 0;
  #inflating: Inflater | null = null;

  constructor(budget: BodyBudget, events: ShareEvents) {
    this.#share = new BodyShare(budget, events);
  }

  /** Bytes received so far, before decoding. */
  get wireBytes(): number {
    return this.#wireBytes;
  }

  get isPaused(): boolean {
    return this.#share.isPaused;
  }

  /** Set the source of the bytes. @param atMostBytes what the body may take in all, decoded; infinite for no limit. */
  readFrom(source: Pausable, atMostBytes: number): void {
    this.#share.readFrom(source, atMostBytes);
  }

  add(chunk: Buffer): void {
    this.#wireBytes += chunk.length;
    this.#bytes.add(chunk);
    this.#share.add(chunk.length);
  }

  /** Remove and return all bytes as one Buffer. */
  take(): Buffer {
    return this.#bytes.take();
  }

  onStart(stream: Inflater): void {
    this.#inflating = stream;
    this.#share.readFrom(stream);
  }

  onBytes(bytes: number): void {
    this.#share.add(bytes);
  }

  /** Its server sends nothing: let other bodies be read first where they wait for memory. */
  goLast(): void {
    this.#share.goLast();
  }

  /** Release all bytes and abort the decompression. */
  close(): void {
    this.#bytes.release();
    this.#inflating?.destroy();
    this.#share.close();
  }
}
