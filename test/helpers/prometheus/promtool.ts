/** Prometheus and its promtool, Debian's package prometheus. Tests use them where they are on the PATH, and are skipped elsewhere. */
import { spawnSync } from 'node:child_process';
import { it } from 'vitest';

export const hasPrometheus = ['promtool', 'prometheus'].every(
  (command) => spawnSync(command, ['--version']).status === 0,
);

/** A test that needs them. */
export const withPrometheus = it.skipIf(!hasPrometheus);

/** Run promtool. @returns what it says, with its exit code when that is not 0 */
export function promtool(args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return `${stdout}${stderr}${status === 0 ? '' : `exit code ${status}`}`.trim();
}
