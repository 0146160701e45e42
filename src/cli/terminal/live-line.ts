/** A progress line that is redrawn in place on a terminal. Nothing is printed in a pipe. */
import type { Context } from '../context.js';
import { printable } from './printable.js';
import { redrawOn } from './redraw.js';

const DRAW_MS = 200;

export interface LiveLine {
  /** Remove the line until it is next drawn, so that other output can be written. */
  clear(): void;
  stop(): void;
}

/** Draw `text()` at an interval until stopped. */
export async function liveLine(context: Context, text: () => string): Promise<LiveLine> {
  if (!context.stderr.isTTY) return { clear: () => {}, stop: () => {} };
  const update = await redrawOn(process.stderr, true);
  const timer = setInterval(
    () => update(printable(text()).slice(0, Math.max(1, context.stderr.columns - 1))),
    DRAW_MS,
  );
  timer.unref();
  return {
    clear: () => update.clear(),
    stop: () => {
      clearInterval(timer);
      update.clear();
    },
  };
}

/** Show a live line during `work`. @param text formats the line from the last reported progress, which is 0 at first. */
export async function withLiveLine<T>(
  context: Context,
  text: (soFar: number) => string,
  work: (onProgress: (soFar: number) => void) => Promise<T>,
): Promise<T> {
  let soFar = 0;
  const line = await liveLine(context, () => text(soFar));
  try {
    return await work((now) => {
      soFar = now;
    });
  } finally {
    line.stop();
  }
}
