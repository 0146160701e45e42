/** Text on a terminal that is drawn again in its place. */
import { terminalText } from './printable.js';

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
