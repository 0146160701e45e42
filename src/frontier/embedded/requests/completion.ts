/** When a crawl is complete, and the state that every lease answer brings. */
import { isPipelineOutbox } from '../../../feed-outbox.js';
import type { CrawlState } from '../../frontier.js';
import { openWork } from '../base/crawl-row.js';
import { namelessSpaceOf } from '../base/nameless-spaces.js';
import type { Transaction } from '../base/transaction.js';
import { areAllWritten } from '../feeds/outbox.js';
import { ContradictingRows } from '../file/sqlite-errors.js';
import { isRebuilding } from '../leases/stall.js';
import { isReached } from '../queue/queue-limit.js';
import { isStarted } from '../seeds/starts.js';
import { asker, wasAsked } from './ask-idle.js';

/** The state of the crawl. @param feeds of the node: no item may wait for those that are pipelines */
export function crawlState(tx: Transaction, hasStart: boolean, feeds: readonly string[]): CrawlState {
  const { crawl, tally } = tx;
  const seedsWaiting = tx.spaces.startUrls.reduce((sum, { good }) => sum + good.entries, 0);
  const isIdle = openWork(tally) <= 0;
  if (isIdle) requireNothingLeft(tx);
  const isDone =
    isIdle &&
    seedsWaiting === 0 &&
    (!hasStart || isStarted(crawl)) &&
    crawl.control === 'running' &&
    areAllWritten(tx, feeds.filter(isPipelineOutbox));
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

/**
 * Counters alone end no crawl, as somebody may have written over them: no request and no seed may be there. Some looks into
 * indexes. While a repair puts requests back, the counters are not those of the rows.
 */
function requireNothingLeft({ sql, space, spaces, crawl }: Transaction): void {
  if (crawl.repairing !== null) return;
  const left = sql.get`
    SELECT 1 FROM request INDEXED BY request_pending WHERE space = ${space} AND state = 'pending'
    UNION ALL SELECT 1 FROM request INDEXED BY request_suspect WHERE space = ${space} AND state = 'suspect'
    UNION ALL SELECT 1 FROM request INDEXED BY request_delayed WHERE space = ${space} AND state = 'delayed'
    UNION ALL SELECT 1 FROM request INDEXED BY request_leased WHERE space = ${space} AND state = 'leased' LIMIT 1`;
  const hasSeeds = spaces.startUrls.some(
    ({ good }) =>
      good.entries === 0 && sql.get`SELECT 1 FROM seed WHERE space = ${good.id} LIMIT 1` !== undefined,
  );
  if (left !== undefined || hasSeeds)
    throw new ContradictingRows('requests or seeds are there, and their counters say that none is');
  const nameless = spaces.others.find((key) => key.id === 0 && namelessSpaceOf(sql, key) !== null);
  if (nameless !== undefined) throw new ContradictingRows(`the name of ${nameless.name} is gone`);
}
