/** A view that takes the whole terminal until it ends, and then leaves the terminal as it was. */
import { cut, type ScreenSize } from './fit-screen.js';
import { terminalText } from './printable.js';

const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';
const [HOME, CLEAR_LINE, CLEAR_BELOW] = ['\x1b[H', '\x1b[K', '\x1b[J'];
/** q, Q, and Ctrl-C, which is no signal while keys are read one by one. */
const ENDS = /[qQ\x03]/;

/**
 * Show `text` of the size of the screen, again at an interval and when the size changes, until `stop`, q or Ctrl-C.
 */
export async function showFullScreen(
  text: (screen: ScreenSize) => string,
  everyMs: number,
  stop: AbortSignal,
): Promise<void> {
  const { stdin, stdout } = process;
  const draw = () => {
    const { columns, rows } = stdout;
    const lines = terminalText(text({ columns, rows })).split('\n').slice(0, rows);
    stdout.write(
      `${HOME}${lines.map((line) => `${cut(line, columns)}${CLEAR_LINE}`).join('\r\n')}${CLEAR_BELOW}`,
    );
  };
  const restore = () => {
    stdout.write(LEAVE);
    if (stdin.isTTY) stdin.setRawMode(false);
  };
  stdout.write(ENTER);
  if (stdin.isTTY) stdin.setRawMode(true);
  // Whatever ends the process: the terminal is of use afterwards.
  process.once('exit', restore);
  stdout.on('resize', draw);
  const timer = setInterval(draw, everyMs);
  try {
    await new Promise<void>((resolve) => {
      stdin.on('data', (keys) => ENDS.test(String(keys)) && resolve());
      stop.addEventListener('abort', () => resolve(), { once: true });
      if (stop.aborted) resolve();
      draw();
    });
  } finally {
    clearInterval(timer);
    stdout.off('resize', draw);
    stdin.removeAllListeners('data').pause();
    process.off('exit', restore);
    restore();
  }
}
