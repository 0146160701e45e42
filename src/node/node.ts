/**
 * One node: joins the crawl, runs the loop, leaves.
 *
 * ```
 *   join ──► lease → start each → wait for (a slot | time | a signal | seeds) → again ──► wind down ──► leave
 *    ▲                                    │
 *    └───────── declared dead ────────────┘
 * ```
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CrawlnodeError,
  FrontierUnavailableError,
  IncarnationDeadError,
  WaitedTooLongError,
} from '../errors.js';
import { type Joined, type LeaseAnswer, MAX_WAIT_MS, type Shape } from '../frontier/frontier.js';
import type { OpenModules } from '../user-code/open-modules.js';
import { Heartbeat, type HeartbeatNews, type HeartbeatReport } from './membership/heartbeat.js';
import { Incarnation } from './membership/incarnation.js';
import { announce, join, joinFirst, pushStart, sayNothingNew } from './membership/membership.js';
import { NodeState } from './membership/node-state.js';
import { callClosed, callOpened } from './membership/spider-hooks.js';
import type { NodeDeps, NodeResult } from './node-options.js';
import { comesAgain, startRequests } from './seeds/seed-requests.js';
import { hasGenerator } from './seeds/start-generator.js';
import { Parting } from './shutdown/leave-finished-crawl.js';
import {
  crawlEnding,
  ending,
  errorEnding,
  type NodeEnding,
  withLosses,
} from './shutdown/node-stop-reason.js';
import { windDown } from './shutdown/shutdown.js';
import { whereMetricsAre } from './telemetry/metrics-server.js';

export type {
  LinkOptions,
  NodeDeps,
  NodeOptions,
  NodeProgress,
  NodeResult,
  RetryOptions,
} from './node-options.js';

/** After one NODE_TIMEOUT a node whose main loop hangs counts as dead. For two more it may continue and join anew. */
const STUCK_NODE_TIMEOUTS = 3;

/**
 * Crawl until the crawl is over, a signal comes, or the store says so.
 * @throws RefusedError at join; FrontierUnavailableError when the first join cannot reach the store; CrawlnodeError when
 *   the spider's `opened`, or `open` of a pipeline or middleware throws.
 */
export async function crawlAsNode(deps: NodeDeps): Promise<NodeResult> {
  const node = new NodeState(deps);
  const end = await withModules(node, async () => {
    const joined = await joinFirst(deps);
    if (joined === null) return ending('shutdown');
    deps.siblings?.joined();
    return joined.justClosed === null ? live(node, joined) : turnedAway(joined, joined.justClosed, deps);
  });
  const { pages, failed, items } = node.tally;
  const { failure } = node.hooks;
  const { why: lossWhy } = node.losses;
  const elapsedMs = Math.round(performance.now() - node.startedAt);
  return {
    reason: end.reason,
    exitCode: failure === null ? end.exitCode : 1,
    hasWaited: end.hasWaited === true,
    message: (end.exitCode === 0 ? failure : null) ?? end.message ?? failure ?? lossWhy ?? node.vanished.why,
    ...{ pages, failed, items, elapsedMs },
    deadEnds: node.deadEnds.list(),
    unusedSlots: node.unusedSlots.list(),
    slowestDomain: node.latencies.slowest(),
    customStats: end.atOnce ? {} : await node.outsideStats.readAll(),
    crawl: node.finalTotals?.crawl ?? null,
    run: node.finalTotals?.run ?? null,
  };
}

/** The item pipelines, the middleware and the extensions are open while the node runs. */
async function withModules(
  { deps, hooks, outsideStats }: NodeState,
  run: () => Promise<NodeEnding>,
): Promise<NodeEnding> {
  const { pipelines, middleware, extensions } = deps;
  let hasWaited = false;
  const openAll = (name: string, modules: OpenModules | null | undefined) =>
    hooks.open(`open() of the ${name}`, () => modules?.open(), modules?.opening);
  try {
    const areOpen =
      (await openAll('item pipelines', pipelines)) &&
      (await openAll('middleware', middleware)) &&
      (await openAll('extensions', extensions));
    const end = areOpen ? await run() : ending('shutdown');
    hasWaited = end.hasWaited === true;
    return end;
  } finally {
    await hooks.close('close() of the extensions', () => extensions?.close());
    await hooks.close('close() of the middleware', () => middleware?.close());
    await hooks.close('close() of the item pipelines', () => pipelines.close(hasWaited));
    await outsideStats.write();
  }
}

