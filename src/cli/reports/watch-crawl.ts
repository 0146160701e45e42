/** `stats SPIDER --watch` on a terminal: reads the crawl again and again, and shows what was read last. */
import { readHistory } from '../../crawler/stats/read-history.js';
import { type ReadCrawl, StatsReader } from '../../crawler/stats/read-stats.js';
import { FrontierUnavailableError } from '../../errors.js';
import { HISTORY_POINTS, HISTORY_STEP_MS } from '../../frontier/frontier.js';
import type { Context } from '../context.js';
import { paintFor } from '../terminal/colour.js';
import type { ScreenSize } from '../terminal/fit-screen.js';
import { showFullScreen } from '../terminal/full-screen.js';
import { type LiveCrawl, liveScreen } from './live-screen.js';

const EVERY_MS = 1_000;
/** Events that a large screen may show. */
const MOST_EVENTS = 100;

/** One crawl. */
export function watchCrawl(context: Context, crawl: ReadCrawl, stop: AbortSignal): Promise<void> {
  const paint = paintFor(context, context.stdout);
  const screenOf = (last: LiveCrawl, screen: ScreenSize) => liveScreen(last, paint, Date.now(), screen);
  return watchAgain(context, liveReader(crawl), screenOf, stop);
}

/** @throws what the store answers, except that it is away: then what it said last stays, and it is asked again */
export async function watchAgain<T>(
  context: Context,
  read: () => Promise<T>,
  text: (last: T, screen: ScreenSize) => string,
  stop: AbortSignal,
): Promise<void> {
  let last = await read();
  let failure: unknown = null;
  const over = new AbortController();
  const end = () => over.abort();
  stop.addEventListener('abort', end, { once: true });
  let isReading = false;
  const readAgain = async () => {
    if (isReading) return;
    isReading = true;
    try {
      last = await read();
    } catch (error) {
      if (error instanceof FrontierUnavailableError || over.signal.aborted) return;
      failure = error;
      end();
    } finally {
      isReading = false;
    }
  };
  const timer = setInterval(readAgain, EVERY_MS);
  try {
    await showFullScreen((screen) => context.mask(text(last, screen)), EVERY_MS, over.signal);
  } finally {
    clearInterval(timer);
    end();
  }
  if (failure !== null) throw failure;
}

/** The history has a new point every ten seconds; it is read with the events. */
function liveReader(crawl: ReadCrawl): () => Promise<LiveCrawl> {
  const { frontier } = crawl;
  const stats = new StatsReader(crawl);
  let slow: Pick<LiveCrawl, 'history' | 'events'> = { history: [], events: [] };
  let slowAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    const nowMs = Date.now();
    if (nowMs - slowAtMs >= HISTORY_STEP_MS / 2) {
      const fromMs = nowMs - HISTORY_POINTS * HISTORY_STEP_MS;
      const history = await readHistory(frontier, { fromMs, toMs: nowMs + HISTORY_STEP_MS, stepMs: null });
      slow = { history, events: (await frontier.telemetry.events(0)).slice(-MOST_EVENTS) };
      slowAtMs = nowMs;
    }
    return { stats: await stats.read(), ...slow, readAtMs: Date.now() };
  };
}
