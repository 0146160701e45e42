/**
 * Requests on their way into their partitions. A page's requests for other partitions are pushed before its settle: if the
 * node dies in between, they are there, the page is fetched again, and its requests are duplicates then.
 */
import {
  type CookieChange,
  type Effects,
  type FrontierRequest,
  type Lease,
  noEffects,
  type Outcome,
  PUSH_CHUNK,
  type PushAnswer,
  type PushKind,
  type SettleAnswer,
  type StartPart,
  type StatChange,
} from '../../frontier.js';
import { inChunks, requestWeight } from '../../in-chunks.js';
import type { PartPush, StartShare } from '../../redis/partitions/redis-partition.js';
import type { RedisFrontier } from '../../redis/redis-frontier.js';
import { refuseLost } from '../checks/lost-partitions.js';
import { byPartition, partitionOf } from '../partition-of.js';
import { splitChanges } from './custom-stats.js';
import { ofPartition } from './lease-token.js';
import { LinkBatches } from './link-batches.js';
import type { PartitionEpochs } from './partition-epochs.js';
import type { PartitionedLeases } from './partitioned-leases.js';

/** No partition has this epoch. */
const NO_EPOCH = '-';

/** Answers to pushes, with their partitions. */
type Pushed = readonly { readonly partition: number; readonly answer: PartPush }[];

export class PartitionedPushes {
  readonly #parts: readonly RedisFrontier[];
  readonly #leases: PartitionedLeases;
  readonly #links: readonly LinkBatches[];
  /** What settles send to other partitions before they are issued in their own. */
  readonly #ahead = new Set<Promise<unknown>>();
  #isFounded = false;