/** THE LOOP. @returns why this node stops, or the error when only its incarnation ended and the node joins anew. */
async function crawl(node: NodeState, self: Incarnation): Promise<NodeEnding | IncarnationDeadError> {
  try {
    await start(node, self);
    const parting = new Parting(node, self);
    for (;;) {
      const stop = self.whyStop();
      if (stop !== null) return stop;

      self.upkeep.reconcileWhenDue();
      let waitMs = MAX_WAIT_MS;
      if (self.shouldAsk()) {
        const answer = await self.leaseAndStart();
        self.seeds.offer(answer.crawl);
        const over = await parting.judge(crawlEnding(answer.crawl, self.view()));
        if (over !== null) return over;
        waitMs = parting.waitMs ?? pollAfterMs(answer);
      }
      await node.alarm.wait(waitMs);
    }
  } catch (error) {
    return whyIncarnationEnded(error, self, node.deps.options.shape);
  }
}

/** When a node is halted while the store is away, it stops for the reason of the halt, not for the outage. */
function whyIncarnationEnded(
  error: unknown,
  self: Incarnation,
  { persist }: Shape,
): NodeEnding | IncarnationDeadError {
  let cause = error;
  if (error instanceof FrontierUnavailableError) {
    try {
      const stop = self.whyStop();
      if (stop !== null) return stop;
    } catch (why) {
      cause = why;
    }
  }
  return cause instanceof IncarnationDeadError ? cause : errorEnding(cause, persist);
}

/** From joining to leaving. */
async function live(node: NodeState, joined: Joined): Promise<NodeEnding> {
  const { deps, hooks, signals } = node;
  announce(joined, deps);
  node.losses.hear(joined.found);
  node.vanished.hear(joined.found);
  let self = new Incarnation(node, joined);
  const heartbeat = startHeartbeat(node, joined, () => self);
  const takeOver = (next: Incarnation) => {
    self = next;
    heartbeat.follow(next.joined.incarnation);
  };
  let end = ending('error');
  try {
    await noteMetrics(node, heartbeat);
    const isOpen =
      (await callOpened(node, self.halt)) &&
      (await hooks.open('spiderOpened of the extensions', () => signals?.ofNode('spiderOpened', {})));
    end = isOpen ? await crawlOn(node, self, takeOver) : ending('shutdown');
    return end;
  } finally {
    await leave(node, self, end);
    await heartbeat.stop();
    await callClosed(node, end.reason);
    await hooks.close('spiderClosed of the extensions', () =>
      signals?.ofNode('spiderClosed', { reason: end.reason }),
    );
  }
}

/** Crawl, through as many incarnations as it takes. @param takeOver gets each further one */
async function crawlOn(
  node: NodeState,
  first: Incarnation,
  takeOver: (next: Incarnation) => void,
): Promise<NodeEnding> {
  for (let self = first; ; ) {
    const stop = await crawl(node, self);
    if (!(stop instanceof IncarnationDeadError)) return stop;
    const joined = await rejoin(node, self, stop);
    if ('reason' in joined) return joined;
    self = new Incarnation(node, joined);
    takeOver(self);
  }
}

async function leave(node: NodeState, self: Incarnation, end: NodeEnding): Promise<void> {
  const { deps, alarm, outage } = node;
  const { frontier, log, force, options } = deps;
  const disowned = () => self.disowned;
  await windDown(end, {
    frontier,
    slots: self.slots,
    alarm,
    outage,
    log,
    graceMs: options.graceMs,
    persist: options.shape.persist,
    force,
    disowned,
    readTotals: async (leftMs) => {
      await node.reportRest(self.slots, self.joined.incarnation);
      await node.readFinalTotals(end.reason, leftMs);
    },
    onLast: () => node.noteLast(),
  });
  self.end();
}

/** Push the start requests, unless an earlier node did, or run `start()` of the spider beside the loop. */
async function start(node: NodeState, self: Incarnation): Promise<void> {
  const { deps, outage, tally, news } = node;
  const { spider, options } = deps;
  const again = self.joined.startPushed;
  let accepted = 0;
  if (hasGenerator(spider)) self.beginStart();
  else {
    if (spider.startUrls.length === 0) return;
    const isWanted = again ? comesAgain(self.rules, options.shape.dupefilter) : undefined;
    const requests = startRequests(spider, self.rules, Date.now(), isWanted);
    accepted = await pushStart(requests, deps, outage, self.halt, again);
  }
  if (again && accepted === 0 && tally.pages === 0 && sayNothingNew(self.joined, deps)) news.noteSaidDry();
}

/**
 * @returns the new registration; or how the node ends, when a signal came or WAIT_TIMEOUT passed while the store was away.
 */
