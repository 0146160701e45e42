/** A command line in this process, with streams of its own: for what needs no second process, and for terminals of any size. */
import { PassThrough } from 'node:stream';
import { outputOf, processContext } from '../../../src/cli/context.js';
import { main } from '../../../src/cli/main.js';

/** Where the command runs. */
export interface RunHere {
  readonly cwd?: string;
  /** Added to an environment that has ROBOTSTXT_OBEY false; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** For stdin, which is empty unless told. */
  readonly input?: string | Buffer;
  /** Both streams are a terminal. */
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Run it to its end. */
export async function runHere(
  args: readonly string[],
  { cwd = process.cwd(), env = {}, input = '', isTTY = false, columns = 80 }: RunHere = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const written = { stdout: '', stderr: '' };
  const streamTo = (name: 'stdout' | 'stderr') => {
    const write = (text: string | Uint8Array) => {
      written[name] += typeof text === 'string' ? text : Buffer.from(text).toString();
    };
    return outputOf({ write, isTTY, columns, rows: 24 } as unknown as NodeJS.WriteStream);
  };
  const [stdout, stderr] = [streamTo('stdout'), streamTo('stderr')];
  const stdin = new PassThrough();
  stdin.end(input);
  const { XDG_CACHE_HOME, XDG_STATE_HOME } = process.env; // those of global-setup.ts
  const code = await main(args, (argv, globals) => ({
    ...{ argv, globals, cwd, stdout, stderr, stdin, crawl: null, logFormat: 'auto', isLogged: false },
    env: {
      ROBOTSTXT_OBEY: 'false',
      XDG_CACHE_HOME,
      XDG_STATE_HOME,
      ...env,
      ...(!globals.colour && { NO_COLOR: '1' }),
    },
    mask: processContext(argv, globals).mask,
  }));
  return { code, ...written };
}
