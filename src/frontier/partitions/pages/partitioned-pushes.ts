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
import { int } from '../../redis/connection/reply.js';
import { changeArguments } from '../../redis/cookies/cookie-reply.js';
import { startField } from '../../redis/join.js';
import type { Judged } from '../../redis/leases/settle-message.js';
import { metaFields, type StartShare } from '../../redis/partitions/partition-access.js';
import type { RedisFrontier } from '../../redis/redis-frontier.js';
import { summed } from '../answers/summed.js';
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
type Pushed = readonly { readonly partition: number; readonly answer: Judged }[];

export class PartitionedPushes {
  readonly #parts: readonly RedisFrontier[];
  readonly #leases: PartitionedLeases;
  readonly #epochs: PartitionEpochs;
  readonly #links: readonly LinkBatches[];
  /** What settles send to other partitions before they are issued in their own. */
  readonly #ahead = new Set<Promise<unknown>>();
  #isFounded = false;

  constructor(parts: readonly RedisFrontier[], leases: PartitionedLeases, epochs: PartitionEpochs) {
    this.#parts = parts;
    this.#leases = leases;
    this.#epochs = epochs;
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
      // The first push makes the record of a partition. So all agree on their number and on the dupefilter.
      await Promise.all(this.#parts.map((each) => each.push([], 'seeds')));
      this.#isFounded = true;
    }
    if (kind === 'start' || kind === 'start-filtered') return this.#pushStart(requests, kind, part);
    const shares = byPartition(requests, this.#parts.length);
    return sumOf(await this.#pushEach(shares, (part, share) => this.#parts[part]!.pushPart(share, kind)));
  }

  async settle(lease: Lease, outcome: Outcome, effects: Effects): Promise<SettleAnswer> {
    const { partition, lease: own } = ofPartition(lease);
    const part = this.#parts[partition];
    if (part === undefined) return { committed: false };
    const { withheld } = effects;
    // Under another epoch the partition is asked only whether the lease is lost: it commits nothing.
    const isOutdated = withheld !== undefined && withheld.epoch !== this.#epochs.all;
    const epoch = isOutdated ? NO_EPOCH : this.#epochs.of(partition);
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
    this.#epochs.hear(partition, answer.epoch);
    const isSeen = pushed.every(
      ({ partition: at, answer: { epoch, allSeen } }) => allSeen && epoch === this.#epochs.of(at),
    );
    const total = sumOf([{ answer }, ...pushed]);
    return { committed: true, ...total, epoch: this.#epochs.all, allSeen: answer.allSeen && isSeen };
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
    const links = effects.requests.filter((request) => !isOwn(request));
    const ahead = this.#sendAhead(set, cookies, links);
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
    set: readonly StatChange[],
    cookies: readonly CookieChange[],
    links: readonly FrontierRequest[],
  ): Promise<[Pushed, jarsAt: number | undefined]> {
    const [first] = this.#parts as [RedisFrontier];
    if (set.length > 0) await first.addStats(set);
    const { crawl, node } = first.partition;
    const args = { cookies: cookies.map(changeArguments), maxJars: node.options?.maxCookieJars };
    const jarsAt = cookies.length > 0 ? int(await crawl.call('merge_cookies', args)) : undefined;
    const shares = byPartition(links, this.#parts.length);
    const pushed = await this.#pushEach(shares, (partition, share) =>
      this.#links[partition]!.push(share, jarsAt),
    );
    return [pushed, jarsAt];
  }

  async #pushEach(
    shares: readonly FrontierRequest[][],
    push: (partition: number, chunk: readonly FrontierRequest[]) => Promise<Judged>,
  ): Promise<Pushed> {
    const answers = await Promise.all(
      shares.map(async (share, partition) => {
        const pushed: { partition: number; answer: Judged }[] = [];
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
    const [first] = this.#parts as [RedisFrontier];
    const [known] = await metaFields(first.partition, startField(key));
    // The other partitions do not know it.
    if (known === 'pushed') return first.push(requests, kind, { from, total, key });
    const placed = requests.map((request, n) => ({ request, domain: request.domain, offset: n + 1 }));
    const shares = byPartition(placed, this.#parts.length);
    const send = async (partition: number): Promise<Pushed[number]> => {
      const own = shares[partition]!;
      const share: StartShare = {
        ...{ key, from, span: requests.length, skips: partition > 0 },
        total: partition === 0 ? total : null,
        offsets: own.map(({ offset }) => offset),
      };
      const answer = await this.#parts[partition]!.pushPart(
        own.map(({ request }) => request),
        kind,
        share,
      );
      this.#leases.wake(partition);
      return { partition, answer };
    };
    const others = [...shares.keys()].filter((partition) => partition > 0 && shares[partition]!.length > 0);
    const pushed = [...(await Promise.all(others.map(send))), await send(0)];
    const sum = sumOf(pushed);
    if (sum.waiting === undefined) return sum;
    const elsewhere = [...shares.keys()]
      .filter((partition) => !pushed.some((one) => one.partition === partition))
      .reduce((waiting, partition) => waiting + (this.#leases.states[partition]?.waiting ?? 0), 0);
    return { ...sum, waiting: sum.waiting + elsewhere };
  }
}

function sumOf(pushed: readonly { readonly answer: PushAnswer }[]): PushAnswer {
  const none: PushAnswer = { accepted: 0, duplicates: 0 };
  return summed([none, ...pushed.map(({ answer }) => answer)]);
}
