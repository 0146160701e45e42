/** A wall clock that a row sets, for real processes: the library of test/helpers/children, by the C compiler of this machine. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { tempDir } from './stage.mjs';

const source = fileURLToPath(new URL('../../../test/helpers/children/stepped-clock.c', import.meta.url));

/** @returns the environment of processes with this clock, and `set`: by so many seconds from the machine's. */
export async function steppedClock() {
  const dir = await tempDir('clock');
  const [library, file] = [path.join(dir, 'clock.so'), path.join(dir, 'seconds')];
  const { status, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, source]);
  if (status !== 0) throw new Error(`the clock does not compile, as by apt-get install gcc: ${stderr}`);
  const set = (seconds) => writeFileSync(file, String(seconds));
  set(0);
  return { env: { LD_PRELOAD: library, CLOCK_OFFSET_FILE: file }, set };
}
