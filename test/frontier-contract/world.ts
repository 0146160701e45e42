/** The stage of the contract: a crawl on a fresh store, its clients and nodes, and short ways to say things. */
import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type {
  Effects,
  Frontier,
  FrontierRequest,
  Joined,
  Lease,
  Outcome,
  SettleAnswer,
  Shape,
} from '../../src/frontier/frontier.js';
import { noEffects } from '../../src/frontier/frontier.js';
import { type JoinChoice, joinAs } from '../helpers/joining.js';

/** What an engine's test provides: any number of clients on one fresh crawl. */
export interface World {
  /** One more client, as another process would open it; `shape` is what its settings say otherwise than the default. */
  client(shape?: Partial<Shape>): Promise<Frontier>;
  /** What somebody else may do to the store; absent where no test of the world needs it. */
  readonly hand?: ForeignHand;
  /** Absent where nothing can set it: then tests that need it are skipped. */
  readonly clock?: StoreClock;
  /** Close every client and remove what the crawl left. */
  dispose(): Promise<void>;
}

/** Changes of the stored data that no verb makes. */
export interface ForeignHand {
  /** Delete the record of a live request, and leave the request where it is in the queue. */
  deleteRecord(request: FrontierRequest): Promise<void>;
  /** Have a delayed request due now. */
  makeDue(request: FrontierRequest): Promise<void>;
  /** Overwrite the number of accepted requests. */
  setAccepted(count: number): Promise<void>;
  /** Delete all that the dupefilter holds. */
  deleteSeen(): Promise<void>;
  /** Have the store say that its dupefilter is of this class, as a later crawlnode with the same data format would. */
  renameDupefilter(name: string): Promise<void>;
  /** What is left in the store: names of keys or of tables with rows. */
  left(): Promise<readonly string[]>;
}

/** The clock that the store asks, set by hand, so that a test of a deadline need not wait for it. It goes on from where it was set. */
export interface StoreClock {
  /** Set it forward by whole seconds. That of the test may stay: do not compare with `Date.now()` afterwards. */
  setForward(ms: number): void;
  /** Set it to the clock of the machine; `dispose()` of the world does. */
  reset(): void;
}

/** A world whose clients `open` makes; `remove` takes away what is left without them. */
export function worldOf(
  open: (shape?: Partial<Shape>) => Promise<Frontier>,
  remove: () => Promise<void> = async () => {},
  hand?: ForeignHand,
  clock?: StoreClock,
): World {
  const clients: Frontier[] = [];
  return {
    ...(hand !== undefined && { hand }),
    ...(clock !== undefined && { clock }),
    async client(shape) {
      const frontier = await open(shape);
      clients.push(frontier);
      return frontier;
    },
    async dispose() {
      clock?.reset();
      await Promise.all(clients.map((client) => client.close()));
      await remove();
    },
  };
}

/** A joined client: what the tests call a node. */
export interface Node {
  readonly frontier: Frontier;
  readonly joined: Joined;
}

/** What a test chooses of a request; `name` decides the identity. */
export interface RequestChoice {
  readonly domain?: string;
  readonly priority?: number;
  readonly dontFilter?: boolean;
  readonly delayMs?: number;
  /** For dontFilter requests: a second identity of the same fingerprint. */
  readonly ordinal?: number;
}

export const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

/** A request named `name`; its record is opaque to the frontier, so it is just the name in JSON. */
export function request(name: string, choice: RequestChoice = {}): FrontierRequest {
  const fingerprint = sha1(name);
  return {
    id: choice.dontFilter === true ? sha1(`${fingerprint}#${choice.ordinal ?? 0}`) : fingerprint,
    fingerprint,
    record: JSON.stringify({ u: name }),
    domain: choice.domain ?? 'a.example',
    priority: choice.priority ?? 0,
    dontFilter: choice.dontFilter ?? false,
    ...(choice.delayMs === undefined ? {} : { delayMs: choice.delayMs }),
  };
}

/** The name a request was made with. */
export const nameOf = (carrier: { readonly record: string | null }): string =>
  (JSON.parse(carrier.record ?? '{}') as { u: string }).u;

export const done: Outcome = { kind: 'done', reason: 'done', status: 200, attempts: 1 };
export const failed = (reason = 'timeout'): Outcome => ({ kind: 'failed', reason, attempts: 3 });
export const released: Outcome = { kind: 'released', reason: 'shutdown', unstarted: true };

/** A retry of `lease` that comes due after `afterMs`. */
export const retry = (lease: Lease, afterMs: number, priority = 0): Outcome => ({
  kind: 'retry',
  reason: '503',
  status: 503,
  attempts: 1,
  afterMs,
  priority,
  record: lease.record,
});

/** Effects with defaults. */
export const effects = (some: Partial<Effects>): Effects => ({ ...noEffects, ...some });

