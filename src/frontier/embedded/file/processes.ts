/** What this machine knows of its processes: a node whose process is gone is dead at once, not after a timeout. */
import { readFileSync } from 'node:fs';

/**
 * When a process started, in the kernel's ticks since boot together with the boot: a pid that was given to another
 * process has another start. Null where the system does not tell (not Linux) or the process does not exist.
 */
export function processStart(pid: number): string | null {
  const stat = readOr('', () => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // The command stands in parentheses and may hold anything; the fields after it are fixed.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  const startTicks = fields[19];
  if (state === 'Z' || state === 'X' || startTicks === undefined) return null;
  return `${bootId()}/${startTicks}`;
}

/** Whether the process that had this start is gone for certain. */
export function isGone(pid: number, start: string | null): boolean {
  return start !== null && processStart(pid) !== start;
}

let knownBootId: string | undefined;

/** Random per boot of this machine; empty where the system does not tell. */
export function bootId(): string {
  knownBootId ??= readOr('', () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  return knownBootId;
}

/** What is read, or `otherwise` where that fails. */
export function readOr<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
