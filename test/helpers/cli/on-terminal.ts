/** The executable on a terminal of its own: a pseudo-terminal of `script` (util-linux), whose keys and size the test has in its hand. */
import { execFile, spawn } from 'node:child_process';
import { promisify, stripVTControlCharacters } from 'node:util';
import { cleanEnvironment, executable, type RunningCli, watchChild } from '../cli.js';

export interface OnTerminal extends RunningCli {
  /** Press keys. */
  type(keys: string): void;
  resize(columns: number, rows: number): Promise<void>;
  /** The lines that the screen shows now, without colours. */
  screen(): string[];
}

/** @returns a command on a terminal of 80 × 24; its output ends with `stty -a`, the state that it left the terminal in */
export function startOnTerminal(args: readonly string[], cwd: string): OnTerminal {
  const run = [process.execPath, executable, ...args].map((word) => `'${word}'`).join(' ');
  const script = `tty; stty rows 24 cols 80; ${run}; echo "exit code $?"; stty -a`;
  const child = spawn('script', ['-qec', script, '/dev/null'], {
    ...{ cwd, env: cleanEnvironment({ TERM: 'xterm-256color', SHELL: '/bin/sh' }), detached: true },
  });
  const running = watchChild(child, child.pid!, `crawlnode ${args.join(' ')} on a terminal`);
  return {
    ...running,
    type: (keys) => void child.stdin.write(keys),
    async resize(columns, rows) {
      const terminal = /\/dev\/\S+/.exec(running.stdout())?.[0] ?? '';
      await promisify(execFile)('stty', ['-F', terminal, 'rows', String(rows), 'cols', String(columns)]);
    },
    screen: () => {
      const frame = running.stdout().split('\x1b[H').at(-1)!.split('\x1b[J')[0]!;
      return stripVTControlCharacters(frame).split('\r\n');
    },
  };
}
