/**
 * The real executable in a process of its own, as a user starts it: `bin/crawlnode.js` over the built dist/.
 *
 * A start costs most of a second of CPU time, so it is for what a process does: signals, kills, workers, several nodes,
 * standard output. Other commands, single crawls included, run in the process of the test (`cli/run-here.ts`).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBuildFresh } from '../../scripts/build-state.mjs';
import { disown, own, type Resource } from './resources.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The executable of this checkout. */
export const executable = path.join(root, 'bin', 'crawlnode.js');

/** Where and with what the executable runs. */
export interface CliOptions {
  readonly cwd?: string;
  /** Added to a clean environment, which has ROBOTSTXT_OBEY false; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** For stdin; it is closed at once when absent. */
  readonly input?: string | Buffer;
  /** Another executable than this checkout's, such as an installed one. */
  readonly executable?: string;
  /** After this many ms the process is killed and the call fails; default 120,000. */
  readonly timeoutMs?: number;
}

/** How a command ended. */
export interface CliResult {
  /** null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that is running. */
export interface RunningCli {
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  /** Send a signal to the process alone (default SIGTERM), as `kill PID` does. */
  kill(signal?: NodeJS.Signals): void;
  /** Send a signal to the whole process group, as Ctrl-C in a terminal (SIGINT) or a lost machine (SIGKILL) does. */
  killGroup(signal: NodeJS.Signals): void;
  /** Resolves when it has ended. @throws Error with its output when it does not within `timeoutMs` (it is killed then). */
  wait(timeoutMs?: number): Promise<CliResult>;
  /** Resolves when stdout and stderr together match. @throws Error with the output when it ends or time is up before. */
  waitForOutput(pattern: RegExp | string, timeoutMs?: number): Promise<void>;
}

/** Run a command to its end. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return startCli(args, options).wait(options.timeoutMs);
}

/** Looked up once, since a run of tests takes the build that was there when it began. */
let isFresh: boolean | undefined;

/** Start a command that goes on; it ends by itself, by a signal, else after the test file. */
export function startCli(args: readonly string[], options: CliOptions = {}): RunningCli {
  const file = options.executable ?? executable;
  isFresh ??= isBuildFresh();
  if (!isFresh)
    throw new Error('dist/ is older than src/, or not built: run "npm run build" ("npm test" does)');
  const child = spawn(process.execPath, [file, ...args], {
    cwd: options.cwd ?? root,
    env: cleanEnvironment(options.env),
    stdio: ['pipe', 'pipe', 'pipe'],
    // A process group of its own, so that its workers can be reached when it is gone itself.
    detached: true,
  });
  if (child.pid === undefined) throw new Error(`cannot start ${process.execPath}`);
  child.stdin.on('error', () => {}); // a command that does not read its input closes it
  child.stdin.end(options.input ?? '');
  return watchChild(child, child.pid, `crawlnode ${args.join(' ')}`);
}

/** Watch over a child that leads a process group of its own. */
export function watchChild(child: ChildProcess, pid: number, name: string): RunningCli {
  let stdout = '';
  let stderr = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const closed = once(child, 'close');
  const report = () => `${name}\n--- stdout\n${stdout}\n--- stderr\n${stderr}`;
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;

  const resource: Resource = {
    name,
    close: async () => {
      signalGroup(pid, 'SIGKILL');
      await closed;
      disown(resource);
    },
    abandon: () => signalGroup(pid, 'SIGKILL'),
  };
  own(resource);

  return {
    pid,
    stdout: () => stdout,
    stderr: () => stderr,
    kill: (signal = 'SIGTERM') => void child.kill(signal),
    killGroup: (signal) => signalGroup(pid, signal),
    wait: async (timeoutMs = 120_000) => {
      if (!(await within(closed, timeoutMs))) {
        await resource.close();
        throw new Error(`did not end within ${timeoutMs} ms: ${report()}`);
      }
      // Ended, but a worker of its group may not have: the leftover check will name it.
      if (!groupAlive(pid)) disown(resource);
      return { code: child.exitCode, signal: child.signalCode, stdout, stderr };
    },
    waitForOutput: async (pattern, timeoutMs = 60_000) => {
      const matches = () =>
        typeof pattern === 'string'
          ? stdout.includes(pattern) || stderr.includes(pattern)
          : pattern.test(stdout) || pattern.test(stderr);
      const deadline = Date.now() + timeoutMs;
      while (!matches()) {
        if (hasEnded() && (await within(closed, 1_000)) && !matches()) {
          throw new Error(
            `ended (${child.exitCode ?? child.signalCode}) without saying ${pattern}: ${report()}`,
          );
        }
        if (Date.now() > deadline)
          throw new Error(`did not say ${pattern} within ${timeoutMs} ms: ${report()}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
  };
}

/**
 * The environment of a user who has set nothing of crawlnode's, only what a process needs to run. But robots.txt is not asked
 * for, so that a site is asked for nothing but the pages of the test. Tests of robots.txt set ROBOTSTXT_OBEY themselves.
 */
export function cleanEnvironment(extra: CliOptions['env'] = {}): NodeJS.ProcessEnv {
  const kept = [
    'PATH',
    'HOME',
    'XDG_CACHE_HOME',
    'XDG_STATE_HOME',
    'TMPDIR',
    'TEMP',
    'TMP',
    'LANG',
    'LC_ALL',
    'TZ',
    'SystemRoot',
  ];
  const env: NodeJS.ProcessEnv = { ROBOTSTXT_OBEY: 'false' };
  for (const name of kept) if (process.env[name] !== undefined) env[name] = process.env[name];
  for (const [name, value] of Object.entries(extra)) {
    if (value === undefined) delete env[name];
    else env[name] = value;
  }
  return env;
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody of the group is left.
  }
}

function groupAlive(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Whether a promise settles in time; the timer does not hold the process open. */
async function within(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  const inTime = await Promise.race([promise.then(() => true as const), late]);
  clearTimeout(timer);
  return inTime;
}
