/**
 * Links of pages on their way into another partition. Those of several pages go in one call, since a small call costs mostly
 * overhead: of pages that end in one turn of the event loop, and of those that end before the last call is answered.
 */
import type { FrontierRequest } from '../../frontier.js';
import { inChunks, requestWeight, type Weight } from '../../in-chunks.js';
import { json } from '../../redis/connection/reply.js';
import type { Judged } from '../../redis/leases/settle-message.js';
import type { PartitionAccess } from '../../redis/partitions/partition-access.js';
import { columnsOf } from '../../redis/request-columns.js';
import type { Accepted } from './accepted-from-others.js';

/** Links of one call. It blocks its server for about 10 ms. */
const MAX_LINKS = 1_000;

/** The links that a page has in one partition. */
interface WaitingLinks {
  readonly requests: readonly FrontierRequest[];
  /** Version of the cookies that they depend on. */
  readonly jarsAt: number | undefined;
  readonly resolve: (answer: Judged) => void;
  readonly reject: (error: unknown) => void;
}

export class LinkBatches {
  readonly #partition: PartitionAccess;
  readonly #onAccepted: (accepted: Accepted) => void;
  readonly #waiting: WaitingLinks[] = [];
  #isSending = false;

  /** @param onAccepted hears what the partition has accepted so far. */
  constructor(partition: PartitionAccess, onAccepted: (accepted: Accepted) => void) {
    this.#partition = partition;
    this.#onAccepted = onAccepted;
  }

  /** Push the links of one page, at most as many as a settle may have. @param jarsAt version of the cookies that they depend on. */
  push(requests: readonly FrontierRequest[], jarsAt?: number): Promise<Judged> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ requests, jarsAt, resolve, reject });
      if (!this.#isSending) setImmediate(() => void this.#sendAll());
      this.#isSending = true;
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      for (const batch of inChunks(this.#waiting.splice(0), weightOf, MAX_LINKS)) await this.#send(batch);
    }
    this.#isSending = false;
  }

  /**
   * Settles that wait are not sent before: they are of other pages.
   * @param batch each of its pages hears of its own links, or of the error of the call.
   */
  async #send(batch: readonly WaitingLinks[]): Promise<void> {
    try {
      const { calls } = this.#partition;
      const { answers, ...accepted } = json<Accepted & { readonly answers: readonly Judged[] }>(
        await calls.run('push_links', {
          pages: batch.map(({ requests }) => columnsOf(requests, calls.dupefilter)),
          jarsAt: Math.max(...batch.map(({ jarsAt = 0 }) => jarsAt)) || undefined,
        }),
      );
      this.#onAccepted(accepted);
      for (const [n, { resolve }] of batch.entries()) resolve(answers[n]!);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

function weightOf({ requests }: WaitingLinks): Weight {
  const bytes = requests.reduce((sum, request) => sum + requestWeight(request).bytes, 0);
  return { count: requests.length, bytes };
}
