/** What this machine knows of its processes: a node whose process is gone is dead at once, not after a timeout. */
import { readFileSync } from 'node:fs';

/**
 * When a process started, in the kernel's ticks since boot together with the boot: a pid that was given to another
 * process has another start. Null where the system does not tell (not Linux) or the process does not exist.
 */
export function processStart(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command stands in parentheses and may hold anything; the fields after it are fixed.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const state = fields[0];
    const startTicks = fields[19];
    if (state === 'Z' || state === 'X' || startTicks === undefined) return null;
    return `${bootId()}/${startTicks}`;
  } catch {
    return null;
  }
}

/** Whether the process that had this start is gone for certain. */
export function isGone(pid: number, start: string | null): boolean {
  if (start !== null) return processStart(pid) !== start;
  return false;
}

let knownBootId: string | undefined;

/** Random per boot of this machine; empty where the system does not tell. */
export function bootId(): string {
  knownBootId ??= readOr('/proc/sys/kernel/random/boot_id', '');
  return knownBootId;
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return otherwise;
  }
}
