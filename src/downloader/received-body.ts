/** The body of one answer as it comes, held within the budget of the node until the page takes it. */
import type { Transform } from 'node:stream';
import { type BodyBudget, BodyShare, type Pausable } from './body-budget.js';
import type { InflateWatch } from './decode-content.js';

export class ReceivedBody implements InflateWatch {
  readonly #share: BodyShare;
  #chunks: Buffer[] = [];
  #wireBytes = 0;
  #inflating: Transform | null = null;

  /** @param onPause hears when the budget pauses this body, and when it goes on. */
  constructor(budget: BodyBudget, onPause: (isPaused: boolean) => void) {
    this.#share = new BodyShare(budget, onPause);
  }

  /** Received so far, before decoding. */
  get wireBytes(): number {
    return this.#wireBytes;
  }

  get isPaused(): boolean {
    return this.#share.isPaused;
  }

  /** Where the bytes come from. */
  readFrom(source: Pausable): void {
    this.#share.readFrom(source);
  }

  add(chunk: Buffer): void {
    this.#wireBytes += chunk.length;
    this.#chunks.push(chunk);
    this.#share.add(chunk.length);
  }

  /** All that came, in one piece. */
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

  /** Let others read before it when memory is short. */
  goLast(): void {
    this.#share.goLast();
  }

  /** Let go of everything; inflating under way is given up. */
  close(): void {
    this.#chunks = [];
    this.#inflating?.destroy();
    this.#share.close();
  }
}
