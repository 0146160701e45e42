/** When a crawl is complete, and the state that every lease answer brings. */
import type { CrawlState } from '../../frontier.js';
import { openWork } from '../base/crawl-row.js';
import type { Transaction } from '../base/transaction.js';
import { areAllWritten } from '../feeds/outbox.js';
import { isRebuilding } from '../leases/stall.js';
import { type NodeRow, pipelinesOf } from '../nodes/node-row.js';
import { isReached } from '../queue/queue-limit.js';
import { isStarted } from '../seeds/starts.js';
import { asker, wasAsked } from './ask-idle.js';

/** The state of the crawl. @param node no item may wait for its pipelines */
export function crawlState(tx: Transaction, hasStart: boolean, node: NodeRow | null): CrawlState {
  const { crawl, tally } = tx;
  const seedsWaiting = tx.spaces.startUrls.reduce((sum, { good }) => sum + good.entries, 0);
  const isIdle = openWork(tally) === 0;
  const isDone =
    isIdle &&
    seedsWaiting === 0 &&
    (!hasStart || isStarted(crawl)) &&
    crawl.control === 'running' &&
    (node === null || areAllWritten(tx, pipelinesOf(node)));
  const finished = isDone && wasAsked(tx);
  return {
    control: isRebuilding(tx) ? 'running' : crawl.control,
    finished,
    stall: null,
    idleDue: isDone && !finished && asker(tx) === null,
    acceptedInRun: tally.run_accepted,
    closing: crawl.run?.closing?.reason ?? null,
    seedsWaiting,
    clockAheadMs: Math.max(0, tx.nowMs - tx.wallMs),
    idleMs: isIdle ? Math.max(0, tx.nowMs - tally.busy_at) : 0,
    full: isReached(tx),
    lost: tally.lost,
    seenGone: tally.seen_gone,
    seenExpires: false,
  };
}
