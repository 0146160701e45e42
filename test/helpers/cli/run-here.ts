/** A command line in this process, with streams of its own: for what needs no second process, and for terminals of any size. */
import { Readable } from 'node:stream';
import { processContext } from '../../../src/cli/context.js';
import { main } from '../../../src/cli/main.js';

/** Where the command runs. */
export interface RunHere {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Both streams are a terminal. */
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Run it to its end. */
export async function runHere(
  args: readonly string[],
  { cwd = process.cwd(), env = {}, isTTY = false, columns = 80 }: RunHere = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const written = { stdout: '', stderr: '' };
  const streamTo = (name: 'stdout' | 'stderr') => ({
    write: (text: string | Uint8Array) => {
      written[name] += typeof text === 'string' ? text : Buffer.from(text).toString();
    },
    ...{ isTTY, columns, rows: 24 },
  });
  const [stdout, stderr] = [streamTo('stdout'), streamTo('stderr')];
  const code = await main(args, (argv, globals) => ({
    ...{ argv, globals, cwd, stdout, stderr, stdin: Readable.from([]), crawl: null },
    env: { ROBOTSTXT_OBEY: 'false', ...env, ...(!globals.colour && { NO_COLOR: '1' }) },
    mask: processContext(argv, globals).mask,
  }));
  return { code, ...written };
}
