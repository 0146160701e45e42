/** One live line on a terminal that says how far something long is; nothing in a pipe. */
import type { Context } from '../context.js';
import { printable } from './printable.js';
import { redrawOn } from './redraw.js';

const DRAW_MS = 200;

export interface LiveLine {
  /** Take it away until it is drawn again, so that something can be written in its place. */
  clear(): void;
  stop(): void;
}

/** Draw `text()` again and again. */
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

/** Do some work, which tells how far it is. @param text the line, by what was told last; 0 at first. */
export async function withLiveLine<T>(
  context: Context,
  text: (soFar: number) => string,
  work: (tell: (soFar: number) => void) => Promise<T>,
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