/** Ask until the answer satisfies, at most `boundMs`; the last answer is returned, so that an assertion can show it. */
export async function until<T>(
  ask: () => Promise<T>,
  satisfied: (answer: T) => boolean,
  boundMs = 10_000,
): Promise<T> {
  const endsAtMs = performance.now() + boundMs;
  for (;;) {
    const answer = await ask();
    if (satisfied(answer) || performance.now() > endsAtMs) return answer;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Lease until `count` leases are held or the bound passes. */
export async function take(frontier: Frontier, count: number, boundMs = 10_000): Promise<Lease[]> {
  const leases: Lease[] = [];
  await until(
    async () => {
      leases.push(...(await frontier.lease(count - leases.length, leases.length)).leases);
      return leases.length;
    },
    (held) => held >= count,
    boundMs,
  );
  return leases;
}

/** Lease one request and fail the test when there is none. */
export async function takeOne(frontier: Frontier, boundMs = 10_000): Promise<Lease> {
  const [lease] = await take(frontier, 1, boundMs);
  if (lease === undefined) throw new Error('no request could be leased');
  return lease;
}

/** Settle and expect it to be committed. */
export async function commit(
  frontier: Frontier,
  lease: Lease,
  outcome: Outcome = done,
  some: Partial<Effects> = {},
): Promise<Extract<SettleAnswer, { committed: true }>> {
  const answer = await frontier.settle(lease, outcome, effects(some));
  expect(answer.committed).toBe(true);
  return answer as Extract<SettleAnswer, { committed: true }>;
}

/**
 * Crawl `count` pages of one domain with nodes of eight slots. Each does as an engine does: a page ends, and its slot asks
 * for the next at once. @returns the pages of each node
 */
export async function crawlTogether(nodes: readonly Node[], count: number): Promise<number[]> {
  const held: Lease[][] = nodes.map(() => []);
  const pages = nodes.map(() => 0);
  await until(
    async () => {
      for (const [at, { frontier }] of nodes.entries()) {
        const ended = held[at]!.shift();
        if (ended !== undefined) {
          await commit(frontier, ended);
          pages[at]! += 1;
        }
        held[at]!.push(...(await frontier.lease(8 - held[at]!.length, held[at]!.length)).leases);
      }
      return pages.reduce((sum, more) => sum + more);
    },
    (sum) => sum === count,
  );
  return pages;
}

/** A node shows that it lives. */
export function beat({ frontier, joined }: Node): Promise<unknown> {
  return frontier.heartbeat(joined.incarnation, 0);
}

/** One crawl of one test. */
export class Crawl {
  readonly world: World;
  /** What the clients and nodes of this test are opened with, where it is not the default. */
  private readonly shape: Partial<Shape>;
  private observer: Frontier | undefined;
  private nodes = 0;

  constructor(world: World, shape: Partial<Shape> = {}) {
    this.world = world;
    this.shape = shape;
  }

  /** A client that never joins, as the commands have it. */
  async outsider(): Promise<Frontier> {
    this.observer ??= await this.world.client(this.shape);
    return this.observer;
  }

  /** A new client that has joined. */
  async node(choice: JoinChoice = {}): Promise<Node> {
    const frontier = await this.world.client({ ...this.shape, ...choice.shape });
    return { frontier, joined: await this.join(frontier, choice) };
  }

  /** The store's clock; skips the test where it cannot be set. */
  clockOr(skip: (note: string) => never): StoreClock {
    return this.world.clock ?? skip('the clock of this store cannot be set here');
  }

  join(frontier: Frontier, choice: JoinChoice = {}): Promise<Joined> {
    this.nodes += 1;
    const id = choice.id ?? `node-${this.nodes}`;
    return joinAs(frontier, { ...choice, id, shape: { ...this.shape, ...choice.shape } });
  }

  /** Keep `survivors` alive and recover until `moved` leases have moved; @returns how many did. */
  async recoverUntil(moved: number, survivors: readonly Node[]): Promise<number> {
    let total = 0;
    await until(
      async () => {
        const [first, ...others] = survivors;
        await Promise.all(others.map(beat));
        const by = first?.frontier ?? (await this.outsider());
        // Sent together, so that not even a busy machine puts the node timeout between them.
        const [, more] = await Promise.all([first && beat(first), by.recover()]);
        total += more;
        return total;
      },
      (sum) => sum >= moved,
    );
    return total;
  }

  /** Every test ends here: the invariants hold, then everything is taken down. */
  async end(): Promise<void> {
    try {
      const outsider = await this.outsider();
      expect(await outsider.verify()).toEqual([]);
      expect(await outsider.verifyCounts()).toEqual([]);
    } finally {
      await this.world.dispose();
    }
  }
}
