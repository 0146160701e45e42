/**
 * Leases from several partitions: in turn, so that none waits behind another. Each is asked for the slots that the ones
 * before left free. A partition that had too little is left alone for a moment while others have requests.
 */

import { noBudgets } from '../../budgets.js';
import {
  type Budgets,
  type Control,
  type CrawlState,
  type Lease,
  type LeaseAnswer,
  MAX_WAIT_MS,
} from '../../frontier.js';
import { int } from '../../redis/connection/reply.js';
import type { PartLeases, PartState } from '../../redis/partitions/part-state.js';
import type { RedisFrontier } from '../../redis/redis-frontier.js';
import { summed } from '../answers/summed.js';
import { type Accepted, AcceptedFromOthers } from './accepted-from-others.js';
import { withPartition } from './lease-token.js';
import { requestPages } from './page-grants.js';
import type { PartitionEpochs } from './partition-epochs.js';

/** A partition that had too few requests is asked again after so many ms for each partition: nodes ask 40 times a second. */
const ASK_AGAIN_MS = 25;

export class PartitionedLeases {
  readonly #parts: readonly RedisFrontier[];
  readonly #epochs: PartitionEpochs;
  readonly #accepted = new AcceptedFromOthers();
  readonly #last: (PartLeases | null)[];
  /** When each partition is asked next, on this process' clock. */
  readonly #askAt: number[];
  #turn = 0;
  #run = '';

  constructor(parts: readonly RedisFrontier[], epochs: PartitionEpochs) {
    this.#parts = parts;
    this.#epochs = epochs;
    this.#last = parts.map(() => null);
    this.#askAt = parts.map(() => 0);
  }

  /** A run begins, or this node joins it anew. */
  begin(run: string): void {
    this.#run = run;
    this.#last.fill(null);
    this.#askAt.fill(0);
  }

  /** A partition may have new requests. */
  wake(partition: number): void {
    this.#askAt[partition] = 0;
  }

  /** What a partition has accepted for pages of others. */
  hearAccepted(partition: number, accepted: Accepted): void {
    this.#accepted.hear(partition, accepted);
  }

  get budgets(): Budgets {
    return this.#last[0]?.part.budgets ?? noBudgets;
  }

  /** As last heard from each partition. */
  get states(): (PartState | null)[] {
    return this.#last.map((answer) => answer?.part ?? null);
  }