async function rejoin(
  node: NodeState,
  old: Incarnation,
  why: IncarnationDeadError,
): Promise<Joined | NodeEnding> {
  const { deps, outage } = node;
  deps.log.warn({}, `${whyJoinAnew(why, deps)}; it joins the crawl anew`);
  old.slots.dropAll();
  old.end();
  // A pause, so that a node which is declared dead again and again does not flood the store.
  await sleep(200 + 200 * Math.random());
  const stop = AbortSignal.any([deps.drain, deps.force]);
  try {
    return stop.aborted ? ending('shutdown') : await outage.through('join', stop, () => join(deps));
  } catch (error) {
    if (error instanceof FrontierUnavailableError) return ending('shutdown');
    if (error instanceof WaitedTooLongError) return errorEnding(error, deps.options.shape.persist);
    throw error;
  }
}

/** The subject is this node. */
function whyJoinAnew({ code, message }: IncarnationDeadError, { options }: NodeDeps): string {
  if (code === 'store_replaced') return `${message}: this node drops what it had in progress`;
  const seconds = options.tunables.nodeTimeoutMs / 1_000;
  return `this node sent no heartbeat for ${seconds} s (NODE_TIMEOUT), so the other nodes count it as dead and take over its requests`;
}

/** The same budget has just closed the run on other nodes. A node that joins late does not begin another run. */
function turnedAway({ found }: Joined, reason: string, { options, crawlArguments }: NodeDeps): NodeEnding {
  const withinS = options.tunables.nodeTimeoutMs / 1_000;
  const message =
    `the same budget closed the run less than ${withinS} s ago (NODE_TIMEOUT), and a node that joins late does not begin ` +
    'another run: start again a little later, or with another value';
  return withLosses(ending(reason, message), found, { crawlArguments });
}

/** Say where the metrics are, if they are wanted. @throws RefusedError where they cannot be served */
async function noteMetrics({ deps, telemetry }: NodeState, { serving }: Heartbeat): Promise<void> {
  const { options, siblings, log } = deps;
  const port = await serving;
  telemetry.metricsPort = port ?? siblings?.metricsPort ?? null;
  if (options.metrics !== null && port !== null) log.info({ port }, whereMetricsAre(options.metrics, port));
}

function startHeartbeat(node: NodeState, joined: Joined, current: () => Incarnation): Heartbeat {
  const { open, options, log } = node.deps;
  const onNews = ({ kind, incarnation }: HeartbeatNews) => {
    const self = current();
    if (kind === 'hung') {
      const what =
        'a callback blocked the main loop for longer than MAIN_LOOP_TIMEOUT and NODE_TIMEOUT allow';
      self.fail(
        new CrawlnodeError('main_loop_stuck', `${what}; other nodes may have taken over its requests`),
      );
    } else if (kind === 'stuck') {
      log.warn(
        { limitMs: options.mainLoopTimeoutMs },
        'a callback has blocked the main loop, so heartbeats were paused; other nodes may have taken over its requests',
      );
    } else if (incarnation === self.joined.incarnation) {
      self.disown(kind);
    }
  };
  const { heartbeatMs, mainLoopTimeoutMs, tunables, metrics } = options;
  const { nodeTimeoutMs } = tunables;
  const { incarnation } = joined;
  const beat = {
    ...{ open, incarnation, mainLoopTimeoutMs, intervalMs: heartbeatMs, node: node.deps.node.id },
    endAfterMs: STUCK_NODE_TIMEOUTS * nodeTimeoutMs,
    endsProcess: options.endsStuckProcess,
    speaksJson: options.speaksJson,
    pulse: node.pulse.buffer,
    reports: options.reports,
    metrics: metrics === null ? null : { ...metrics, nodeTimeoutMs },
  };
  const { telemetry, pulse } = node;
  const onReported = ({ sequence, upTo }: HeartbeatReport) => telemetry.noteReported(sequence, upTo);
  const heartbeat = new Heartbeat(beat, { onNews, onReported }, log, (of) =>
    node.deps.frontier.heartbeat(of, pulse.pagesPerSecond),
  );
  node.onHandOver = (handed) => heartbeat.hand(handed);
  return heartbeat;
}

/** With jitter, so that idle nodes do not ask at the same time. Without a pause only after an answer with leases. */
function pollAfterMs({ leases, waitMs }: LeaseAnswer): number {
  if (waitMs >= MAX_WAIT_MS) return MAX_WAIT_MS * (0.75 + 0.25 * Math.random());
  const leastMs = leases.length > 0 ? 1 : 10;
  return Math.max(leastMs, waitMs) + Math.min(20, waitMs / 10) * Math.random();
}
