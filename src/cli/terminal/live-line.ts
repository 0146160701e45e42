/** Text on a terminal that is drawn again in its place, and a progress line made of it. */
import type { Context } from '../context.js';
import { printable, terminalText } from './printable.js';

const DRAW_MS = 200;

export interface LiveLine {
  /** Write other output above the line. */
  above(write: () => void): void;
  /** Take the line away. */
  stop(): void;
}

/** Draw `text()` at an interval until stopped; nothing while it is empty. In a pipe nothing is drawn. */
export async function liveLine(context: Context, text: () => string, drawMs = DRAW_MS): Promise<LiveLine> {
  if (!context.stderr.isTTY) return { above: (write) => write(), stop: () => {} };
  const update = await redrawOn(process.stderr, true);
  let isOver = false;
  const draw = () => {
    if (isOver) return;
    const line = printable(text()).slice(0, Math.max(1, context.stderr.columns - 1));
    if (line !== '') update(line);
  };
  const timer = setInterval(draw, drawMs);
  timer.unref();
  return {
    above: (write) => {
      update.clear();
      write();
      draw();
    },
    stop: () => {
      isOver = true;
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

export interface Redraw {
  /** Draw in place of what was drawn last. */
  (text: string): void;
  /** Take it away. */
  clear(): void;
}

/** @param stream a terminal @param showCursor while it is drawn */
export async function redrawOn(stream: NodeJS.WriteStream, showCursor = false): Promise<Redraw> {
  const { createLogUpdate } = await import('log-update');
  const update = createLogUpdate(stream, { showCursor });
  return Object.assign((text: string) => update(terminalText(text)), { clear: () => update.clear() });
}
