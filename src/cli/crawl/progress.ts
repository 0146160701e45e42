/** How the whole crawl stands while it runs: one live line on a terminal, a line of the log now and then in a pipe. */
import type { Frontier, Snapshot } from '../../frontier/frontier.js';
import type { Logger } from '../../log.js';
import type { Context } from '../context.js';
import { howMany, n } from '../terminal/format-values.js';
import { printable } from '../terminal/printable.js';
import { type Redraw, redrawOn } from '../terminal/redraw.js';

const LIVE_MS = 1_000;

export interface Display {
  /** Write a line of the log above the live line. */
  sink(line: string): void;
  /** Begin to look at the crawl. @param trouble why nothing moves, in a few words; null when all is well. */
  start(frontier: Pick<Frontier, 'snapshot'>, log: Logger, trouble: () => string | null): void;
  /** Remove the live line. */
  stop(): void;
}

/** @param logEveryMs between two lines in a pipe; 0 for none. */
export async function createDisplay(context: Context, logEveryMs: number): Promise<Display> {
  if (!context.stderr.isTTY) return logged(context, logEveryMs);
  return live(context, await redrawOn(process.stderr, true));
}

function live(context: Context, update: Redraw): Display {
  let text = '';
  let stop = () => {};
  return {
    sink(line) {
      update.clear();
      context.stderr.write(line);
      if (text !== '') update(text);
    },
    start(frontier, _log, trouble) {
      const rate = pageRate();
      stop = everyLook(frontier, LIVE_MS, (snapshot) => {
        const why = trouble();
        text = cut(`${describe(snapshot, rate(snapshot))}${why === null ? '' : ` · ${why}`}`, context);
        update(text);
      });
    },
    stop() {
      stop();
      text = '';
      update.clear();
    },
  };
}

function logged(context: Context, everyMs: number): Display {
  let stop = () => {};
  return {
    sink: (line) => context.stderr.write(line),
    start(frontier, log, _trouble) {
      if (everyMs === 0) return;
      const rate = pageRate();
      stop = everyLook(frontier, everyMs, (snapshot) =>
        log.info(numbers(snapshot, rate(snapshot)), 'progress'),
      );
    },
    stop: () => stop(),
  };
}

/** Look again and again, never twice at a time; a store that is away is the engine's to report. */
function everyLook(
  frontier: Pick<Frontier, 'snapshot'>,
  everyMs: number,
  show: (snapshot: Snapshot) => void,
): () => void {
  let looking = false;
  let stopped = false;
  const look = async () => {
    if (looking) return;
    looking = true;
    try {
      const snapshot = await frontier.snapshot();
      if (!stopped) show(snapshot);
    } catch {
      // The next look may reach it.
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(look, everyMs);
  timer.unref();
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}

/** Pages per second of all nodes, between two looks. */
function pageRate(): (snapshot: Snapshot) => number {
  let last: { pages: number; at: number } | null = null;
  return (snapshot) => {
    const now = { pages: snapshot.done + snapshot.failed, at: performance.now() };
    const rate = last === null ? 0 : ((now.pages - last.pages) * 1000) / (now.at - last.at);
    last = now;
    return Math.max(0, Math.round(rate * 10) / 10);
  };
}

function numbers(snapshot: Snapshot, pagesPerSecond: number) {
  const { done, failed, pending, delayed, leased, nodes } = snapshot;
  const items = snapshot.counters.item_scraped_count ?? snapshot.items;
  return {
    pages: done + failed,
    pagesPerSecond,
    pending,
    delayed,
    leased,
    failed,
    items,
    nodes: nodes.length,
  };
}

function describe(snapshot: Snapshot, rate: number): string {
  const { pages, pending, delayed, leased, failed, items, nodes } = numbers(snapshot, rate);
  const waiting = delayed === 0 ? n(pending) : `${n(pending)} (+${n(delayed)} delayed)`;
  const parts = [
    `${n(pages)} pages (${rate}/s)`,
    `pending ${waiting}`,
    `leased ${n(leased)}`,
    `failed ${n(failed)}`,
    `items ${n(items)}`,
    howMany(nodes, 'node'),
  ];
  return [...(snapshot.control === 'running' ? [] : [snapshot.control]), ...parts].join(' · ');
}

/** One line, whatever the width: a wrapped one would leave pieces behind when it is drawn anew. */
function cut(text: string, { stderr }: Context): string {
  const line = printable(text);
  return line.length < stderr.columns ? line : line.slice(0, Math.max(0, stderr.columns - 1));
}
