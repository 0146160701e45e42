/**
 * Shutdown of a node: finish the pages in progress, return the others to the queue, deregister. It takes at most
 * SHUTDOWN_TIMEOUT and a moment, even if the store is away. Other nodes recover what could not be returned.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../errors.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { Logger } from '../../log.js';
import type { Outage } from '../membership/outage.js';
import type { Alarm } from '../membership/wake-up.js';
import type { Slots } from '../page/leased-pages.js';
import type { NodeEnding } from './node-stop-reason.js';

/** The time for the store to answer releases and the leave, once the grace time is over. */
const LAST_WORDS_MS = 1_000;

const notInOrder = 'this node could not deregister; other nodes will recover the requests it held';
const keptNotice =
  'the crawl is kept, as it did not finish: SCHEDULER_PERSIST false clears only finished crawls';

export interface Leaving {
  readonly frontier: Frontier;
  readonly slots: Slots;
  readonly alarm: Alarm;
  readonly outage: Outage;
  readonly log: Logger;
  readonly graceMs: number;
  /** The second signal: give everything back at once. */
  readonly force: AbortSignal;
  /** False where the last node clears a crawl that is truly over (SCHEDULER_PERSIST). */
  readonly persist: boolean;
  /** Read the totals of the crawl just before leaving it. @param leftMs how long other nodes may be waited for */
  readonly readTotals: (leftMs: () => number) => Promise<void>;
  /** Told when this was the last node of the run. */
  readonly onLast: () => void;
  /** True once the store has disowned this incarnation; there is nothing left to give back or to leave. */
  readonly disowned: () => boolean;
}

/** Wait for the pages in progress, then leave the crawl with the reason of the ending. */
export async function windDown(ending: NodeEnding, leaving: Leaving): Promise<void> {
  const { slots, alarm, force, log, disowned } = leaving;
  const deadline = performance.now() + (ending.atOnce ? 0 : leaving.graceMs);
  const leftMs = () => (force.aborted ? 0 : Math.max(0, deadline - performance.now()));

  // After a signal the user has been told already.
  if (ending.leave && slots.inFlight > 0 && ending.reason !== 'shutdown') {
    log.info({ inFlight: slots.inFlight }, `${ending.reason}: finishing the pages in progress`);
  }
  while (ending.leave && slots.inFlight > 0 && leftMs() > 0 && !disowned()) await alarm.wait(leftMs());

  if (!ending.leave || disowned()) {
    slots.dropAll();
    return;
  }
  if (slots.inFlight > 0) log.info({ released: slots.inFlight }, 'unfinished pages go back to the queue');
  slots.releaseAll(ending.reason);

  const giveUp = new AbortController();
  let isSaid = false;
  const said = lastWords(ending.reason, leaving, giveUp.signal, leftMs).finally(() => {
    isSaid = true;
  });
  if (!force.aborted) await within(said, leftMs(), force);
  await within(said, LAST_WORDS_MS);
  giveUp.abort();
  if (!isSaid) log.warn({ error: leaving.outage.why }, notInOrder);
  slots.giveUp();
}

/** Resolves when the promise does, when the time is up, or when a signal ends the wait. */
async function within(promise: Promise<void>, ms: number, cut?: AbortSignal): Promise<void> {
  const done = new AbortController();
  const signal = cut === undefined ? done.signal : AbortSignal.any([done.signal, cut]);
  await Promise.race([promise, sleep(ms, undefined, { signal }).catch(() => {})]);
  done.abort();
}

/** Leave after every settle is answered, so that the last node can see whether the crawl is complete. */
async function lastWords(
  reason: string,
  { slots, frontier, outage, log, persist, readTotals, onLast, disowned }: Leaving,
  giveUp: AbortSignal,
  leftMs: () => number,
): Promise<void> {
  try {
    await slots.settled();
    if (disowned()) return;
    await outage.through('leave', giveUp, () => readTotals(leftMs));
    const { last, cleared } = await outage.through('leave', giveUp, () => frontier.leave(reason));
    if (last) onLast();
    log.debug({ last, cleared }, 'left the crawl');
    if (last && !cleared && !persist) log.info({ reason }, keptNotice);
  } catch (error) {
    if (!giveUp.aborted) log.warn({ error: messageOf(error) }, notInOrder);
  }
}
