/** A wall clock that a test sets, for real processes: a small library that is compiled with the C compiler of this machine. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StoreClock } from '../../frontier-contract/world.js';
import { tempDir } from '../temp-dir.js';

const source = fileURLToPath(new URL('./stepped-clock.c', import.meta.url));

/** Without a C compiler, and on other systems, such tests are skipped. */
export const canStepClocks = process.platform === 'linux' && spawnSync('cc', ['--version']).status === 0;

export interface SteppedClock {
  /** The environment of processes with this clock. Their monotonic clock is that of the machine. */
  readonly env: Readonly<Record<string, string>>;
  /** Set it by so many seconds from the machine's. */
  set(seconds: number): void;
  /** The same clock for tests of a store whose server has it. */
  readonly ofStore: StoreClock;
  remove(): Promise<void>;
}

export function steppedClock(): SteppedClock {
  const folder = tempDir('clock');
  const [library, file] = [path.join(folder.dir, 'clock.so'), path.join(folder.dir, 'seconds')];
  const { status, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl'], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the clock does not compile: ${stderr}`);
  // Written over in place, at a fixed length: the processes have the file mapped.
  writeFileSync(file, '0'.padEnd(32));
  const set = (seconds: number) => writeFileSync(file, String(seconds).padEnd(32), { flag: 'r+' });
  let seconds = 0;
  const ofStore: StoreClock = {
    setForward(ms) {
      seconds += ms / 1000;
      set(seconds);
    },
    reset() {
      seconds = 0;
      set(seconds);
    },
  };
  const env = { LD_PRELOAD: library, CLOCK_OFFSET_FILE: file };
  return { env, set, ofStore, remove: () => folder.remove() };
}
