/**
 * Links of pages on their way into another partition. Those of several pages go in one call, since a small call costs mostly
 * overhead: of pages that end in one turn of the event loop, and of those that end before the last call is answered.
 */
import type { FrontierRequest } from '../../frontier.js';
import { inChunks, requestWeight, type Weight } from '../../in-chunks.js';
import type { PageLinks, PartPush, RedisPartition } from '../../redis/partitions/redis-partition.js';
import type { Accepted } from './accepted-from-others.js';

/** Links of one call. It blocks its server for about 10 ms. */
const MAX_LINKS = 1_000;

interface WaitingLinks extends PageLinks {
  readonly resolve: (answer: PartPush) => void;
  readonly reject: (error: unknown) => void;
}

export class LinkBatches {
  readonly #partition: RedisPartition;
  readonly #onAccepted: (accepted: Accepted) => void;
  #waiting: WaitingLinks[] = [];
  #isSending = false;

  /** @param onAccepted hears what the partition has accepted so far. */
  constructor(partition: RedisPartition, onAccepted: (accepted: Accepted) => void) {
    this.#partition = partition;
    this.#onAccepted = onAccepted;
  }

  /** Push the links of one page, at most as many as a settle may have. @param jarsAt version of the cookies that they depend on. */
  push(requests: readonly FrontierRequest[], jarsAt?: number): Promise<PartPush> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0 && !this.#isSending) setImmediate(() => void this.#sendAll());
      this.#waiting.push({ requests, jarsAt, resolve, reject });
    });
  }

  async #sendAll(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    while (this.#waiting.length > 0) await this.#send(this.#takeBatch());
    this.#isSending = false;
  }

  /** @param batch each of its pages hears of its own links, or of the error of the call. */
  async #send(batch: readonly WaitingLinks[]): Promise<void> {
    try {
      const { answers, ...accepted } = await this.#partition.pushLinks(batch);
      this.#onAccepted(accepted);
      for (const [n, { resolve }] of batch.entries()) resolve(answers[n]!);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  #takeBatch(): WaitingLinks[] {
    const [batch = []] = inChunks(this.#waiting, weightOf, MAX_LINKS);
    this.#waiting = this.#waiting.slice(batch.length);
    return batch;
  }
}

function weightOf({ requests }: PageLinks): Weight {
  const bytes = requests.reduce((sum, request) => sum + requestWeight(request).bytes, 0);
  return { count: requests.length, bytes };
}
