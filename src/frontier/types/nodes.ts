/** How a node joins a crawl, shows that it lives, and leaves. */

import type { RunArguments } from '../shared-settings/run-arguments.js';
import type { Budgets, Shape, Tunables } from './crawl.js';
import type { Snapshot } from './reports.js';

export interface JoinOptions {
  readonly shape: Shape;
  readonly tunables: Tunables;
  readonly budgets: Budgets;
  /**
   * Ids of the outboxes that receive this node's committed feed items: of files (`feedId`), which get the texts as they
   * are, and of item pipelines (`pipelineOutboxId`), which get `{ "id": "<request id>-<n>", "item": … }`, n from 1 in each
   * page. While items wait in one of this node's pipelines, the crawl is not `finished` for it.
   */
  readonly feeds: readonly string[];
  /** Whether the spider has start requests. If so, the crawl is complete only after they were pushed. */
  readonly hasStart: boolean;
  /** Whether the nodes have hooks for an idle crawl. If so, the crawl is complete only after these had nothing to add. */
  readonly hasIdle: boolean;
  /** `-a name=value`: the run has those of its first node, and refuses a node with others. */
  readonly args: RunArguments;
  /** A new run makes all start requests again, although they were pushed before. */
  readonly startsAgain: boolean;
  /** COOKIES_MAX_JARS: when this node commits cookies, the jars changed least recently are dropped beyond it. */
  readonly maxCookieJars: number;
  /**
   * If this node begins a new run, clear the requests, failed requests, fingerprints and the record of pushed start
   * requests in the same step. Seeds, items and counters stay. A client that joins again does not flush.
   */
  readonly flushOnStart: boolean;
}

export interface Joined {
  readonly incarnation: string;
  /** Id of the run that this node begins or joins; '' when it should not start. */
  readonly run: string;
  /** The content of the crawl at the join, for the message of a resumed crawl. */
  readonly found: Pick<
    Snapshot,
    'pending' | 'delayed' | 'leased' | 'seen' | 'lost' | 'seenGone' | 'seenExpires'
  > & {
    /** Other live nodes: with them the node joins a crawl, alone it resumes one. */
    readonly nodes: number;
    /** As in `CrawlState`. */
    readonly cameBack?: number;
  };
  /** True when the start requests of the job and these arguments were pushed by an earlier node. */
  readonly startPushed: boolean;
  /** Set when this run was closed by the same budget less than `nodeTimeoutMs` ago: the node should not start. */
  readonly justClosed: string | null;
  /** Sentences for the user, such as a tunable that changed for all nodes. */
  readonly notices: readonly string[];
}

/** The result of a leave. */
export interface Left {
  /** The run ended with this incarnation. */
  readonly last: boolean;
  readonly cleared: boolean;
  /** Set when the node stays registered, since the other nodes may have been killed. Absent when it left. */
  readonly awaits?: Silence;
}

/** Incarnations that are registered and not declared dead, but sent no recent heartbeat. */
export interface Silence {
  readonly incarnations: readonly string[];
  /** Time until the last of them counts as dead, unless it sends a heartbeat. */
  readonly forMs: number;
}

export type HeartbeatAnswer = 'alive' | 'dead' | 'gone';
