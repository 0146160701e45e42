/** After a test file nothing it started may be left: no child process, no listening socket, no temporary folder. */
import { readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import { tempPrefix } from './temp-dir.js';
import { waitFor } from './wait-for.js';

const ourFolders = () => readdirSync(os.tmpdir()).filter((name) => name.startsWith(tempPrefix));
/** Of a test process that was killed, long ago, and had the id that this one has now. */
const foundFolders = new Set(ourFolders());

/** A process as /proc shows it. */
export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/**
 * Wait a moment for everything to end, then fail naming what is left: children of this process, listening
 * sockets, temporary folders. Processes are looked for where there is a /proc.
 */
export async function expectNothingLeft(timeoutMs = 5_000): Promise<void> {
  let left: string[] = [];
  try {
    await waitFor(
      () => {
        left = leftovers();
        return left.length === 0;
      },
      { timeoutMs, what: 'nothing to be left' },
    );
  } catch {
    throw new Error(`left behind by this test file:\n  ${left.join('\n  ')}`);
  }
}

/** What is left of this test process, a sentence each. */
export function leftovers(): string[] {
  return [
    // esbuild's service, which tsx starts to load TypeScript, ends with its parent.
    ...descendants(process.pid)
      .filter((child) => !/esbuild/.test(child.command))
      .map((child) => `process ${child.pid}: ${child.command}`),
    ...process
      .getActiveResourcesInfo()
      .filter((kind) => kind === 'TCPServerWrap')
      .map(() => 'a listening socket'),
    ...ourFolders()
      .filter((name) => !foundFolders.has(name))
      .map((name) => `folder ${os.tmpdir()}/${name}`),
  ];
}

/** All living processes below `pid`; empty where there is no /proc. */
export function descendants(pid: number): ProcessInfo[] {
  const all = processes();
  const found: ProcessInfo[] = [];
  const parents = [pid];
  for (const parent of parents) {
    for (const candidate of all) {
      if (candidate.parent !== parent) continue;
      found.push(candidate);
      parents.push(candidate.pid);
    }
  }
  return found;
}

/** Living processes whose command line contains `text`, such as the path of a test's project. */
export function processesWith(text: string): ProcessInfo[] {
  return processes().filter((candidate) => candidate.command.includes(text));
}

function processes(): ProcessInfo[] {
  let names: string[];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    try {
      // "pid (name) state parent …": the name may hold spaces and parentheses.
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state === 'Z') return [];
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      return [{ pid: Number(name), parent: Number(parent), command }];
    } catch {
      return []; // ended while we looked
    }
  });
}