  /** @param cookies the version that the node knows; partition 0 has them. */
  async lease(max: number, holding: number, cookies?: number): Promise<LeaseAnswer> {
    const leases: Lease[] = [];
    let news: LeaseAnswer['cookies'];
    let jarsAt = 0;
    for (const partition of this.#order()) {
      const isDue = this.#askAt[partition]! <= performance.now();
      if (leases.length > 0 && (leases.length >= max || !isDue)) continue;
      const wanted = max - leases.length;
      const answer = await this.#ask(partition, wanted, holding + leases.length, cookies, leases.length > 0);
      if (answer === null) break;
      if (answer.leases.length > 0) {
        if (leases.length === 0) this.#turn = (partition + 1) % this.#parts.length;
        jarsAt = Math.max(jarsAt, answer.part.jarsAt);
      }
      leases.push(...answer.leases.map((lease) => withPartition(lease, partition)));
      news = answer.cookies ?? news;
    }
    if (cookies !== undefined && jarsAt > (news?.latest ?? cookies)) {
      news = (await this.#parts[0]!.cookies(cookies)) ?? undefined;
    }
    return {
      leases,
      waitMs: this.#waitMs(leases.length, max),
      crawl: this.crawl(),
      ...(news && { cookies: news }),
    };
  }

  get isClosingEverywhere(): boolean {
    return this.#last.every((answer) => answer?.crawl.closing != null);
  }

  /** Close the run in all partitions. @param limit of the budget that is used up; 0 for none. */
  async closeRun(reason: string, limit: number): Promise<void> {
    const change = { closing: reason, limit };
    await Promise.all(this.#parts.map(({ partition }) => partition.crawl.call('control', change)));
  }

  /** Ask all partitions for their state. */
  async look(holding: number): Promise<PartLeases[]> {
    return Promise.all(this.#parts.map((_, partition) => this.#lease(partition, 0, holding)));
  }

  /** The state of the crawl, as last heard from each partition; not whether it is finished. */
  crawl(): CrawlState {
    const states = this.#last.filter((answer) => answer !== null).map(({ crawl }) => crawl);
    return {
      ...summed(states),
      control: strictest(states.map(({ control }) => control)),
      finished: states.length === this.#parts.length && states.every(({ finished }) => finished),
      idleDue: false,
      closing: states.find(({ closing }) => closing !== null)?.closing ?? null,
      idleMs: Math.min(...states.map(({ idleMs }) => idleMs)),
      full: states.some(({ full }) => full),
    };
  }

  /** The partition in which this node waits for a suspect, alone; else all of them, each first in its turn. */
  #order(): number[] {
    const volunteersIn = this.#last.findIndex((answer) => answer?.part.isVolunteer === true);
    if (volunteersIn >= 0) return [volunteersIn];
    const count = this.#parts.length;
    return Array.from({ length: count }, (_, n) => (this.#turn + n) % count);
  }

  /** @param hasLeases whether to go on without this partition when it cannot be reached. @returns null then. */
  async #ask(
    partition: number,
    wanted: number,
    holding: number,
    cookies: number | undefined,
    hasLeases: boolean,
  ): Promise<PartLeases | null> {
    try {
      const answer = await this.#lease(partition, wanted, holding, cookies);
      const { part, crawl } = answer;
      const isStarved = part.pagesLeft === 0 && part.waiting > 0 && answer.leases.length < wanted;
      if (!isStarved || crawl.closing !== null || crawl.control !== 'running') return answer;
      if (!(await requestPages(this.#parts, this.#run, partition, wanted))) return answer;
      const more = await this.#lease(partition, wanted - answer.leases.length, holding, cookies);
      return { ...more, leases: [...answer.leases, ...more.leases] };
    } catch (error) {
      // The leases that came first must not be lost. The next call meets the same error.
      if (hasLeases) return null;
      throw error;
    }
  }

  async #lease(partition: number, wanted: number, holding: number, cookies?: number): Promise<PartLeases> {
    const part = this.#parts[partition]!;
    let answer = await part.leasePart(wanted, holding, partition === 0 ? cookies : undefined);
    const before = this.#accepted.hear(partition, answer.part);
    if (before !== null) {
      const { crawlId: crawl, fromOthers } = before;
      const lost = int(await part.partition.crawl.call('note_rollback', { crawl, fromOthers }));
      answer = { ...answer, crawl: { ...answer.crawl, lost } };
    }
    this.#last[partition] = answer;
    this.#epochs.hear(partition, answer.part.epoch);
    const restMs =
      answer.leases.length >= wanted ? 0 : Math.min(answer.waitMs, ASK_AGAIN_MS * this.#parts.length);
    this.#askAt[partition] = performance.now() + restMs;
    return answer;
  }

  /** With free slots beside its leases, the node asks again when the first partition is due. */
  #waitMs(got: number, wanted: number): number {
    if (got > 0 && got >= wanted) return 0;
    const now = performance.now();
    const waits = this.#last.map((answer, partition) =>
      got > 0 ? Math.max(1, Math.ceil(this.#askAt[partition]! - now)) : (answer?.waitMs ?? 0),
    );
    return Math.min(MAX_WAIT_MS, ...waits);
  }
}

function strictest(controls: readonly Control[]): Control {
  if (controls.includes('stopping')) return 'stopping';
  return controls.includes('paused') ? 'paused' : 'running';
}
