/**
 * A feed on standard output. Printed items cannot be taken back, so an item may appear more than once: a process that dies
 * between printing items and recording this leaves them in the store, and the next one prints them again.
 */
import type { Writable } from 'node:stream';
import { CrawlnodeError, messageOf } from '../../errors.js';
import type { FeedCheckpoint } from '../../feed-outbox.js';
import type { ContentOptions } from './feed-content.js';
import { itemLine } from './feed-lines.js';
import { type FeedFormat, type FeedFormatName, type FeedLayout, formatFor } from './formats/feed-format.js';

export interface StdoutOptions extends FeedLayout {
  readonly format: FeedFormatName;
  readonly stdout: Writable;
  readonly onRendered?: ContentOptions['onRendered'];
  readonly accepts: ((item: unknown) => boolean) | null;
}

export class StdoutContent {
  readonly #options: StdoutOptions;
  readonly #format: FeedFormat;
  /** Printed by this process. */
  #items = 0;
  #header = '';
  #isBegun = false;
  #mended = 0;

  constructor(options: StdoutOptions) {
    this.#options = options;
    this.#format = formatFor(options.format, options);
  }

  get mended(): number {
    return this.#mended;
  }

  async isEmpty(): Promise<boolean> {
    return false;
  }

  async begin(): Promise<FeedCheckpoint> {
    return { sequence: 0, lengthBytes: 0, header: '' };
  }

  /** Each process begins its output anew. */
  async goTo({ sequence }: FeedCheckpoint): Promise<FeedCheckpoint> {
    return { sequence, lengthBytes: 0, header: '' };
  }

  async goOnAfterLoss(before: FeedCheckpoint): Promise<FeedCheckpoint> {
    return this.goTo(before);
  }

  async append(texts: readonly string[], { sequence }: FeedCheckpoint): Promise<FeedCheckpoint> {
    const lines = texts.map((text) => {
      const { line, problem } = itemLine(text);
      if (problem !== null) this.#mended += 1;
      return line;
    });
    const { accepts } = this.#options;
    const accepted = accepts === null ? lines : lines.filter((line) => accepts(JSON.parse(line)));
    if (accepted.length > 0) {
      const state = { sequence: this.#items, header: this.#header };
      const { text, header, ...gaps } = this.#format.render(accepted, state);
      await this.#print(text);
      this.#options.onRendered?.(gaps);
      this.#items += accepted.length;
      this.#header = header;
    }
    return { sequence: sequence + texts.length, lengthBytes: 0, header: '' };
  }

  async verify(): Promise<void> {}

  async tidy(): Promise<void> {}

  async removeEmpty(): Promise<void> {}

  /** Close the list, if the format has one. */
  async close(): Promise<void> {
    if (this.#format.opening + this.#format.closing === '') return;
    await this.#print(this.#format.closing).catch(() => {});
  }

  async #print(text: string): Promise<void> {
    const { stdout } = this.#options;
    const whole = this.#isBegun ? text : this.#format.opening + text;
    this.#isBegun = true;
    await new Promise<void>((resolve, reject) => {
      stdout.write(this.#format.encode(whole), (error) => (error ? reject(unwritable(error)) : resolve()));
    });
  }
}

function unwritable(cause: unknown): CrawlnodeError {
  return new CrawlnodeError('feed_unwritable', `standard output cannot be written: ${messageOf(cause)}`, {
    cause,
  });
}