  constructor(parts: readonly RedisFrontier[], leases: PartitionedLeases) {
    this.#parts = parts;
    this.#leases = leases;
    this.#links = parts.map(
      ({ partition }, index) =>
        new LinkBatches(partition, (accepted) => leases.hearAccepted(index, accepted)),
    );
  }

  /** Whether a settle still waits for what it sends to other partitions. */
  get areSettlesWaiting(): boolean {
    return this.#ahead.size > 0;
  }

  /** Resolves when the settles that wait have been issued. A lease in the same turn takes them along. */
  async settlesIssued(): Promise<void> {
    await Promise.allSettled(this.#ahead);
  }

  async push(requests: readonly FrontierRequest[], kind: PushKind, part?: StartPart): Promise<PushAnswer> {
    if (!this.#isFounded) {
      await refuseLost(this.#parts);
      await Promise.all(this.#parts.map((each) => each.partition.found()));
      this.#isFounded = true;
    }
    if (kind === 'start' || kind === 'start-filtered') return this.#pushStart(requests, kind, part);
    const shares = byPartition(requests, domainOf, this.#parts.length);
    return summed(
      await this.#pushEach(shares, (partition, share) => this.#parts[partition]!.partition.push(share, kind)),
    );
  }

  async settle(
    lease: Lease,
    outcome: Outcome,
    effects: Effects,
    epochs: PartitionEpochs,
  ): Promise<SettleAnswer> {
    const { partition, lease: own } = ofPartition(lease);
    const part = this.#parts[partition];
    if (part === undefined) return { committed: false };
    const { withheld } = effects;
    // Under another epoch the partition is asked only whether the lease is lost: it commits nothing.
    const isOutdated = withheld !== undefined && withheld.epoch !== epochs.all;
    const epoch = isOutdated ? NO_EPOCH : epochs.of(partition);
    const known: Effects =
      withheld === undefined ? effects : { ...effects, withheld: { ...withheld, epoch } };
    const isOwn = ({ domain }: FrontierRequest) => partitionOf(domain, this.#parts.length) === partition;
    const staysHere = effects.requests.every(isOwn);
    const { cookies = [], custom = [] } = outcome.kind === 'released' ? noEffects : effects;
    // In the same turn, so that a lease of this turn takes the settle along.
    const isPlain =
      isOutdated || (staysHere && custom.length === 0 && (cookies.length === 0 || partition === 0));
    const [answer, pushed]: [SettleAnswer, Pushed] = isPlain
      ? [await part.settle(own, outcome, known), []]
      : await this.#settleAfterOthers(partition, own, outcome, known, isOwn);
    this.#leases.wake(partition);
    if (!answer.committed) return answer;
    epochs.hear(partition, answer.epoch);
    const isSeen = pushed.every(
      ({ partition: at, answer: { epoch, allSeen } }) => allSeen && epoch === epochs.of(at),
    );
    const total = summed([{ answer }, ...pushed]);
    return { committed: true, ...total, epoch: epochs.all, allSeen: answer.allSeen && isSeen };
  }

  async #settleAfterOthers(
    partition: number,
    lease: Lease,
    outcome: Outcome,
    effects: Effects,
    isOwn: (request: FrontierRequest) => boolean,
  ): Promise<[SettleAnswer, Pushed]> {
    const { cookies = [], custom = [], ...rest } = effects;
    const { set, counted } = splitChanges(custom);
    const ahead = this.#sendAhead(
      { set, cookies },
      effects.requests.filter((request) => !isOwn(request)),
    );
    this.#ahead.add(ahead);
    const [pushed, jarsAt] = await ahead.finally(() => this.#ahead.delete(ahead));
    const own = {
      ...rest,
      requests: effects.requests.filter(isOwn),
      ...(counted.length > 0 && { custom: counted }),
    };
    const answer = await this.#parts[partition]!.settle(lease, outcome, own, jarsAt);
    return [answer, pushed];
  }

  /** What a page has for other partitions: stats and cookies for partition 0, then its links. */
  async #sendAhead(
    { set, cookies }: { readonly set: readonly StatChange[]; readonly cookies: readonly CookieChange[] },
    links: readonly FrontierRequest[],
  ): Promise<[Pushed, jarsAt: number | undefined]> {
    const [first] = this.#parts as [RedisFrontier];
    if (set.length > 0) await first.addStats(set);
    const jarsAt = cookies.length > 0 ? await first.partition.mergeCookies(cookies) : undefined;
    const shares = byPartition(links, domainOf, this.#parts.length);
    const pushed = await this.#pushEach(shares, (partition, share) =>
      this.#links[partition]!.push(share, jarsAt),
    );
    return [pushed, jarsAt];
  }

  async #pushEach(
    shares: readonly FrontierRequest[][],
    push: (partition: number, chunk: readonly FrontierRequest[]) => Promise<PartPush>,
  ): Promise<Pushed> {
    const answers = await Promise.all(
      shares.map(async (share, partition) => {
        const pushed: { partition: number; answer: PartPush }[] = [];
        for (const chunk of inChunks(share, requestWeight, PUSH_CHUNK)) {
          pushed.push({ partition, answer: await push(partition, chunk) });
          this.#leases.wake(partition);
        }
        return pushed;
      }),
    );
    return answers.flat();
  }

  /** Partition 0 last and with every part: it knows how many start requests were pushed. */
  async #pushStart(
    requests: readonly FrontierRequest[],
    kind: 'start' | 'start-filtered',
    { from, total, key = '' }: StartPart = { from: 0, total: requests.length },
  ): Promise<PushAnswer> {
    // Where all were pushed before, the other partitions do not know it.
    if (await this.#parts[0]!.partition.isStartPushed(key)) {
      return this.#parts[0]!.push(requests, kind, { from, total, key });
    }
    const placed = requests.map((request, n) => ({ request, offset: n + 1 }));
    const shares = byPartition(placed, ({ request }) => request.domain, this.#parts.length);
    const send = async (partition: number): Promise<Pushed[number]> => {
      const own = shares[partition]!;
      const share: StartShare = {
        ...{ key, from, span: requests.length, skips: partition > 0 },
        total: partition === 0 ? total : null,
        offsets: own.map(({ offset }) => offset),
      };
      const answer = await this.#parts[partition]!.partition.push(
        own.map(({ request }) => request),
        kind,
        share,
      );
      this.#leases.wake(partition);
      return { partition, answer };
    };
    const others = [...shares.keys()].filter((partition) => partition > 0 && shares[partition]!.length > 0);
    const pushed = [...(await Promise.all(others.map(send))), await send(0)];
    const sum = summed(pushed);
    if (sum.waiting === undefined) return sum;
    const elsewhere = [...shares.keys()]
      .filter((partition) => !pushed.some((one) => one.partition === partition))
      .reduce((waiting, partition) => waiting + (this.#leases.stateOf(partition)?.waiting ?? 0), 0);
    return { ...sum, waiting: sum.waiting + elsewhere };
  }
}

function summed(pushed: readonly { readonly answer: PushAnswer }[]): PushAnswer {
  const sum = (of: (answer: PushAnswer) => number | undefined): number =>
    pushed.reduce((total, { answer }) => total + (of(answer) ?? 0), 0);
  const [dropped, trapped] = [sum((answer) => answer.dropped), sum((answer) => answer.trapped)];
  return {
    accepted: sum((answer) => answer.accepted),
    duplicates: sum((answer) => answer.duplicates),
    ...(dropped > 0 && { dropped }),
    ...(trapped > 0 && { trapped }),
    ...(pushed.some(({ answer }) => answer.waiting !== undefined) && {
      waiting: sum((answer) => answer.waiting),
    }),
  };
}

const domainOf = ({ domain }: FrontierRequest): string => domain;
