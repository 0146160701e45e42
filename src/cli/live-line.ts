/** One live line on a terminal that says how far something long is; nothing in a pipe. */
import type { Context } from './context.js';
import { printable } from './printable.js';

const DRAW_MS = 200;

/** Draw `text()` again and again. @returns how to remove the line. */
export async function liveLine(context: Context, text: () => string): Promise<() => void> {
  if (!context.stderr.isTTY) return () => {};
  const { createLogUpdate } = await import('log-update');
  const update = createLogUpdate(process.stderr, { showCursor: true });
  const timer = setInterval(
    () => update(printable(text()).slice(0, Math.max(1, context.stderr.columns - 1))),
    DRAW_MS,
  );
  timer.unref();
  return () => {
    clearInterval(timer);
    update.clear();
  };
}
